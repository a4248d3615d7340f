"""The runner: differences told, manifests, selections, reports."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

from scepter.cases.compare import SHOWN, Answer, difference
from scepter.cases.junit import junit
from scepter.cases.loader import load_case
from scepter.cases.model import Case
from scepter.cases.runner import CaseResult, Status, find_cases, run_case, run_cases
from scepter.cases.selection import selector
from scepter.errors import OptionError, QueryError, Source, Span, option_error, query_error
from scepter.rdf.terms import IRI, TYPE, XSD, BlankNode, Literal, Triple

EX = "http://example/"
A, B = IRI(EX + "a"), IRI(EX + "b")


def write(tmp_path: Path, expectation: str, name: str = "some", language: str = "spaseq") -> Path:
    path = tmp_path / f"{name}.case.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'name: {name}\nlanguage: {language}\nprefixes: {{"": "{EX}"}}\nquery: SELECT\n{expectation}\n', encoding="utf-8"
    )
    return path


def told(tmp_path: Path, expectation: str, *answers: Answer) -> str | None:
    return difference(load_case(write(tmp_path, expectation)), answers)


class TestRows:
    ROWS = 'expect:\n  - {start: 1, end: 2, x: ":a"}\n  - {start: 1, end: 2, x: ":a"}\n  - {start: 3, end: 3, v: "2.50"}\n'

    def answers(self) -> list[Answer]:
        return [Answer(3, 3, {"v": Literal("2.5", XSD + "decimal")}), Answer(1, 2, {"x": A}), Answer(1, 2, {"x": A})]

    def test_any_order_and_numbers_by_value(self, tmp_path: Path) -> None:
        assert told(tmp_path, self.ROWS, *self.answers()) is None

    def test_duplicates_count(self, tmp_path: Path) -> None:
        text = told(tmp_path, self.ROWS, *self.answers()[:2])
        assert text == "1 row missing\n           start  end  ?x\n  missing  1      2    :a"

    def test_missing_and_unexpected_stand_in_a_table(self, tmp_path: Path) -> None:
        text = told(tmp_path, self.ROWS, *self.answers()[1:], Answer(3, 3, {"v": Literal("2.5", XSD + "double"), "x": B}))
        assert text == (
            "1 row missing, 1 row unexpected\n"
            "              start  end  ?v                  ?x\n"
            '  missing     3      3    "2.5"^^xsd:decimal\n'
            '  unexpected  3      3    "2.5"^^xsd:double   :b'
        )

    def test_times_of_the_other_kind_are_another_row(self, tmp_path: Path) -> None:
        text = told(tmp_path, "expect: [{start: 1, end: 1}]", Answer("1970-01-01T00:00:00Z", 1))
        assert text is not None
        assert "1970" in text

    def test_blank_nodes_by_place(self, tmp_path: Path) -> None:
        row = 'expect: [{start: 1, end: 1, x: "_:p", y: "_:q", z: "_:p"}]'
        same = {"x": BlankNode("1"), "y": BlankNode("2"), "z": BlankNode("1")}
        assert told(tmp_path, row, Answer(1, 1, same)) is None
        assert told(tmp_path, row, Answer(1, 1, {**same, "z": BlankNode("2")})) is not None

    def test_a_flood_of_differences_is_cut(self, tmp_path: Path) -> None:
        text = told(tmp_path, "expect: []", *[Answer(n, n) for n in range(1_000)])
        assert text is not None
        assert text.startswith("1000 rows unexpected (the first of them below)")
        assert len(text.splitlines()) == SHOWN + 2

    def test_a_graph_is_no_row(self, tmp_path: Path) -> None:
        text = told(tmp_path, "expect: []", Answer(1, 1, graph=frozenset()))
        assert text == "rows were expected, and the query answers with a graph"


class TestGraphs:
    EXPECTED = 'expect-graphs: [{start: 1, end: 2, graph: ":a :b [ :b 3 ] ."}, {start: 1, end: 2, graph: "_:c a :b ."}]'

    def graph(self, node: IRI | BlankNode) -> frozenset[Triple]:
        return frozenset({Triple(A, B, node), Triple(node, B, Literal("03", XSD + "integer"))})

    def typed(self, node: IRI | BlankNode) -> frozenset[Triple]:
        return frozenset({Triple(node, IRI(TYPE), B)})

    def test_up_to_blank_nodes_and_generated_iris(self, tmp_path: Path) -> None:
        found = [Answer(1, 2, graph=self.typed(IRI("urn:made:up"))), Answer(1, 2, graph=self.graph(BlankNode("z")))]
        assert told(tmp_path, self.EXPECTED, *found) is None

    def test_a_known_iri_is_not_generated(self, tmp_path: Path) -> None:
        found = [Answer(1, 2, graph=self.typed(A)), Answer(1, 2, graph=self.graph(BlankNode("z")))]
        text = told(tmp_path, self.EXPECTED, *found)
        assert text is not None
        assert "1 graph missing, 1 graph unexpected" in text
        assert "      :a rdf:type :b ." in text

    def test_the_interval_counts(self, tmp_path: Path) -> None:
        found = [Answer(1, 3, graph=self.typed(BlankNode("q"))), Answer(1, 2, graph=self.graph(BlankNode("z")))]
        assert told(tmp_path, self.EXPECTED, *found) is not None

    def test_one_graph_twice_is_two(self, tmp_path: Path) -> None:
        found = [Answer(1, 2, graph=self.typed(BlankNode("q")))] * 2 + [Answer(1, 2, graph=self.graph(BlankNode("z")))]
        text = told(tmp_path, self.EXPECTED, *found)
        assert text is not None
        assert text.startswith("1 graph unexpected")

    def test_events_have_their_class(self, tmp_path: Path) -> None:
        expected = 'expect-events: [{start: 1, end: 2, event: ":b", assertions: "_:c a :b ."}]'
        found = self.typed(IRI("urn:made:up"))
        assert told(tmp_path, expected, Answer(1, 2, graph=found, event=B)) is None
        assert told(tmp_path, expected, Answer(1, 2, graph=found, event=A)) is not None
        assert told(tmp_path, expected, Answer(1, 2, graph=found)) is not None

    def test_rows_are_no_graphs(self, tmp_path: Path) -> None:
        assert told(tmp_path, self.EXPECTED, Answer(1, 2)) == "graphs were expected, and the query answers with rows"


class TestTruth:
    @pytest.mark.parametrize(
        ("expected", "found", "words"),
        [
            ("false", [], None),
            ("true", [Answer(1, 2, boolean=True)], None),
            ("{start: 1, end: 2}", [Answer(1, 2, boolean=True)], None),
            ("true", [], "true was expected, and the query never holds"),
            ("false", [Answer(1, 2, boolean=True)], "false was expected, and the query holds in 1..2"),
            ("{start: 1, end: 3}", [Answer(1, 2, boolean=True)], "first in 1..3, and does in 1..2"),
            ("{start: 1, end: 3}", [], "never holds"),
            ("true", [Answer(1, 2, boolean=True)] * 2, "answers once"),
            ("true", [Answer(1, 2)], "rows or graphs"),
        ],
    )
    def test_answers(self, tmp_path: Path, expected: str, found: list[Answer], words: str | None) -> None:
        text = told(tmp_path, f"expect-boolean: {expected}", *found)
        assert text is None if words is None else (text is not None and words in text)


def empty(case: Case) -> Sequence[Answer]:
    return []


def breaking(case: Case) -> Sequence[Answer]:
    raise ZeroDivisionError("the engine's own")


def unbound(case: Case) -> Sequence[Answer]:
    error = query_error("unbound-variable", "FILTER uses ?limit", Span(0, 6))
    error.source = Source("q", case.query)
    raise error


class TestErrors:
    def test_the_words_must_stand_in_the_message(self, tmp_path: Path) -> None:
        assert run_case(load_case(write(tmp_path, 'expect-error: "?limit"')), unbound) is None
        text = run_case(load_case(write(tmp_path, 'expect-error: "SELECT"')), unbound)
        assert text is not None, "the excerpt of the query holds the word, the message does not"
        assert "the message is another one" in text

    def test_an_error_nobody_expected_points_into_the_case(self, tmp_path: Path) -> None:
        text = run_case(load_case(write(tmp_path, "expect: []")), unbound)
        assert text is not None
        assert "some.case.yaml:4:8" in text

    def test_no_error_where_one_was_expected(self, tmp_path: Path) -> None:
        text = run_case(load_case(write(tmp_path, 'expect-error: "x"')), empty)
        assert text == "an error that says 'x' was expected, and the query ran, with 0 matches"

    def test_a_fault_of_the_engine_fails_the_case_alone(self, tmp_path: Path) -> None:
        text = run_case(load_case(write(tmp_path, 'expect-error: "engine"')), breaking)
        assert text is not None
        assert "ZeroDivisionError: the engine's own" in text


class TestRunning:
    def statuses(self, folder: Path, select: str | None = None) -> dict[str, Status]:
        return {result.name: result.status for result in run_cases(find_cases([folder]), {"local": empty}, select=select)}

    def test_each_file_once_in_order(self, tmp_path: Path) -> None:
        for name in ("b", "a", "sub/c"):
            write(tmp_path, "expect: []", name)
        (tmp_path / "other.yaml").write_text("x")
        found = find_cases([tmp_path, tmp_path / "a.case.yaml"])
        assert [path.name for path in found] == ["a.case.yaml", "b.case.yaml", "c.case.yaml"]

    def test_paths_that_lead_nowhere(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="there is no"):
            find_cases([tmp_path / "none"])
        with pytest.raises(OptionError, match=r"no \*\.case\.yaml"):
            find_cases([tmp_path])

    def test_a_broken_file_fails_and_the_rest_goes_on(self, tmp_path: Path) -> None:
        write(tmp_path, "expect: []", "good")
        (tmp_path / "bad.case.yaml").write_text("query: [")
        assert self.statuses(tmp_path) == {"bad.case.yaml": Status.FAILED, "good": Status.PASSED}

    def test_every_engine_must_pass(self, tmp_path: Path) -> None:
        write(tmp_path, "expect: []")
        (result,) = run_cases(find_cases([tmp_path]), {"spark": empty, "local": unbound})
        assert result.status is Status.FAILED
        assert result.detail.startswith("on the local engine: error[unbound-variable]")

    def test_a_selection(self, tmp_path: Path) -> None:
        write(tmp_path, "expect: []", "kleene-first")
        write(tmp_path, "expect: []", "kleene-prev")
        write(tmp_path, "expect: []", "other", language="obep")
        assert set(self.statuses(tmp_path, select="KLEENE and not prev")) == {"kleene-first"}
        assert set(self.statuses(tmp_path, select="obep or prev")) == {"kleene-prev", "other"}

    def test_the_time_comes_from_the_clock(self, tmp_path: Path) -> None:
        write(tmp_path, "expect: []")
        ticks = itertools.count(100.0, 2.5)
        (result,) = run_cases(find_cases([tmp_path]), {"local": empty}, clock=lambda: next(ticks))
        assert result.seconds == 2.5


class TestManifest:
    def run(self, tmp_path: Path, manifest: str) -> dict[str, CaseResult]:
        write(tmp_path, "expect: []", "spaseq/passes")
        write(tmp_path, "expect-boolean: true", "spaseq/fails")
        write(tmp_path, "expect-boolean: true", "obep/later", language="obep")
        (tmp_path / "not-yet.yaml").write_text(manifest)
        results = run_cases(find_cases([tmp_path / "spaseq", tmp_path / "obep"]), {"local": empty})
        return {result.name: result for result in results}

    def test_by_language_and_by_path(self, tmp_path: Path) -> None:
        results = self.run(tmp_path, "obep: comes later\nspaseq/fails.case.yaml: known\n")
        assert results["obep/later"].status is Status.SKIPPED
        assert results["obep/later"].detail == "comes later"
        assert results["spaseq/fails"].detail == "known"
        assert results["spaseq/passes"].status is Status.PASSED

    def test_a_listed_case_that_passes_is_an_error(self, tmp_path: Path) -> None:
        result = self.run(tmp_path, "spaseq: comes later\n")["spaseq/passes"]
        assert result.status is Status.FAILED
        assert "remove it from the manifest" in result.detail

    def test_a_nearer_manifest_wins(self, tmp_path: Path) -> None:
        write(tmp_path, "expect-boolean: true", "obep/later", language="obep")
        (tmp_path / "obep" / "not-yet.yaml").write_text("later.case.yaml: nearer\n")
        assert self.run(tmp_path, "obep: comes later\n")["obep/later"].detail == "nearer"

    @pytest.mark.parametrize(
        ("manifest", "code"),
        [
            ("nowhere.case.yaml: x\n", "manifest-unknown"),
            ('obep: ""\n', "manifest-no-reason"),
            ("obep:\n", "case-no-value"),
            ("- obep\n", "case-not-a-mapping"),
        ],
    )
    def test_mistakes(self, tmp_path: Path, manifest: str, code: str) -> None:
        with pytest.raises(QueryError) as caught:
            self.run(tmp_path, manifest)
        assert caught.value.code == code
        assert "not-yet.yaml:1:" in str(caught.value)

    def test_a_broken_case_is_not_excused(self, tmp_path: Path) -> None:
        (tmp_path / "bad.case.yaml").write_text("language: obep\nquery: [")
        results = self.run(tmp_path, "obep: comes later\n")
        assert results["obep/later"].status is Status.SKIPPED
        (tmp_path / "not-yet.yaml").write_text("bad.case.yaml: x\n")
        (broken,) = run_cases([tmp_path / "bad.case.yaml"], {"local": empty})
        assert broken.status is Status.FAILED


@pytest.mark.parametrize("expression", ["", "and", "a and", "(a", "a)", "not", "a b", "()", "or a"])
def test_a_selection_that_cannot_be_read(expression: str) -> None:
    with pytest.raises(OptionError, match="cannot be read"):
        selector(expression)


def test_selections_nest() -> None:
    test = selector("not (a or b) and not not c")
    assert test("xCx")
    assert not test("ca")
    assert not test("x")


def test_junit_holds_any_text() -> None:
    results = [
        CaseResult(Path("a.case.yaml"), "good & <well>", Status.PASSED, "", 0.5),
        CaseResult(Path("b.case.yaml"), "bad", Status.FAILED, "1 row missing\n\x00\x1b[31m ]]> é \ud800", 0.25),
        CaseResult(Path("c.case.yaml"), "later", Status.SKIPPED, 'not "yet"', 0.0),
    ]
    suite = ET.fromstring(junit(results).encode("utf-8"))[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped", "time")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
        "time": "0.750",
    }
    good, bad, later = suite
    assert good.get("name") == "good & <well>"
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message") == "1 row missing"
    assert "é" in (failure.text or "")
    skipped = later.find("skipped")
    assert skipped is not None
    assert skipped.get("message") == 'not "yet"'


def test_an_option_error_is_a_refusal_too(tmp_path: Path) -> None:
    def engine(case: Case) -> Sequence[Answer]:
        raise option_error("stream-missing", "nobody gave <http://example/s>")

    assert run_case(load_case(write(tmp_path, 'expect-error: "http://example/s"')), engine) is None
