"""Solutions on their way between workers."""

from __future__ import annotations

import numpy as np
import pytest

from buckets import Buckets, job_of, triples
from scepter.kernel.scan.graph_scan import Solved, Ticks
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.state.shipping import buckets_by_window, split, unpack_solved
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.runtime.queries import parse
from scepter.runtime.spark import batch as spark_batch

STREAM = "http://example/s"
BY_KEY = parse(
    """PREFIX : <http://example/>
SELECT ?s ?v ?w
WITHIN 10
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?s :p ?v }
  DEFINE GPM B ON S { ?s :q ?w GRAPH :db { ?s :owner ?o } }
}
""",
    "spaseq",
)
BACKGROUND: dict[str | None, str] = {"http://example/db": "@prefix : <http://example/> .\n:a :owner :ann .\n:b :owner :bob .\n"}


def test_rows_with_equal_keys_meet_and_no_row_is_lost_or_doubled() -> None:
    run = Buckets(job_of(BY_KEY, 5, background=BACKGROUND))
    subjects = [f":s{i % 13}" for i in range(60)]
    places: dict[str, set[int]] = {}
    rows = 0
    for i, subject in enumerate(subjects):
        for bucket, time, blob in run.solved(STREAM, i, i, triples(f"{subject} :p {i} .")):
            assert 0 <= bucket < 5 and time == i
            (table, none) = unpack_solved(blob, Texts())[0].tables
            assert not len(none)
            rows += len(table)
            places.setdefault(subject, set()).add(bucket)
    assert rows == 60
    assert all(len(found) == 1 for found in places.values())
    assert len(set.union(*places.values())) > 1


def test_texts_travel_with_the_solutions_and_only_those_needed() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    long = "x" * 1000
    ((_, _, blob),) = run.solved(STREAM, 1, 2, triples(f':a :p "kept", 5 ; :r "{long}" .'))
    assert b"kept" in blob and long.encode() not in blob
    texts = Texts()
    texts.append(['"something else that is there already"'])
    table = unpack_solved(blob, texts)[0].tables[0]
    assert table.start.tolist() == [1, 1] and table.time.tolist() == [2, 2]
    found = {str(texts.term(int(ref))) for ref in table.refs[:, 1]}
    assert found == {'"kept"', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'}
    assert {str(texts.term(int(ref))) for ref in table.names.ravel()} == {"<http://e/0>"}


def test_refs_into_the_background_stay() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, 1, 1, triples(":b :q 2 ."))
    solved, _, _ = unpack_solved(blob, run.reader.texts)
    refs = solved.tables[1].refs
    assert (refs >= FIXED).any()
    assert "<http://example/bob>" in {str(run.reader.texts.term(int(ref))) for ref in refs.ravel()}


def test_windows_before_the_origin_have_buckets_too() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, -25, -25, triples(":a :p 1 ."))
    solved, _, _ = unpack_solved(blob, Texts())
    (rows, none) = buckets_by_window(solved, 0, 10, 4)
    assert rows.tolist() == [(-3) % 4] and not len(none)


def test_nothing_goes_nowhere() -> None:
    run = Buckets(job_of(BY_KEY, 3, background=BACKGROUND))
    assert run.solved(STREAM, 1, 1, triples(":a :r 1 .")) == []


def test_ticks_go_where_they_are_wanted() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, 4, 4, triples(":a :p 1, 2 ."))
    texts = Texts()
    solved, _, _ = unpack_solved(blob, texts)
    rows = [np.zeros(len(table), np.uint64) for table in solved.tables]
    ((bucket, time, _),) = split(solved, rows, np.zeros(len(solved.ticks.times), np.uint64), texts)
    assert (bucket, time) == (0, 4)


def table_of(values: list[int]) -> Solutions:
    """A row for each value: its time, and the id of its only column."""
    times = np.array(values, np.int64)
    column = np.full((len(values), 1), -1, np.int64)
    return Solutions(
        times, times, np.zeros(len(values), np.int8), times[:, None], column, times[:, None].astype(np.uint64), column,
        np.full((len(values), 1), np.nan), np.zeros((len(values), 1), np.int8),
    )  # fmt: skip


def test_rows_of_many_buckets_in_one_table_part_in_their_order() -> None:
    places = np.array([3, 0, 3, NOWHERE, 65_537, 0, 3], np.uint64)
    for buckets in (places, np.where(places == 65_537, np.uint64(2), places)):  # more than fit sixteen bits, and fewer
        solved = Solved((table_of(list(range(1, 8))),), Ticks(np.empty(0, np.uint64), np.empty(0, np.int64)))
        found = {
            bucket: (time, unpack_solved(blob, Texts())[0].tables[0].time.tolist())
            for bucket, time, blob in split(solved, [buckets], None, Texts())
        }
        assert found == {0: (6, [2, 6]), 3: (7, [1, 3, 7]), int(buckets[4]): (5, [5])}


def test_a_table_that_scans_share_travels_once_and_others_apart() -> None:
    shared, other = table_of([1, 2]), table_of([5])
    zeros, one = np.zeros(2, np.uint64), np.zeros(1, np.uint64)
    solved = Solved((shared, other, shared), Ticks(np.empty(0, np.uint64), np.empty(0, np.int64)))
    ((_, _, blob),) = split(solved, [zeros, one, zeros], None, Texts(), {4: 9})
    arrived, reached, _ = unpack_solved(blob, Texts())
    assert [table.time.tolist() for table in arrived.tables] == [[1, 2], [5], [1, 2]]
    assert arrived.tables[0] is arrived.tables[2]
    assert reached == {4: 9}


def test_batches_are_packed_together_and_their_events_numbered_on() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    events = [
        GraphEvent(0, f"<http://e/{i}>", i, i, [("<http://example/a>", "<http://example/p>", f'"{i}"')]) for i in (5, 6, 7)
    ]
    batches = [events_to_batch([e], run.job.key, run.job.kind, run=run.run) for e in events]
    ((bucket, time, blob),) = run.reader.solve(batches, 40)
    assert (bucket, time) == (0, 7)
    table = unpack_solved(blob, texts := Texts())[0].tables[0]
    assert table.time.tolist() == [5, 6, 7]
    assert table.events.ravel().tolist() == [40, 41, 42]
    assert [str(texts.term(int(ref))) for ref in table.refs[:, 1]] == ['"5"', '"6"', '"7"']
    assert not list(run.reader.solve([], 43))


def test_groups_hold_every_batch_with_events_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))

    def batch(*times: int) -> EventBatch:
        events = [GraphEvent(0, None, t, t, [("<http://e/s>", "<http://e/p>", "<http://e/o>")]) for t in times]
        return events_to_batch(events, run.job.key, run.job.kind, run=run.run)

    given = [batch(1), batch(), batch(2, 3), batch(4), batch()]
    monkeypatch.setattr(spark_batch, "GROUP_BYTES", given[0].bytes + 1)
    groups = [[int(t) for part in group for t in part.end] for group in spark_batch._groups(given)]
    assert groups == [[1, 2, 3], [4]]
