"""Live events that are too far ahead of the clock: dead letters, before they move the watermark for everybody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime import refusals
from scepter.runtime.spark.jobs import Job


def present(
    job: Job, batches: Iterable[EventBatch], report: DeadLetterTaker, clock: Callable[[], float] = time.time
) -> Iterator[EventBatch]:
    """The events that are not too far ahead of the clock; the others are reported."""
    allowed = job.options.future_on(job.kind) if job.live else None
    if allowed is None:
        yield from batches
        return
    for batch in batches:
        last = int(clock() * 1_000_000) + allowed
        ahead = batch.end > last
        for event in np.flatnonzero(ahead).tolist():
            stream = job.streams[int(batch.stream[event])].value
            report(DeadLetter(stream, None, refusals.ahead(int(batch.end[event]), job.kind)))
        yield kept(batch, ~ahead) if ahead.any() else batch
