"""Result formats: what is written, and that it can be read back."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph
import pytest

from scepter.errors import OptionError
from scepter.io.replacing import replacing
from scepter.io.results import Shape, order, record, term_object
from scepter.io.table_pages import TABLE_PAGE
from scepter.io.writers import open_writer
from scepter.rdf.terms import IRI, LANG_STRING, TYPE, XSD, BlankNode, Literal, Term, Triple
from scepter.runtime.why import Why
from scepter.timeline import TimeKind, parse_datetime


@dataclass(frozen=True, slots=True)
class Found:
    """A match as the engines hand it over."""

    start: int
    end: int
    bindings: Mapping[str, Term] = field(default_factory=dict)
    kind: TimeKind = TimeKind.INTEGER
    query: int = 0
    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    graph: Sequence[Triple] | None = None
    boolean: bool | None = None
    occurrence: tuple[IRI, Term] | None = None
    why: Why | None = None


H1 = IRI("http://example/H1")
SIX = Literal("6", XSD + "integer")
NASTY = Literal('a "quoted", \\ back\r\nslash\tand ünïcode 🎉')
T0 = parse_datetime("2026-01-01T00:00:10Z")
EX = "http://example/"


def text(format: str, shape: Shape, *matches: Found, events: bool = False, prefixes: Mapping[str, str] | None = None) -> str:
    out = io.StringIO(newline="")
    writer = open_writer(format, out, shape, events=events, prefixes=prefixes)
    for match in matches:
        writer.write(match)
    writer.close()
    return out.getvalue()


def triple(s: str, p: str, o: Term) -> Triple:
    return Triple(IRI(EX + s), IRI(EX + p), o)


class TestJsonLines:
    def test_the_object_of_the_specification(self) -> None:
        line = text("jsonl", Shape(("h", "p")), Found(10, 20, {"p": SIX, "h": H1}))
        assert line == (
            '{"start": 10, "end": 20, "bindings": {"h": {"type": "uri", "value": "http://example/H1"}, '
            '"p": {"type": "literal", "value": "6", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}}\n'
        )

    def test_nothing_found_writes_nothing(self) -> None:
        assert text("jsonl", Shape(("h",))) == ""

    def test_an_unbound_variable_is_absent(self) -> None:
        assert json.loads(text("jsonl", Shape(("h", "p")), Found(1, 1, {"h": H1})))["bindings"].keys() == {"h"}

    def test_date_times_are_iso_utc_strings(self) -> None:
        found = json.loads(text("jsonl", Shape(), Found(T0, T0 + 500_000, kind=TimeKind.DATETIME)))
        assert (found["start"], found["end"]) == ("2026-01-01T00:00:10Z", "2026-01-01T00:00:10.5Z")

    def test_a_graph_is_sorted_in_n_triples_form_without_duplicates(self) -> None:
        graph = [triple("b", "p", SIX), triple("a", "p", NASTY), triple("b", "p", SIX)]
        found = json.loads(text("jsonl", Shape(graphs=True), Found(1, 2, graph=graph)))
        assert "bindings" not in found
        assert [row[0] for row in found["graph"]] == ["<http://example/a>", "<http://example/b>"]
        assert found["graph"][1][2] == '"6"^^<http://www.w3.org/2001/XMLSchema#integer>'

    def test_an_empty_graph_still_is_a_match(self) -> None:
        assert json.loads(text("jsonl", Shape(graphs=True), Found(1, 2, graph=[]))) == {"start": 1, "end": 2, "graph": []}

    def test_ask(self) -> None:
        found = json.loads(text("jsonl", Shape(booleans=True), Found(1, 2, boolean=True)))
        assert found == {"start": 1, "end": 2, "boolean": True}

    def test_events_only_when_asked_for(self) -> None:
        match = Found(1, 2, events={"A": ["e1"], "B": ["e2", "e3"]})
        assert "events" not in record(match)
        assert json.loads(text("jsonl", Shape(), match, events=True))["events"] == {"A": ["e1"], "B": ["e2", "e3"]}

    def test_any_text_stays_on_one_line(self) -> None:
        lines = text("jsonl", Shape(("x",)), Found(1, 1, {"x": NASTY})).splitlines()
        assert len(lines) == 1
        assert json.loads(lines[0])["bindings"]["x"]["value"] == NASTY.lexical

    def test_times_of_64_bits_survive(self) -> None:
        assert json.loads(text("jsonl", Shape(), Found(-(2**63) + 1, 2**63 - 1)))["end"] == 2**63 - 1


def test_term_objects() -> None:
    assert term_object(BlankNode("b")) == {"type": "bnode", "value": "b"}
    assert term_object(Literal("x")) == {"type": "literal", "value": "x"}
    assert term_object(Literal("x", LANG_STRING, "en")) == {"type": "literal", "value": "x", "xml:lang": "en"}


def test_order_is_end_then_start_then_bindings() -> None:
    a, b, c = Found(5, 6), Found(1, 9, {"x": H1}), Found(1, 9, {"x": IRI(EX + "H0")})
    assert sorted([b, c, a], key=order) == [a, c, b]


class TestCsv:
    def read(self, *args: Found, shape: Shape, events: bool = False) -> list[list[str]]:
        return list(csv.reader(io.StringIO(text("csv", shape, *args, events=events), newline="")))

    def test_start_and_end_come_first_and_lines_end_as_sparql_csv_wants(self) -> None:
        assert text("csv", Shape(("h", "p", "q")), Found(1, 2, {"h": H1, "p": SIX})) == (
            "start,end,h,p,q\r\n1,2,http://example/H1,6,\r\n"
        )

    def test_safe_cells_are_no_formulas(self) -> None:
        cells = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "-2.5", "+1E5", "a=b", ""]
        found = Found(-5, 2, {f"x{i}": Literal(cell) for i, cell in enumerate(cells)})
        shape = Shape(tuple(f"x{i}" for i in range(len(cells))))
        rows = list(csv.reader(io.StringIO(text("csv-safe", shape, found), newline="")))
        assert rows[1] == ["-5", "2", "'=1+1", "'+cmd", "'-2+3", "'@SUM(A1)", "'\tx", "-2.5", "+1E5", "a=b", ""]
        assert self.read(found, shape=shape)[1][2] == "=1+1"

    def test_the_header_comes_even_when_nothing_was_found(self) -> None:
        assert text("csv", Shape(("h",))) == "start,end,h\r\n"

    def test_any_text_is_read_back(self) -> None:
        assert self.read(Found(1, 2, {"x": NASTY}), shape=Shape(("x",)))[1][2] == NASTY.lexical

    def test_variables_named_like_our_columns_stay_apart(self) -> None:
        rows = self.read(Found(1, 2, {"start": SIX}), shape=Shape(("start", "x")))
        assert rows == [["start", "end", "?start", "x"], ["1", "2", "6", ""]]

    def test_graphs_of_one_interval_stay_apart(self) -> None:
        graphs = [Found(1, 2, graph=[triple("a", "p", SIX), triple("b", "p", SIX)]), Found(1, 2, graph=[])]
        rows = self.read(*graphs, shape=Shape(graphs=True))
        assert rows[0] == ["start", "end", "match", "subject", "predicate", "object"]
        assert [row[2:4] for row in rows[1:]] == [["1", EX + "a"], ["1", EX + "b"], ["2", ""]]

    def test_ask_and_events(self) -> None:
        rows = self.read(Found(1, 2, boolean=True, events={"A": ["e1"]}), shape=Shape(booleans=True), events=True)
        assert rows == [["start", "end", "boolean", "events"], ["1", "2", "true", '{"A": ["e1"]}']]

    def test_queries_of_several_kinds_share_one_header(self) -> None:
        found = [Found(1, 1, {"x": H1}), Found(2, 2, graph=[triple("a", "p", SIX)]), Found(3, 3, boolean=True)]
        rows = self.read(*found, shape=Shape(("x",), graphs=True, booleans=True))
        assert {len(row) for row in rows} == {8}


class TestTable:
    def test_well_known_names_are_short_without_a_prefix_of_the_query(self) -> None:
        day = Literal("P1D", XSD + "duration")
        shown = text("table", Shape(("d", "t")), Found(1, 1, {"d": day, "t": IRI(TYPE)}))
        assert '"P1D"^^xsd:duration' in shown
        assert "rdf:type" in shown

    def test_a_small_table(self) -> None:
        shown = text("table", Shape(("h", "p")), Found(10, 20, {"h": H1, "p": SIX}), prefixes={"": EX})
        assert "│    10 │  20 │ :H1 │ 6  │" in shown
        assert "?h" in shown

    def test_times_are_readable(self) -> None:
        shown = text("table", Shape(), Found(T0, T0, kind=TimeKind.DATETIME))
        assert "start (UTC)" in shown
        assert "2026-01-01 00:00:10 " in shown

    def test_nothing_is_cut_in_a_file(self) -> None:
        long = Literal("x" * 5_000)
        assert long.lexical in text("table", Shape(("x",)), Found(1, 1, {"x": long}))

    def test_square_brackets_are_no_markup(self) -> None:
        assert "[bold]" in text("table", Shape(("x",)), Found(1, 1, {"x": Literal("[bold]")}))

    def test_a_local_name_that_needs_escapes_is_written_in_full(self) -> None:
        shown = text("table", Shape(("x",)), Found(1, 1, {"x": IRI(EX + "a/b?c")}), prefixes={"": EX})
        assert "<http://example/a/b?c>" in shown

    def test_graphs_answers_and_events(self) -> None:
        shape = Shape(graphs=True, booleans=True)
        shown = text(
            "table",
            shape,
            Found(1, 2, graph=[triple("a", "p", SIX)]),
            Found(3, 3, boolean=True, events={"A": ["e1"]}),
            events=True,
        )
        assert "<http://example/a> <http://example/p> 6 ." in shown
        assert "true" in shown
        assert "A: e1" in shown

    def test_many_rows_come_in_pages(self) -> None:
        shown = text("table", Shape(("x",)), *[Found(n, n, {"x": H1}) for n in range(TABLE_PAGE + 1)])
        assert shown.count("?x") == 2
        assert shown.count("H1") == TABLE_PAGE + 1

    def test_nothing_found_prints_nothing(self) -> None:
        assert text("table", Shape(("x",))) == ""


class TestTrig:
    def quads(self, *matches: Found, shape: Shape) -> list[pyoxigraph.Quad]:
        written = text("trig", shape, *matches)
        return list(pyoxigraph.parse(written, format=pyoxigraph.RdfFormat.TRIG))

    def test_a_row_is_an_event_with_its_interval(self) -> None:
        found = {str(quad) for quad in self.quads(Found(10, 20, {"h": H1, "x": NASTY}), shape=Shape(("h", "x")))}
        match = "<urn:scepter:match:1>"
        assert f"{match} <urn:scepter:variable:h> <http://example/H1> {match}" in found
        assert f"{match} <http://www.w3.org/ns/prov#startedAtTime> " + str(Literal("10", XSD + "integer")) in found
        assert f"{match} <http://www.w3.org/ns/prov#endedAtTime> " + str(Literal("20", XSD + "integer")) in found
        assert f"{match} <urn:scepter:variable:x> {NASTY} {match}" in found

    def test_an_instant_has_one_time(self) -> None:
        found = [str(quad) for quad in self.quads(Found(T0, T0, kind=TimeKind.DATETIME), shape=Shape())]
        assert sum("prov#" in quad for quad in found) == 1
        assert any('"2026-01-01T00:00:10Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in quad for quad in found)

    def test_a_row_without_any_binding_still_is_an_event(self) -> None:
        assert len(self.quads(Found(1, 1), shape=Shape(("x",)))) == 2

    def test_a_graph_stands_as_it_is(self) -> None:
        found = self.quads(Found(-3, -3, graph=[triple("a", "p", BlankNode("x"))]), shape=Shape(graphs=True))
        assert sum("match:1" in str(quad.graph_name) for quad in found) == 1

    def test_an_empty_graph_is_no_event(self) -> None:
        assert self.quads(Found(1, 1, graph=[]), shape=Shape(graphs=True)) == []

    def test_events_are_refused(self) -> None:
        with pytest.raises(OptionError, match="--events cannot be shown in TriG"):
            open_writer("trig", io.StringIO(), Shape(), events=True)


def test_an_unknown_format_is_refused_with_a_suggestion() -> None:
    with pytest.raises(OptionError) as caught:
        open_writer("jsnol", io.StringIO(), Shape())
    assert "did you mean jsonl?" in str(caught.value)


class TestReplacing:
    def test_the_file_appears_at_the_end(self, tmp_path: Path) -> None:
        target = tmp_path / "out.jsonl"
        with replacing(target) as out:
            out.write("é\r\n")
            assert not target.exists()
        assert target.read_bytes() == "é\r\n".encode()
        assert list(tmp_path.iterdir()) == [target]

    @pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
    def test_a_failure_leaves_what_was_there(self, tmp_path: Path, failure: type[BaseException]) -> None:
        target = tmp_path / "out.jsonl"
        target.write_text("old")
        with pytest.raises(failure), replacing(target) as out:
            out.write("half")
            raise failure
        assert target.read_text() == "old"
        assert list(tmp_path.iterdir()) == [target]

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="is a folder"), replacing(tmp_path):
            pass

    def test_a_missing_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="cannot be written"), replacing(tmp_path / "none" / "out"):
            pass

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        real, link = tmp_path / "real", tmp_path / "link"
        real.write_text("old")
        link.symlink_to(real)
        with replacing(link) as out:
            out.write("new")
        assert link.is_symlink()
        assert real.read_text() == "new"

    def test_a_device_is_written_directly(self) -> None:
        with replacing(Path(os.devnull)) as out:
            out.write("x")
        assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


class TestWhy:
    """What a match rests on, where a run was asked to tell."""

    MATCH = Found(
        1,
        2,
        graph=[triple("x", "p", SIX)],
        why=Why(IRI(EX + "X"), IRI(EX + "c"), 1, 2, (triple("x", "p", SIX),), (f"<{EX}X> MATCH <{EX}A>",), (
            Why(IRI(EX + "A"), IRI(EX + "x"), 1, 1, (triple("x", "p", SIX),), (f"<{EX}A> EquivalentTo: <{EX}p> some Thing",)),
        )),
    )  # fmt: skip
    SHAPE = Shape(graphs=True, whys=True)

    def test_json(self) -> None:
        (line,) = text("jsonl", self.SHAPE, self.MATCH).splitlines()
        why = json.loads(line)["why"]
        assert why["event"] == EX + "X" and why["by"] == [f"<{EX}X> MATCH <{EX}A>"]
        assert [(part["event"], part["start"], part["end"]) for part in why["parts"]] == [(EX + "A", 1, 1)]
        assert why["parts"][0]["triples"] == [[f"<{EX}x>", f"<{EX}p>", str(SIX)]]

    def test_csv_holds_the_json(self) -> None:
        heading, row = csv.reader(io.StringIO(text("csv", self.SHAPE, self.MATCH)))
        assert heading[-1] == "why"
        assert json.loads(row[-1])["parts"][0]["event"] == EX + "A"

    def test_a_table_is_for_people(self) -> None:
        table = text("table", self.SHAPE, self.MATCH, prefixes={"": EX})
        shown = [line.split("│")[-2].rstrip() for line in table.splitlines() if line.startswith("│")]
        assert shown == [
            " :X(:c) at 1 to 2",
            "   by :X MATCH :A",
            "   :A(:x) at 1",
            "     by :A EquivalentTo: :p some Thing",
            "     :x :p 6 .",
        ]

    def test_trig_has_no_room_for_it(self) -> None:
        with pytest.raises(OptionError, match="--why cannot be shown in TriG"):
            text("trig", self.SHAPE)
