"""`scepter compare`: rows of one side alone, the nearest of the other, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from scepter.cli.main import app

PRICES = """PREFIX : <http://example/>
PREFIX prov: <http://www.w3.org/ns/prov#>
:e1 { :ACME :price 100 } :e1 prov:generatedAtTime 1 .
:e2 { :Beta :price 60 } :e2 prov:generatedAtTime 3 .
:e3 { :ACME :price 65 } :e3 prov:generatedAtTime 8 .
:e5 { :ACME :price 60 } :e5 prov:generatedAtTime 10 .
"""
SPASEQ = """PREFIX : <http://example/>
SELECT ?company ?before ?after WITHIN 10 SLIDING FROM STREAM Prices <http://example/prices>
WHERE { SEQ (A : B) DEFINE GPM A ON Prices { ?company :price ?before }
  DEFINE GPM B ON Prices { ?company :price ?after FILTER (?after < 0.7 * ?before) } }
"""
EPSPARQL = """PREFIX : <http://example/>
SELECT ?company ?before ?after FROM STREAM <http://example/prices>
WHERE { { ?company :price ?before } SEQ { ?company :price ?after }
  FILTER (?after < 0.7 * ?before && getDURATION() <= 10) }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prices.trig").write_text(PRICES)
    (tmp_path / "a.spaseq").write_text(SPASEQ)
    (tmp_path / "b.epsparql").write_text(EPSPARQL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(*arguments: str, stream: str = "http://example/prices=prices.trig") -> Result:
    return CliRunner().invoke(app, ["compare", *arguments, "--stream", stream])


def test_one_question_in_two_languages(folder: Path) -> None:
    result = compared("a.spaseq", "b.epsparql")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "a.spaseq: 2 matches", "b.epsparql: 2 matches", "in both: 2", "only in a.spaseq: 0", "only in b.epsparql: 0",
    ]  # fmt: skip


def test_a_row_that_only_one_has_and_what_is_nearest(folder: Path) -> None:
    (folder / "b.epsparql").write_text(EPSPARQL.replace("<= 10", "<= 8"))
    result = compared("a.spaseq", "b.epsparql")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[2:] == [
        "in both: 1",
        "only in a.spaseq: 1",
        "  1 to 10, ?company = :ACME, ?before = 100, ?after = 60",
        "  the first: nearest in b.epsparql is 1 to 8, ?company = :ACME, ?before = 100, ?after = 65; "
        "it ends at 10, there at 8; ?after is 60, there 65",
        "only in b.epsparql: 0",
    ]


def test_a_name_that_only_one_query_knows_serves_both(folder: Path) -> None:
    result = compared("a.spaseq", "b.epsparql", stream="Prices=prices.trig")
    assert (result.exit_code, result.stderr) == (0, "")


def test_nothing_on_the_other_side(folder: Path) -> None:
    (folder / "b.epsparql").write_text(EPSPARQL.replace("0.7", "0.1"))
    assert "  the first: b.epsparql has no row at all" in compared("a.spaseq", "b.epsparql").stdout.splitlines()


def test_variables_of_one_side_are_left_out_and_named(folder: Path) -> None:
    (folder / "b.epsparql").write_text(EPSPARQL.replace("?before ?after FROM", "?before FROM"))
    result = compared("a.spaseq", "b.epsparql")
    assert result.exit_code == 0
    assert "not compared: ?after, which only a.spaseq has" in result.stdout


def test_as_often(folder: Path) -> None:
    """The same row twice on one side is a difference."""
    (folder / "a.spaseq").write_text(SPASEQ.replace("?company ?before ?after", "?company ?before"))
    (folder / "b.epsparql").write_text(
        EPSPARQL.replace("SELECT ?company ?before ?after", "SELECT DISTINCT ?company ?before").replace("<= 10", "<= 8")
    )
    (folder / "prices.trig").write_text(PRICES.replace("generatedAtTime 10", "generatedAtTime 8"))
    result = compared("a.spaseq", "b.epsparql")
    assert result.exit_code == 1
    assert "b.epsparql has it, but not as often" in result.stdout


def test_the_order_of_triples_and_the_labels_of_blank_nodes_are_no_difference(folder: Path) -> None:
    one, two = "_:fall :of ?company .", "_:fall :to ?after ."
    query = EPSPARQL.replace("SELECT ?company ?before ?after", "CONSTRUCT { %s }")
    (folder / "a.epsparql").write_text(query % f"{one} {two}")
    (folder / "b.epsparql").write_text(query % f"{two} {one}".replace("_:fall", "_:it"))
    result = compared("a.epsparql", "b.epsparql")
    assert result.exit_code == 0, result.output
    assert "in both: 2" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.spaseq"], "name a second query, or add --engine both"),
        (["a.spaseq", "b.epsparql", "--engine", "both"], "leave out --engine both"),
        (["a.spaseq", "none.spaseq"], "there is no query file none.spaseq"),
        (["a.spaseq", "b.epsparql", "--engine", "flink"], "--engine cannot be 'flink'"),
    ],
)
def test_what_cannot_be_compared(folder: Path, arguments: list[str], words: str) -> None:
    result = compared(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
