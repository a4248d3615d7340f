"""Tables of events as batches: the same as the events one by one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.nquads import ReadState
from scepter.rdf.scanner import term_text
from scepter.runtime.spark.frames import frame_batches
from scepter.timeline import TimeKind

TRIPLES = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
A = {"s": "<http://e/a>", "p": "<http://e/p>", "o": '"é, 1"@en'}
B = {"s": "_:b", "p": "<http://e/q>", "o": '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'}
KEY = TermKey.fixed()


def table(starts: list[Any], ends: list[Any], graphs: list[Any], names: list[str | None] | None = None) -> pa.RecordBatch:
    time = pa.int64() if all(t is None or isinstance(t, int) for t in starts) else pa.timestamp("us", "UTC")
    columns = {"start": pa.array(starts, time), "end": pa.array(ends, time), "graph": pa.array(graphs, TRIPLES)}
    if names is not None:
        columns["name"] = pa.array(names, pa.string())
    return pa.RecordBatch.from_pydict(columns)


def read(given: pa.RecordBatch, **options: Any) -> tuple[list[EventBatch], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    kind = TimeKind.INTEGER if pa.types.is_integer(given.schema.field("start").type) else TimeKind.DATETIME
    return list(frame_batches([given], 3, kind, KEY, ReadState(kind), letters.append, **options)), letters


def shown(batch: EventBatch) -> list[tuple[int, int, int, str | None, list[tuple[str, ...]]]]:
    def text(at: int) -> str:
        return term_text(batch.buffer, at)

    columns = (batch.subject_at, batch.predicate_at, batch.object_at)
    return [
        (
            int(batch.stream[e]), int(batch.start[e]), int(batch.end[e]),
            None if batch.name_at[e] < 0 else text(int(batch.name_at[e])),
            [tuple(text(at[r]) for at in columns) for r in range(batch.first[e], batch.first[e + 1])],
        )
        for e in range(batch.events)
    ]  # fmt: skip


@pytest.mark.parametrize("names", [None, ["http://e/1", None, "http://e/3"]])
@pytest.mark.parametrize("cut", [0, 1])
def test_a_table_gives_what_its_events_give(names: list[str | None] | None, cut: int) -> None:
    graphs = [[A, B], [B], [A]]
    given = table([1, 2, 5], [1, 4, 5], graphs, names).slice(cut)
    (batch,), letters = read(given)
    events = [
        GraphEvent(3, f"<{names[i]}>" if names and names[i] else None, s, e, [(t["s"], t["p"], t["o"]) for t in g])
        for i, (s, e, g) in enumerate(zip([1, 2, 5], [1, 4, 5], graphs, strict=True))
    ][cut:]
    expected = events_to_batch(events, KEY, TimeKind.INTEGER, run=ReadState(TimeKind.INTEGER))
    assert shown(batch) == shown(expected)
    assert batch.subject.tolist() == expected.subject.tolist()
    assert (
        batch.number[~(batch.number != batch.number)].tolist()
        == expected.number[~(expected.number != expected.number)].tolist()
    )
    assert letters == []


def test_what_is_broken_is_told_and_the_rest_is_read() -> None:
    null = {"s": None, "p": "<http://e/p>", "o": "<http://e/o>"}
    given = table([1, None, 3, 4, 5, 6, 7], [1, 2, 2, 4, 5, 6, 7], [[A], [A], [A], [], None, [A, null], [B]])
    (batch,), letters = read(given)
    assert batch.start.tolist() == [1, 7]
    assert [each.reason for each in letters] == [
        "an event without a time",
        "an event ends before it starts: 3 > 2",
        "an event without triples",
        "an event without triples",
        "a triple with a null term",
    ]


def test_a_malformed_term_is_told() -> None:
    (batch,), (told,) = read(table([1], [1], [[A, {"s": "nothing", "p": "<http://e/p>", "o": "<http://e/o>"}]]))
    assert batch.triples == 1
    assert "nothing" in told.text


def test_only_wanted_predicates_are_kept() -> None:
    (batch,), _ = read(table([1], [1], [[A, B]]), predicates=frozenset({term_id(KEY, "<http://e/q>")}))
    assert [triple[1] for triple in shown(batch)[0][4]] == ["<http://e/q>"]


def test_timestamps_count_microseconds() -> None:
    at = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    (batch,), _ = read(table([at], [at], [[A]]))
    assert (batch.kind, batch.start.tolist()) == (TimeKind.DATETIME, [1_000_000])


def test_nothing_gives_nothing() -> None:
    assert read(table([], [], [])) == ([], [])
