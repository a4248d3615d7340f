"""Solutions on their way between workers."""

from __future__ import annotations

import numpy as np

from buckets import Buckets, job_of, triples
from scepter.kernel.shipping import buckets_by_window, split, unpack_solved
from scepter.kernel.texts import FIXED, Texts
from scepter.runtime.queries import parse

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
    solved, _ = unpack_solved(blob, run.reader.texts)
    refs = solved.tables[1].refs
    assert (refs >= FIXED).any()
    assert "<http://example/bob>" in {str(run.reader.texts.term(int(ref))) for ref in refs.ravel()}


def test_windows_before_the_origin_have_buckets_too() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, -25, -25, triples(":a :p 1 ."))
    solved, _ = unpack_solved(blob, Texts())
    (rows, none) = buckets_by_window(solved, 0, 10, 4)
    assert rows.tolist() == [(-3) % 4] and not len(none)


def test_nothing_goes_nowhere() -> None:
    run = Buckets(job_of(BY_KEY, 3, background=BACKGROUND))
    assert run.solved(STREAM, 1, 1, triples(":a :r 1 .")) == []


def test_ticks_go_where_they_are_wanted() -> None:
    run = Buckets(job_of(BY_KEY, 1, background=BACKGROUND))
    ((_, _, blob),) = run.solved(STREAM, 4, 4, triples(":a :p 1, 2 ."))
    texts = Texts()
    solved, _ = unpack_solved(blob, texts)
    rows = [np.zeros(len(table), np.uint64) for table in solved.tables]
    ((bucket, time, _),) = split(solved, rows, np.zeros(len(solved.ticks.times), np.uint64), texts)
    assert (bucket, time) == (0, 4)
