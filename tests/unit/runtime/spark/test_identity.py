"""Which changes of a query its state survives, and how a refusal names the others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from buckets import job_of
from scepter.cases.loader import load_case
from scepter.errors import Diagnostic, QueryError, render
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.identity import Identity, canonical
from scepter.runtime.spark.shares import staged_from
from scepter.timeline import TimeKind

CASES = sorted((Path(__file__).parents[4] / "cases").rglob("*.case.yaml"))
QUERY = """\
PREFIX : <http://e/>
SELECT ?x ?v
WITHIN 12 SLIDING
FROM STREAM S <http://e/s>
WHERE {
  SEQ (A; B)
  DEFINE GPM A ON S { ?x a :A }
  DEFINE GPM B ON S { ?x :v ?v }
}
"""


def identity(text: str = QUERY, options: RunOptions | None = None, kind: TimeKind = TimeKind.INTEGER) -> Identity:
    return Identity.of(parse(text, "spaseq").program, options or RunOptions(), kind, (IRI("http://e/s"),), text)


def refusal(before: Identity, now: Identity) -> Diagnostic | None:
    return now.refusal(before.written(), "state/")


def test_layout_comments_and_prefix_names_are_no_change() -> None:
    laid_out = QUERY.replace("\n", "   # a comment\n\n").replace("{ ?x", "{   ?x")
    renamed = QUERY.replace("PREFIX :", "PREFIX e:").replace(" :A", " e:A").replace(" :v", " e:v")
    for text in (laid_out, renamed):
        assert refusal(identity(), identity(text)) is None
        assert identity(text).key == identity().key, "the same ids for the same terms"


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}")
def test_the_layout_of_no_query_is_part_of_it(path: Path) -> None:
    case = load_case(path)
    try:
        found = canonical(parse(case.query, case.language).program)
    except QueryError as error:
        pytest.skip(f"the query is refused: {error.code}")
    spread = "# a comment\n" + case.query.replace("\n", "  # another\n\n  ")
    assert canonical(parse(spread, case.language).program) == found


def test_a_refusal_says_in_three_lines_what_differs() -> None:
    found = refusal(identity(), identity("# new\n" + QUERY.replace("12", "13")))
    assert found is not None
    assert render(found).splitlines() == [
        "error[other-query]: state/ holds the state of another query: line 4 is now `WITHIN 13 SLIDING`",
        "note: it was `WITHIN 12 SLIDING`",
        "help: go back to what it was, let --warm-up begin with the last of its history, or start anew with another folder",
    ]


@pytest.mark.parametrize(
    ("now", "message", "note"),
    [
        (QUERY.replace("{ ?x :v ?v }", "{ ?x :v ?v\n FILTER(?v > 3) }"), "line 8 is now `DEFINE GPM B", "it was `DEFINE GPM B"),
        (QUERY.replace("ON S { ?x a :A }", "ON S { ?x a :A .\n ?x a :C }"), "line 7 is now", "it was"),
        (QUERY.replace("http://e/>", "http://other/>"), "line 1 is now", "it was `PREFIX : <http://e/>`"),
    ],
)
def test_the_first_line_that_differs_is_named(now: str, message: str, note: str) -> None:
    found = refusal(identity(), identity(now))
    assert found is not None and message in found.message and note in found.notes[0]


@pytest.mark.parametrize(
    ("now", "message", "note"),
    [
        (identity(options=RunOptions.of(time_unit="s")), "--time-unit is s now", "it was ms"),
        (identity(options=RunOptions.of(start=4)), "--start is 4 now", "it was none"),
        (identity(kind=TimeKind.DATETIME), "the timestamps' kind is dateTime now", "it was integer"),
    ],
)
def test_so_are_options(now: Identity, message: str, note: str) -> None:
    found = refusal(identity(), now)
    assert found is not None and found.message.endswith(message) and found.notes == (note,)


def test_the_delay_and_the_limits_may_change() -> None:
    assert refusal(identity(), identity(options=RunOptions.of(max_delay=5, limits={"depth": 9}))) is None


def test_another_version_is_told_apart() -> None:
    kept = json.loads(identity().written())
    found = identity().refusal(json.dumps({**kept, "form": 99}).encode(), "state/")
    assert found is not None and found.code == "other-version" and "form 99" in found.message


def test_a_log_of_items_is_the_state_of_another_version() -> None:
    text = "PREFIX : <http://e/> EVENT A AS ClassA RETURN A AS RDF STREAM"
    now = Identity.of(parse(text, "obep").program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text)
    found = refusal(replace(now, plain=1, staged_from=None), now)
    assert found is not None and found.code == "other-version" and "form 1" in found.message


def test_what_was_in_one_bucket_is_the_state_of_another_version_where_stages_lie_one_behind_another() -> None:
    text = "PREFIX : <http://e/> ASK FROM STREAM S :s WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?y } }"
    program = parse(text, "spaseq").program
    now = Identity.of(program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text, staged_from=2)
    found = refusal(replace(now, plain=1, staged_from=None), now)
    assert found is not None and found.code == "other-version" and "form 1" in found.message


def test_a_run_in_few_buckets_goes_on_without_the_setting() -> None:
    """Stages that lie one behind another in 32 buckets are none in 4: the form is that of the number that the state has."""
    text = "PREFIX : <http://e/> ASK { ?a :p ?x . ?x :q ?y . ?y :r ?z }"
    program = parse(text, "ep-sparql").program
    job = job_of(parse(text, "ep-sparql"), live=True, given=("http://e/s",))
    least = staged_from(job.plan, job.streams)
    assert least is not None and least > 2

    def started(buckets: int, *, asked: bool) -> Identity:
        told = (program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text, buckets)
        return Identity.of(*told, asked=asked, staged_from=least)

    kept = started(least - 1, asked=True).written()
    now = started(32, asked=False)
    assert now.refusal(kept, "state/") is not None, "as a new run, in its own number"
    assert now.going_on(kept).refusal(kept, "state/") is None
