"""Which keys are hot: those of a sample with more than a part of a task's share."""

from __future__ import annotations

from pathlib import Path

from batches import at_time, quad
from buckets import job_of
from scepter.runtime.queries import parse
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.ranges import plan_ranges
from scepter.runtime.spark.sampling import chosen, counted_keys, sample_of
from scepter.runtime.spark.skew import hot_key_at, places_of

QUERY = parse(
    "PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> "
    "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
    "spaseq",
)


def job() -> Job:
    return job_of(QUERY, 4)


def test_a_key_with_half_of_the_rows_has_places_of_its_own() -> None:
    found = chosen(job(), [(0, 0, 100, 0, 5000), (0, 7, 50, 0, 5000), (0, 9, 6, 0, 5000), (0, 8, 7, 0, 5000)])
    (half, small) = found.hot[0]
    assert (half.key, half.first, half.places) == (7, 4, 8)  # a quarter of a task's quarter of the rows each
    assert (small.key, small.first, small.places) == (8, 12, 2)  # 9 has less than that
    assert half.length == 5000 // 32 and small.length == 5000 // 8
    assert places_of(found.shares[0], found.hot[0]) == 14
    assert hot_key_at(found.hot[0], 3) is None and hot_key_at(found.hot[0], 12) is small
    assert found.name != job().name


def test_a_history_shorter_than_its_slices_is_not_cut() -> None:
    assert not chosen(job(), [(0, 0, 100, 0, 40), (0, 7, 50, 0, 40)]).hot
    assert chosen(job(), [(0, 0, 100, 0, 60), (0, 7, 50, 0, 60)]).hot[0][0].length == 4 * 6
    assert not chosen(job(), []).hot


def test_rows_of_files_are_counted_by_key(tmp_path: Path) -> None:
    things = ["x", "x", "x", "y"] * 10
    lines = (at_time(f"e{t}", t) + quad(f"e{t}", f"<http://e/{x}>", "<http://e/a>", f'"{t}"') for t, x in enumerate(things))
    (tmp_path / "s.nq").write_text("".join(lines))
    (part,) = plan_ranges([tmp_path / "s.nq"])
    counted = sorted(counted_keys(job(), 0, sample_of(part)), key=lambda row: row[2])
    assert [(share, rows, first, last) for share, _, rows, first, last in counted] == [
        (0, 10, 0, 39), (0, 30, 0, 39), (0, 40, 0, 39)
    ]  # fmt: skip
    assert counted[-1][1] == 0
