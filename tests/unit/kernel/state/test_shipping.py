"""Rows on their way between workers."""

from __future__ import annotations

import numpy as np
import pytest

from buckets import Buckets, job_of, triples
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Mappings, Rows, UInt64, lasting_rows
from scepter.kernel.scan.graph_scan import ticks_of
from scepter.kernel.state.shipping import Arrived, split_rows, unpack_rows
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import Texts
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
BY_WINDOW = parse(
    """PREFIX : <http://example/>
SELECT ?s ?t WITHIN 10 FROM STREAM S <http://example/s>
WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?s :p ?v } DEFINE GPM B ON S { ?t :p ?w } }
""",
    "spaseq",
)
BACKGROUND: dict[str | None, str] = {"http://example/db": "@prefix : <http://example/> .\n:a :owner :ann .\n:b :owner :bob .\n"}


def arrived(blob: bytes, texts: Texts | None = None) -> tuple[Arrived, Lineage]:
    lineage = Lineage()
    return unpack_rows(blob, Texts() if texts is None else texts, lineage), lineage


def split(parts: list[tuple[Rows, UInt64 | None]], buckets: int, every: bool = False) -> list[tuple[int, int, bytes]]:
    return list(split_rows(parts, buckets, Texts(), Lineage(), {4: 9}, 9, every=every))


def test_rows_with_equal_keys_meet_and_no_row_is_lost_or_doubled() -> None:
    run = Buckets(job_of(BY_KEY, 5, background=BACKGROUND))
    subjects = [f":s{i % 13}" for i in range(60)]
    places: dict[str, set[int]] = {}
    rows = 0
    for i, subject in enumerate(subjects):
        for bucket, time, blob in run.solved(STREAM, i, i, triples(f"{subject} :p {i} .")):
            assert 0 <= bucket < 5 and time == i
            (table, none) = arrived(blob)[0].exchanges
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
    found, lineage = arrived(blob, texts)
    table = found.exchanges[0]
    assert table.start.tolist() == [1, 1] and table.end.tolist() == [2, 2]
    values = {str(texts.term(int(ref))) for ref in table.refs[:, 1]}
    assert values == {'"kept"', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'}
    assert {str(texts.term(int(ref))) for ref in lineage.told(table.lineage)[2]} == {"<http://e/0>"}


def test_texts_of_the_background_travel_too() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, 1, 1, triples(":b :q 2 ."))
    found, _ = arrived(blob, texts := Texts())
    refs = found.exchanges[1].refs
    assert "<http://example/bob>" in {str(texts.term(int(ref))) for ref in refs.ravel()}


def test_windows_before_the_origin_have_buckets_too() -> None:
    run = Buckets(job_of(BY_WINDOW, 4))
    ((bucket, _, _),) = run.solved(STREAM, -25, -25, triples(":a :p 1 ."))
    assert bucket == (-3) % 4


def test_nothing_goes_nowhere() -> None:
    run = Buckets(job_of(BY_KEY, 3, background=BACKGROUND))
    assert run.solved(STREAM, 1, 1, triples(":a :r 1 .")) == []


def test_ticks_travel_as_rows_without_texts() -> None:
    ticks = ticks_of(np.array([7, 7, 8], np.uint64), np.array([1, 2, 2]))
    found = {bucket: arrived(blob)[0].exchanges[0] for bucket, _, blob in split([(ticks, ticks.ids[:, 0] % np.uint64(2))], 2)}
    assert {bucket: (rows.ids[:, 0].tolist(), rows.end.tolist()) for bucket, rows in found.items()} == {
        0: ([8], [2]), 1: ([7, 7], [1, 2]),
    }  # fmt: skip


def table_of(values: list[int]) -> Rows:
    """A row for each value: its time, and the id of its only column."""
    times = np.array(values, np.int64)
    ids, none = times[:, None].astype(np.uint64), np.full((len(values), 1), -1, np.int64)
    return lasting_rows(
        Mappings(ids, none, np.full((len(values), 1), np.nan), np.zeros((len(values), 1), np.int8)), times, times
    )


def test_rows_of_many_buckets_in_one_table_part_in_their_order() -> None:
    places = np.array([3, 0, 3, NOWHERE, 65_537, 0, 3], np.uint64)
    for buckets in (places, np.where(places == 65_537, np.uint64(2), places)):  # more than fit sixteen bits, and fewer
        found = {
            bucket: (time, arrived(blob)[0].exchanges[0].end.tolist())
            for bucket, time, blob in split([(table_of(list(range(1, 8))), buckets)], 1 << 20)
        }
        assert found == {0: (6, [2, 6]), 3: (7, [1, 3, 7]), int(buckets[4]): (5, [5])}


def test_rows_of_every_bucket_are_sent_to_each_and_who_gets_none_may_hear_of_time() -> None:
    rows, own = table_of([1, 2]), table_of([3])
    both = split([(rows, None), (own, np.ones(1, np.uint64))], 2)
    found = [(bucket, [part.end.tolist() for part in arrived(blob)[0].exchanges]) for bucket, _, blob in both]
    assert found == [(0, [[1, 2], []]), (1, [[1, 2], [3]])]
    assert [(bucket, time) for bucket, time, _ in split([(own, np.ones(1, np.uint64))], 3)] == [(1, 3)]
    told = split([(own, np.ones(1, np.uint64))], 3, every=True)
    assert [(bucket, time, len(arrived(blob)[0].exchanges)) for bucket, time, blob in told] == [(0, 9, 0), (1, 3, 1), (2, 9, 0)]


def test_a_table_that_scans_share_travels_once_and_others_apart() -> None:
    shared, other = table_of([1, 2]), table_of([5])
    zeros, one = np.zeros(2, np.uint64), np.zeros(1, np.uint64)
    ((_, _, blob),) = split([(shared, zeros), (other, one), (shared, zeros)], 1)
    found, _ = arrived(blob)
    assert [table.end.tolist() for table in found.exchanges] == [[1, 2], [5], [1, 2]]
    assert found.exchanges[0] is found.exchanges[2]
    assert found.reached == {4: 9}


def test_batches_are_packed_together_and_their_events_numbered_on() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    events = [
        GraphEvent(0, f"<http://e/{i}>", i, i, [("<http://example/a>", "<http://example/p>", f'"{i}"')]) for i in (5, 6, 7)
    ]
    batches = [events_to_batch([e], run.job.key, run.job.kind, run=run.run) for e in events]
    ((bucket, time, blob),) = run.reader.solve(batches, 40)
    assert (bucket, time) == (0, 7)
    found, lineage = arrived(blob, texts := Texts())
    table = found.exchanges[0]
    assert table.end.tolist() == [5, 6, 7]
    assert lineage.event(table.lineage).tolist() == [40, 41, 42]
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
