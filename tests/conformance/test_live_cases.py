"""Every golden case as live input, one event per micro-batch: what the processor does with Spark's state, without Spark.

Spark's part is played here: it groups rows by place, keeps each place's state and timers, moves the watermark on after a
micro-batch, and wakes whoever waits for it. Workers come and go: what they kept in memory is lost now and then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from buckets import job_of, triples
from naive.comparison import comparable_graph
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, Triple, parse_term
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.queries import Query, check_endless
from scepter.runtime.spark import whole
from scepter.runtime.spark.batch import packed_rows
from scepter.runtime.spark.bucket import Bucket, ticks_per_millisecond
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.tables import arrow_schema, match_table
from scepter.timeline import TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases").rglob("*.case.yaml"))
_BUCKETS = 4
FAR = tuple(triples(":far :away true ."))


@dataclass
class Value:
    """One value of Spark's state store."""

    value: tuple[Any, ...] | None = None

    def get(self) -> tuple[Any, ...] | None:
        return self.value

    def update(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def clear(self) -> None:
        self.value = None


@dataclass
class Values:
    """A list of Spark's state store."""

    values: list[tuple[Any, ...]] = field(default_factory=list)

    def get(self) -> Iterator[tuple[Any, ...]]:
        return iter(list(self.values))

    def appendValue(self, value: tuple[Any, ...]) -> None:
        self.values.append(value)

    def put(self, values: list[tuple[Any, ...]]) -> None:
        self.values = values


@dataclass
class Place:
    """The state and the timers of one key."""

    state: Value = field(default_factory=Value)
    answered: Value = field(default_factory=Value)
    log: Values = field(default_factory=Values)
    timers: set[int] = field(default_factory=set)

    def listTimers(self) -> list[int]:
        return list(self.timers)

    def deleteTimer(self, timer: int) -> None:
        self.timers.discard(timer)

    def registerTimer(self, timer: int) -> None:
        self.timers.add(timer)


class Micro:
    """A live run in micro-batches."""

    def __init__(self, query: Query, job: Job) -> None:
        self.job = job
        self.schema = arrow_schema(query.variables, query.constructs, query.asks, job.kind, query.occurrences, parts=False)
        self.places: dict[int, Place] = {}
        self.watermark = 0
        self.run = ReadState(job.kind)
        self.number = 0
        self.rows: list[dict[str, Any]] = []
        self.late = 0

    def batch(self, events: Iterable[tuple[str, TimelineEvent]]) -> None:
        given = graph_events(self.job, events)
        packed = packed_rows(self.job, [events_to_batch(given, self.job.key, self.job.kind, run=self.run)], self.number)
        self.number += len(given)
        rows = [row for part in packed for row in part.to_pylist()]
        blobs: dict[int, list[bytes]] = {}
        for row in rows:
            blobs.setdefault(row["query"] * self.job.buckets + row["bucket"], []).append(row["blob"])
        for place, of_place in blobs.items():
            self._collect(self._bucket(place).take(place, of_place, self.watermark))
        self.watermark = max(self.watermark, max(r["time"] for r in rows) // ticks_per_millisecond(self.job))
        for place in list(self.places):
            due = {timer for timer in self.places[place].timers if timer <= self.watermark}
            self.places[place].timers -= due
            if due:
                self._collect(self._bucket(place).wake(place, self.watermark))

    def _bucket(self, place: int) -> Bucket:
        at = self.places.setdefault(place, Place())
        log = None if self.job.divided else at.log
        return Bucket(self.job, self.schema, *cast("tuple[Any, ...]", (at, at.state, at.answered, log)))

    def _collect(self, frames: Iterable[Any]) -> None:
        for frame in frames:
            for data in frame["rows"].dropna():
                self.rows += pa.ipc.open_stream(data).read_all().to_pylist()
            self.late += int(frame["late"].sum())


def comparable(rows: Iterable[dict[str, Any]], before: object) -> Counter[object]:
    """Rows with an end before some time, apart from how blank nodes are called."""
    found: Counter[object] = Counter()
    for row in rows:
        if row["end"] < before:
            graph = row.pop("graph", None)
            if graph is not None:
                row["graph"] = comparable_graph(Triple(*(parse_term(triple[part]) for part in "spo")) for triple in graph)
            found[repr(sorted(row.items()))] += 1
    return found


def with_one_far_away(events: list[tuple[str, TimelineEvent]], kind: TimeKind) -> tuple[list[tuple[str, TimelineEvent]], int]:
    """The events in order of time, and an event in each stream after all others."""
    given = sorted(events, key=lambda pair: pair[1].end)
    far = given[-1][1].end + (1000 if kind is TimeKind.INTEGER else 60_000_000)
    far -= far % 1000  # Spark tells time in milliseconds
    streams = dict.fromkeys(stream for stream, _ in given)
    return [*given, *((stream, TimelineEvent("far", far, far, kind, FAR, 0)) for stream in streams)], far


def graph_events(job: Job, events: Iterable[tuple[str, TimelineEvent]]) -> list[GraphEvent]:
    return [
        GraphEvent(job.streams.index(IRI(iri)), None, e.start, e.end, [(str(s), str(p), str(o)) for s, p, o in e.triples])
        for iri, e in events
    ]


def engine_answers(job: Job, events: list[tuple[str, TimelineEvent]], until: int) -> Sequence[Match]:
    """What the engine in this process knows for certain before some time."""
    engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    engine.take(events_to_batch(graph_events(job, events), job.key, job.kind, run=engine.reading))
    return engine.advance(until - 1)


@pytest.mark.parametrize("size", [1, 3], ids=["one by one", "three by three"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}")
def test_live_gives_what_the_engine_gives(path: Path, size: int) -> None:
    case = load_case(path)
    try:
        query, options, streams = case_query(case)
        check_endless(query)
    except ScepterError:
        return  # the case is about an error, or about what only bounded input has
    events = [(iri, event) for iri, of_stream in streams.items() for event in of_stream]
    if not events:
        return
    kind = events[0][1].kind
    given, far = with_one_far_away(events, kind)
    job = job_of(query, _BUCKETS, background=case.background, options=options, kind=kind, live=True, ontology=case.ontology)
    wanted = engine_answers(job, given, far)
    live = Micro(query, job)
    for number, first in enumerate(range(0, len(given), size)):
        live.batch(given[first : first + size])
        if number % 3 == 2:
            whole._AT_HAND.clear()  # another worker takes over
    rows = (row for part in match_table(wanted, live.schema) for row in part.to_pylist())
    end = pa.array([far], live.schema.field("end").type)[0].as_py()
    assert comparable(live.rows, end) == comparable(rows, end)
    assert live.late == 0
