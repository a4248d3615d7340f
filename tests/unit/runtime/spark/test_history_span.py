"""How long history is: both ends of its files tell, wherever they can be cut."""

from __future__ import annotations

import gzip
from pathlib import Path

from batches import at_time, quad
from buckets import job_of
from scepter.runtime.queries import parse
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.ranges import plan_ranges
from scepter.runtime.spark.splits import with_span

SLICED = "SELECT ?x ?z WHERE { { ?x :p ?y } SEQ { ?v :q ?z } } FILTER(getDURATION() < 5)"
BY_KEY = "SELECT ?x ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } } FILTER(getDURATION() < 5)"


def job(text: str = SLICED, buckets: int = 8) -> Job:
    return job_of(parse(f"PREFIX : <http://e/> {text}", "ep-sparql"), buckets)


def written(path: Path, times: list[int]) -> Path:
    lines = (at_time(f"e{t}", t) + quad(f"e{t}", "<http://e/x>", "<http://e/p>", f'"{t}"') for t in times)
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def span_of(of: Job, *paths: Path) -> tuple[int, int] | None:
    return with_span(of, [(0, part) for part in plan_ranges(paths, parts=3, at_least=20_000)]).span


def test_both_ends_tell_but_for_a_single_event_that_is_far_away(tmp_path: Path) -> None:
    times = list(range(1_000, 4_000))
    found = span_of(job(), written(tmp_path / "b.nq", [*times[:1_500], 10**9, *times[1_500:], -(10**9)]))
    assert found is not None and 1_000 <= found[0] < 1_100 and 3_900 < found[1] < 4_000
    two = span_of(job(), written(tmp_path / "c.nq", [5_000]), written(tmp_path / "a.nq", [70]))
    assert two == (70, 5_000)


def test_what_cannot_be_cut_is_not_read_to_know_its_end(tmp_path: Path) -> None:
    assert span_of(job(), written(tmp_path / "a.nq.gz", [1, 2])) is None
    assert span_of(job(), written(tmp_path / "none.nq", [])) is None


def test_a_key_needs_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.nq", [1, 2])
    assert span_of(job(BY_KEY), path) is None
    assert span_of(job(buckets=1), path) is None


def test_a_short_history_has_as_many_tasks_as_horizons(tmp_path: Path) -> None:
    cut = with_span(job(), [(0, part) for part in plan_ranges([written(tmp_path / "a.nq", list(range(20)))])])
    assert cut.name != job().name
    (share,) = cut.shares
    assert share.slices is not None and 2 <= share.buckets == share.slices.places < 8
