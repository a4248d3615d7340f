"""With what a live run begins: events from a time on, and answers from a later one on (`warm_up` decides which)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scepter.rdf.batch import EventBatch, kept
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first times of a run; with neither, it reads and tells everything."""

    since: int = MIN_INSTANT
    """Events before it are not read."""
    told: int = MIN_INSTANT
    """What is certain when the watermark is here is not told."""


EVERYTHING: Final = Beginning()


def recent(job: Job, batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
    """The events that a run begins with, and all that come later."""
    for batch in batches:
        old = batch.end < job.beginning.since
        yield kept(batch, ~old) if old.any() else batch
