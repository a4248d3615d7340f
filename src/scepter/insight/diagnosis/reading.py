"""The events of a diagnosis are read: the first ones, or those around what is asked about, wherever in the input it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.insight.diagnosis.excerpt import Excerpt, around
from scepter.kernel.static.background import Background
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.source import EventSource
from scepter.runtime.engine import LocalEngine
from scepter.runtime.local import Input, open_inputs
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.timeline import MAX_INSTANT

Seek: TypeAlias = Callable[[EventBatch, int, TermKey], int | None]
"""Where in a batch, whose first event has this number in the input, stands what is asked about."""

_Batches: TypeAlias = list[tuple[EventBatch, NDArray[np.bool_]]]


def read_excerpt(
    query: Query, streams: Mapping[str, EventSource], options: RunOptions, limit: int, seek: Seek | None = None
) -> Excerpt | None:
    """The first events of the streams, or those around what is sought; None where there is none at all."""
    engine, inputs = _opened(query, streams, options)
    total = sum(each.survey.events for each in inputs)
    found: Excerpt | None
    if seek is None or total <= limit:
        batches = [read for each in inputs for read in _first(each, limit)]
        until = min((each.complete for each in inputs), default=MAX_INSTANT)
        found = _excerpt(engine, batches, options, until, total)
        if found is not None and seek is not None:
            found = replace(found, at=_time(seek, batches, engine.key))
    else:
        found = _around(query, streams, options, limit, seek)
    return None if found is None else found.shortened(limit)


def _opened(query: Query, streams: Mapping[str, EventSource], options: RunOptions) -> tuple[LocalEngine, list[Input]]:
    engine = LocalEngine(query.lowered.program, options, Background())
    # this engine knows neither ontology nor background, and other queries than its own will be tried on the events
    return engine, open_inputs(query, streams, engine, options, lambda letter: None, prune=False)


def _excerpt(engine: LocalEngine, batches: _Batches, options: RunOptions, until: int, total: int) -> Excerpt | None:
    if engine.reading.kind is None or not batches:
        return None
    if options.start is not None:  # events before it are not seen (spec/00 §3)
        start = options.start.on(engine.reading.kind, "--start")
        batches = [(batch, wanted & (batch.end >= start)) for batch, wanted in batches]
    return Excerpt(engine.key, engine.reading.kind, tuple(engine.streams), tuple(batches), engine.reading, until, total)


def _first(source: Input, limit: int) -> Iterator[tuple[EventBatch, NDArray[np.bool_]]]:
    events = 0
    while events < limit and (read := source.read()) is not None:
        yield read
        events += read[0].events


def _time(seek: Seek, batches: _Batches, key: TermKey) -> int | None:
    first = 0
    for batch, _ in batches:
        place = seek(batch, first, key)
        if place is not None:
            return int(batch.end[place])
        first += batch.events
    return None


def _around(query: Query, streams: Mapping[str, EventSource], options: RunOptions, limit: int, seek: Seek) -> Excerpt | None:
    """Two readings: the first finds the time of what is sought, the second keeps the events around it."""
    engine, inputs = _opened(query, streams, options)
    at: int | None = None
    first = 0
    times = []
    for batch, wanted in _all(inputs):
        place = seek(batch, first, engine.key) if at is None else None
        at = int(batch.end[place]) if place is not None else at
        times.append(batch.end[wanted])
        first += batch.events
    ends = np.sort(np.concatenate([np.empty(0, np.int64), *times]))
    if not len(ends):
        return None
    since, until = around(ends, int(ends[0]) if at is None else at, limit)
    engine, inputs = _opened(query, streams, options)
    batches: _Batches = []
    numbers: list[int] = []
    first = 0
    for batch, wanted in _all(inputs):
        if bool((wanted & (batch.end >= since) & (batch.end <= until)).any()):
            batches.append((batch, wanted))
            numbers.append(first)
        first += batch.events
    found = _excerpt(engine, batches, options, until, len(ends))
    return None if found is None else replace(found, since=since, at=at, numbers=tuple(numbers))


def _all(inputs: list[Input]) -> Iterator[tuple[EventBatch, NDArray[np.bool_]]]:
    for each in inputs:
        while (read := each.read()) is not None:
            yield read
