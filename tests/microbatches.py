"""A live run in micro-batches without Spark: what the processor does with Spark's state.

Spark's part is played here: it groups rows by place, keeps each place's state and timers, moves the watermark on after a
micro-batch, and wakes whoever waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from naive.comparison import comparable_graph
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, Triple, parse_term
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.queries import Query
from scepter.runtime.spark.batch import packed_rows
from scepter.runtime.spark.bucket import Bucket, patience, ticks_per_millisecond
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.tables import arrow_schema, match_table


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

    def clear(self) -> None:
        self.values = []


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
        self.places: dict[tuple[int, int], Place] = {}
        """By stateful part, one behind another, and by place."""
        self.watermark = 0
        self.run = ReadState(job.kind)
        self.number = 0
        self.rows: list[dict[str, Any]] = []
        self.late = 0
        self.letters: list[bytes] = []
        self.reported: list[DeadLetter] = []
        """What reading tasks had to say."""

    def batch(self, events: Sequence[GraphEvent]) -> None:
        given = events
        read = [events_to_batch(list(given), self.job.key, self.job.kind, run=self.run)]
        packed = packed_rows(self.job, read, self.number, self.reported.append)
        self.number += len(given)
        rows = [row for part in packed for row in part.to_pylist()]
        if not rows:  # all of them are older than what the run begins with
            return
        self._through([(row["place"], row["blob"], None) for row in rows])
        reached = max(r["time"] for r in rows) // ticks_per_millisecond(self.job) - patience(self.job)
        self.watermark = max(self.watermark, reached)
        self._through([])

    def _through(self, given: list[tuple[int, bytes | None, bytes | None]]) -> None:
        """A micro-batch: what comes for places, read or made, through one stateful part after the other, and who is woken."""
        for depth in range(self.job.depth):
            sent: list[tuple[int, bytes | None, bytes | None]] = []
            by_place: dict[int, list[tuple[bytes | None, bytes | None]]] = {}
            for place, blob, made in given:
                by_place.setdefault(place, []).append((blob, made))
            for place, parts in by_place.items():
                columns: dict[str, Any] = {"place": [place] * len(parts), "blob": [blob for blob, _ in parts]}
                if depth:
                    none, zero = [None] * len(parts), [0] * len(parts)
                    columns |= {"made": [made for _, made in parts], "rows": none}
                    columns |= {"matches": zero, "late": zero, "letters": none}
                frame = pd.DataFrame(columns)
                sent += self._collect(self._bucket(depth, place).given(place, [frame], self.watermark))
            for at, place in list(self.places):
                due = {timer for timer in self.places[at, place].timers if timer <= self.watermark}
                if due and at == depth:
                    self.places[at, place].timers -= due
                    sent += self._collect(self._bucket(depth, place).wake(place, self.watermark))
            given = sent
        assert not given

    def _bucket(self, depth: int, place: int) -> Bucket:
        at = self.places.setdefault((depth, place), Place())
        log = None if self.job.whole is None or depth else at.log
        return Bucket(self.job, self.schema, *cast("tuple[Any, ...]", (at, at.state, at.answered, log, depth)))

    def _collect(self, frames: Iterable[Any]) -> list[tuple[int, bytes | None, bytes | None]]:
        """Take what is found; what goes on to other places."""
        sent: list[tuple[int, bytes | None, bytes | None]] = []
        for frame in frames:
            for data in frame["rows"].dropna():
                self.rows += pa.ipc.open_stream(data).read_all().to_pylist()
            self.late += int(frame["late"].sum())
            self.letters.extend(frame["letters"].dropna().tolist())
            for place, blob, made in zip(frame["place"], frame["blob"], frame["made"], strict=True):
                sent += [(place, blob, made)] if blob is not None or made is not None else []
        return sent


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


def graph_event(job: Job, stream: str, start: int, end: int, triples: Iterable[tuple[object, object, object]]) -> GraphEvent:
    """An event as tasks take it."""
    return GraphEvent(job.streams.index(IRI(stream)), None, start, end, [(str(s), str(p), str(o)) for s, p, o in triples])


def engine_answers(job: Job, events: Sequence[GraphEvent], until: int, told: int | None = None) -> Sequence[Match]:
    """What the engine in this process knows for certain before some time; without what it had told before another one."""
    engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    engine.take(events_to_batch(list(events), job.key, job.kind, run=engine.reading))
    if told is None:
        return engine.advance(until - 1)
    before = [match for match in engine.advance(told - 1) if match.boolean]
    engine.commit()
    return [*before, *engine.advance(until - 1)]


def rows_of(matches: Sequence[Match], schema: pa.Schema) -> list[dict[str, Any]]:
    """Matches as the rows that a live run gives."""
    return [row for part in match_table(matches, schema) for row in part.to_pylist()]
