"""What tasks tell of their work: the operators of `explain`, with the rows that one process counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import scepter
from batches import at_time, integer, quad
from buckets import job_of
from scepter.io.report.work import analysis_page
from scepter.io.sources import open_source
from scepter.physical.metrics import Metrics, Skew
from scepter.physical.nodes.nodes import nodes
from scepter.runtime.analysis import Analysis, analyze
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark import batch
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.measured import Told, ran
from scepter.runtime.spark.range_reading import read_range
from scepter.runtime.spark.ranges import plan_ranges
from scepter.runtime.spark.shares import Form

S = "http://example/s"
PREFIX = "PREFIX : <http://example/> "
QUERIES = {
    "sequence": parse(
        PREFIX + "SELECT ?c ?x ?y WITHIN 9 SLIDING FROM STREAM S :s WHERE { SEQ (A : B) DEFINE GPM A ON S { ?c :a ?x } "
        "DEFINE GPM B ON S { ?c :b ?y } }",
        "spaseq",
    ),
    "join": parse(
        PREFIX + "SELECT ?c ?x ?z WHERE { { ?c :a ?x } SEQ { ?c :b ?z FILTER (?z > 20) } FILTER (getDURATION() < 9) }",
        "ep-sparql",
    ),
    "group": parse(
        PREFIX + "SELECT ?c (SUM(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?c :a ?x } GROUP BY ?c", "sparkwave"
    ),
    "match": parse(
        PREFIX + "SELECT ?c ?x ?y FROM NAMED :s WIN [RANGE 20 STEP 1] AS :w EVENT ON :w { ?c :a ?x } AS A "
        "EVENT ON :w { ?c :b ?y } AS B WHERE { MATCH { A SEQ B } }",
        "rsep-ql",
    ),
    "events": parse(
        PREFIX + "EVENT Price AS a some Thing EVENT Fall MATCH Price AS A SEQ Price AS B WITHIN 5 ms "
        "IF { EVENT A { ?c :a ?p . } EVENT B { ?c :a ?q . } FILTER (?q > ?p) } RETURN Fall AS RDF STREAM",
        "obep",
    ),
}  # fmt: skip
FORMS = {"sequence": Form.SOLUTIONS, "join": Form.SOLUTIONS, "group": Form.ROWS, "match": Form.ROWS, "events": Form.EVENTS}


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """time   1     2     3     4 …: five companies in turn, each with :a or :b; in two files, each of which a task reads."""
    texts = [
        at_time(f"e{t}", t) + quad(f"e{t}", f"<http://example/c{t % 5}>", f"<http://example/{'ab'[t % 3 % 2]}>", integer(t))
        for t in range(1, 120)
    ]
    (tmp_path / "1.nq").write_text("".join(texts[:80]))
    (tmp_path / "2.nq").write_text("".join(texts[80:]))
    return tmp_path


def tasks(job: Job, path: Path) -> Iterator[Told]:
    """What reading tasks and buckets tell, without Spark between them."""
    reading = batch.Reading(Enclosed(job), lambda letter: None)
    packed = []
    for part in plan_ranges(sorted(path.iterdir()), parts=2, salt=0, format=""):
        read = read_range(part, job.key, 0, reading.report, kind=job.kind, predicates=job.predicates)
        packed += list(batch.packed_rows(job, read, part.salt))
    blobs = [rows.filter(rows.column("blob").is_valid()) for rows in packed]
    for found in batch._measure_buckets(reading, blobs):
        yield from (Told.read(told) for told in found.column("told").to_pylist())


def analysed(query: Query, path: Path, buckets: int) -> Analysis:
    job = replace(job_of(query, buckets, given=(S,)), measured=True)
    return Analysis(query, job.plan, ran(job, list(tasks(job, path))))


def read_operators(job: Job) -> set[int]:
    """The numbers of the operators that work where events are read."""
    numbers = {id(node): number for number, node in enumerate(nodes(job.plan.units[0].root))}
    below = [root for share in job.shares if share.stages is not None for root in share.stages.below]
    return {numbers[id(node)] for root in below for node in nodes(root)}


@pytest.mark.parametrize("buckets", [1, 4])
@pytest.mark.parametrize("name", ["sequence", "join", "group", "match"])
def test_rows_are_those_of_one_process(name: str, buckets: int, events: Path) -> None:
    query = QUERIES[name]
    there = analysed(query, events, buckets)
    here = analyze(query, {S: open_source(str(events / "*.nq"))})
    below = read_operators(job_of(query, buckets, given=(S,)))
    for number, (mine, wanted) in enumerate(zip(there.ran.work[0], here.ran.work[0], strict=True)):
        assert mine.cpu > 0
        # windows are reported to each bucket, and a group is cut at the times up to which it is asked
        if number in below or name in ("sequence", "join"):
            assert (mine.rows_in, mine.rows_out) == (wanted.rows_in, wanted.rows_out)
    assert there.ran.work[0][-1].rows_out == here.ran.work[0][-1].rows_out > 0
    assert sum(each.memory for each in there.ran.work[0]) > 0


@pytest.mark.parametrize("name", QUERIES)
def test_stages_tell_what_was_read_what_crossed_and_what_came(name: str, events: Path) -> None:
    query = QUERIES[name]
    job = job_of(query, 4, given=(S,))
    assert [share.form for share in job.shares] == [FORMS[name]]
    found = analysed(query, events, 4)
    reading, buckets = found.ran.stages
    assert (reading.name, reading.total.rows_in, reading.skew.places) == ("reading", 119, len(reading.tasks))
    assert buckets.name == "buckets of query 1"
    wanted = len(scepter.run_local(scepter.parse(query.text, query.language), {S: str(events / "*.nq")}))
    assert buckets.total.rows_out == wanted > 0
    if FORMS[name] is Form.SOLUTIONS:  # slices of history overlap, and what is in the overlap crosses twice
        assert buckets.total.rows_in == reading.total.rows_out
    assert buckets.total.cpu >= sum(task.work.cpu for task in buckets.tasks[:1]) > 0


def test_the_skew_is_that_of_the_fullest_place(events: Path) -> None:
    found = analysed(QUERIES["sequence"], events, 4)
    buckets = found.ran.stages[1]
    most = max(task.work.rows_in for task in buckets.tasks)
    assert buckets.skew.rows == pytest.approx(4 * most / 119, abs=0.001)
    (*scans, sequence) = found.ran.skews[0]
    assert sequence is not None and sequence.places == 4
    assert all(scan is not None and scan.places == len(found.ran.stages[0].tasks) for scan in scans)
    assert Skew.of(3, []).rows == 1.0


def test_text_json_and_page_tell_the_same(events: Path) -> None:
    found = analysed(QUERIES["sequence"], events, 4)
    told = json.loads(found.text("json"))
    assert [stage["name"] for stage in told["stages"]] == ["reading", "buckets of query 1"]
    assert {task["place"] for task in told["stages"][1]["tasks"]} <= set(range(4))
    assert Metrics(**told["units"][0]["operators"][2]["work"]) == found.ran.work[0][2]
    text, page = found.text(), analysis_page(found)
    assert "Run on Spark\n  reading" in text and "skew over 4 places: rows" in text and "one of Spark's workers" in text
    assert "buckets of query 1" in page and "<td>119</td>" in page


def test_nothing_is_told_unless_asked(events: Path) -> None:
    job = job_of(QUERIES["sequence"], 2, given=(S,))
    (part,) = plan_ranges([events / "1.nq"], parts=1, salt=0, format="")
    read = read_range(part, job.key, 0, lambda letter: None, kind=job.kind)
    assert [q for rows in batch.packed_rows(job, read, 0) for q in rows.column("query").to_pylist()] == [0, 0, -2]
