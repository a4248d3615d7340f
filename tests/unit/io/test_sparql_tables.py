"""The situations of W3C's csv-tsv tests: what `--format csv` and `tsv` write is what another engine writes, and reads back."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from typer.testing import CliRunner

from scepter.cli.main import app
from scepter.io.results import Shape
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term
from unit.io.test_results import EX, NASTY, Found, text

PREFIXES = "PREFIX : <http://example/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
SIMPLE = ':s1 :p1 :s2 . :s2 :p2 "foo" . :s3 :p3 "bar" . :s4 :p4 4 . :s5 :p5 5.5 . :s6 :p6 _:b .'
TYPED = (
    ':s1 :p 2.2 , 1 , "hello"@en , "He said \\"hi\\", and\\tleft" , "two\\nlines" , "a,b" , "" , true ,'
    ' "x"^^:own , "2013-01-01"^^xsd:date , :s2 .'
)
SITUATIONS = {
    "all terms": (SIMPLE, "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"),
    "no value": (SIMPLE, "SELECT ?s ?o ?q WHERE { ?s :p1 ?o OPTIONAL { ?s :p2 ?q } }"),
    "a value first": (SIMPLE, "SELECT ?q ?s WHERE { ?s :p2 ?o OPTIONAL { ?s :p1 ?q } }"),
    "literals of all kinds": (TYPED, "SELECT ?o WHERE { ?s :p ?o }"),
    "no rows": (SIMPLE, "SELECT ?s ?o WHERE { ?s :none ?o }"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(folder: Path, data: str, query: str, format: str) -> str:
    (folder / "q.epsparql").write_text(PREFIXES + query)
    stamped = f":e {{ {data} }} :e <http://www.w3.org/ns/prov#generatedAtTime> 7 ."
    (folder / "s.trig").write_text(PREFIXES + stamped)
    arguments = ["run", "q.epsparql", "--stream", "http://example/s=s.trig", "--format", format, "--output", "found"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return (folder / "found").read_bytes().decode("utf-8")


def expected(data: str, query: str, format: ox.QueryResultsFormat) -> str:
    store = ox.Store()
    store.load(PREFIXES + data, format=ox.RdfFormat.TURTLE)
    answer = store.query(PREFIXES + query)
    assert isinstance(answer, ox.QuerySolutions)
    written = answer.serialize(format=format)
    assert written is not None
    return written.decode()


def comparable(text: str) -> list[str]:
    """The lines, sorted: neither engine promises an order, and blank nodes have the names they like."""
    head, *lines = text.splitlines(keepends=True)
    return [head, *sorted("_:" if line.startswith("_:") else line for line in lines)]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_tsv_is_what_another_engine_writes(situation: str, folder: Path) -> None:
    data, query = SITUATIONS[situation]
    ours = printed(folder, data, query, "tsv")
    assert all(line.startswith(("?start\t?end\t", "7\t7\t")) for line in ours.splitlines())
    found = "".join(line.split("\t", 2)[2] for line in ours.splitlines(keepends=True))
    assert _names_away(comparable(found)) == _names_away(comparable(expected(data, query, ox.QueryResultsFormat.TSV)))


def _names_away(lines: list[str]) -> list[str]:
    return ["\t".join("_:" if cell.startswith("_:") else cell for cell in line.rstrip("\n").split("\t")) for line in lines]


@pytest.mark.parametrize("situation", ["no value", "a value first", "literals of all kinds", "no rows"])
def test_csv_is_what_another_engine_writes(situation: str, folder: Path) -> None:
    data, query = SITUATIONS[situation]
    ours = printed(folder, data, query, "csv").replace("start,end,", "").replace("7,7,", "")
    theirs = expected(data, query, ox.QueryResultsFormat.CSV)
    assert sorted(ours.split("\r\n")) == sorted(theirs.split("\r\n"))


@pytest.mark.parametrize(
    "term",
    [
        NASTY,
        Literal(""),
        Literal("1", XSD + "integer"),
        Literal("01", XSD + "integer"),
        Literal("1.", XSD + "decimal"),
        Literal("1.5", XSD + "decimal"),
        Literal("1", XSD + "double"),
        Literal("1e5", XSD + "double"),
        Literal("NaN", XSD + "double"),
        Literal("1", XSD + "boolean"),
        Literal("x", LANG_STRING, "en-gb"),
        Literal("-3", XSD + "byte"),
        IRI(EX + "a,b"),
        BlankNode("b1"),
    ],
)
def test_a_term_of_tsv_is_read_back(term: Term) -> None:
    written = text("tsv", Shape(("x", "y")), Found(1, 2, {"x": term}))
    solutions = ox.parse_query_results(written, format=ox.QueryResultsFormat.TSV)
    assert isinstance(solutions, ox.QuerySolutions)
    (row,) = solutions
    assert [str(row[name]) for name in ("start", "x")] == [f'"1"^^<{XSD}integer>', str(term)]
    assert row["y"] is None


def test_variables_named_like_our_columns_stay_apart() -> None:
    written = text("tsv", Shape(("start", "start_", "events")), Found(1, 2, {"start": IRI(EX + "x")}), events=True)
    assert written.splitlines()[0] == "?start__\t?end\t?start\t?start_\t?events\t?events_"


def test_times_graphs_and_booleans_have_their_cells() -> None:
    shape = Shape(("x",), graphs=True, booleans=True, queries=("first", 2))
    lines = text("tsv", shape, Found(1, 2, boolean=True), Found(3, 4, graph=[], query=1)).splitlines()
    assert lines[1:] == ['"first"\t1\t2\t\t\t\t\t\ttrue', '"2"\t3\t4\t\t2\t\t\t\t']
