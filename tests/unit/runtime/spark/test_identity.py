"""Which changes of a query its state survives, and how a refusal names the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scepter.cases.loader import load_case
from scepter.errors import Diagnostic, QueryError, render
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.identity import Identity, canonical
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


@pytest.mark.parametrize("form", [1, 2, 3, 4, 99])
def test_another_version_is_told_apart(form: int) -> None:
    """Forms up to 4 had buckets under other keys: whatever they hold would not be found."""
    kept = json.loads(identity().written())
    found = identity().refusal(json.dumps({**kept, "form": form}).encode(), "state/")
    assert found is not None and found.code == "other-version" and f"form {form}" in found.message


def test_a_run_in_few_buckets_goes_on_without_the_setting() -> None:
    """Whatever lies in stages in 32 buckets and in one bucket in 4."""
    text = "PREFIX : <http://e/> ASK { ?a :p ?x . ?x :q ?y . ?y :r ?z }"
    told = (parse(text, "ep-sparql").program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text)
    kept = Identity.of(*told, 2, asked=True).written()
    assert Identity.of(*told, 32, asked=False).going_on(kept).refusal(kept, "state/") is None
