"""Diagnostics: places, the one rendering, and the exceptions that carry them."""

from __future__ import annotations

import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scepter
from scepter.errors import (
    ARGUMENTS,
    DataError,
    Diagnostic,
    OptionError,
    QueryError,
    ScepterError,
    Severity,
    Source,
    Span,
    a_type,
    in_python,
    nearest,
    option_error,
    query_error,
    render,
)

TEXT = "SELECT ?x\nWHERE { é😀 ?y\t?z }\n"


@pytest.mark.parametrize(
    ("offset", "place"),
    [(0, (1, 1)), (8, (1, 9)), (9, (1, 10)), (10, (2, 1)), (18, (2, 9)), (19, (2, 10)),
     (len(TEXT), (3, 1)), (999, (3, 1)), (-5, (1, 1))],
)  # fmt: skip
def test_positions_count_code_points_and_stay_inside_the_text(offset: int, place: tuple[int, int]) -> None:
    assert Source("q", TEXT).position(offset) == place


def test_lines() -> None:
    source = Source("q", "a\r\nb\n")
    assert [source.line(n) for n in (-1, 0, 1, 2, 3, 4)] == ["", "", "a", "b", "", ""]
    assert Source("q", "").position(0) == (1, 1)


@given(st.text(alphabet="ab\n\té", max_size=30), st.integers(-3, 40), st.integers(-3, 40))
def test_any_span_renders_with_its_caret_under_the_place(text: str, start: int, end: int) -> None:
    source = Source("q", text)
    shown = render(Diagnostic("c", "m", Span(start, end)), source).split("\n")
    line, column = source.position(start)
    assert shown[1] == f"  --> q:{line}:{column}"
    under = shown[3].split(" | ", 1)[1]
    before = source.line(line)[: column - 1].replace("\t", "    ")
    assert under.startswith(" " * len(before) + "^")
    assert set(under) <= {" ", "^"}


@pytest.mark.parametrize("at", [0, 1, 150, 50_000, 99_990, 99_999])
def test_of_a_very_long_line_what_stands_around_the_place_is_shown(at: int) -> None:
    text = "x" * at + "?" + "y" * (99_999 - at)
    shown = render(Diagnostic("c", "m", Span(at, at + 1)), Source("q", text)).split("\n")
    assert shown[1] == f"  --> q:1:{at + 1}"
    assert max(map(len, shown)) < 350
    assert shown[2][shown[3].index("^")] == "?"


def test_a_message_that_quotes_a_hundred_thousand_characters_is_abridged() -> None:
    long = "x" * 100_000
    shown = render(Diagnostic("c", f"{long} is no name", None, f"write {long}", (long,)))
    assert len(shown) < 15_000
    assert "is no name" in shown


def test_the_whole_rendering() -> None:
    source = Source("power.spaseq", "PREFIX : <u>\n" * 9 + "\tFILTER(?p > 3)\n")
    start = source.text.index("?p")
    diagnostic = Diagnostic(
        "unbound-variable", "FILTER uses ?p", Span(start, start + 2), "bind ?p in GPM A", ("GPM A binds ?h",)
    )
    assert render(diagnostic, source) == (
        "error[unbound-variable]: FILTER uses ?p\n"
        "  --> power.spaseq:10:9\n"
        " 10 |     FILTER(?p > 3)\n"
        "    |            ^^\n"
        "note: GPM A binds ?h\n"
        "help: bind ?p in GPM A"
    )


def test_a_tab_inside_the_span_is_as_wide_below_as_above() -> None:
    shown = render(Diagnostic("c", "m", Span(0, 3)), Source("q", "a\tb")).split("\n")
    assert shown[2] == " 1 | a    b"
    assert shown[3] == "   | ^^^^^^"


def test_a_span_over_several_lines_is_underlined_on_its_first() -> None:
    shown = render(Diagnostic("c", "m", Span(1, 7)), Source("q", "abc\r\ndef")).split("\n")
    assert shown[2:] == [" 1 | abc", "   |  ^^"]


def test_the_end_of_the_input_has_its_own_place() -> None:
    shown = render(Diagnostic("c", "m", Span(3, 3)), Source("q", "abc")).split("\n")
    assert shown[1:] == ["  --> q:1:4", " 1 | abc", "   |    ^"]


@pytest.mark.parametrize(("span", "source"), [(None, Source("q", "x")), (Span(0, 1), None), (None, None)])
def test_without_a_place_there_is_no_excerpt(span: Span | None, source: Source | None) -> None:
    error = ScepterError(Diagnostic("c", "m", span, severity=Severity.WARNING), source)
    assert str(error) == "warning[c]: m"
    assert (error.line, error.column) == (None, None)


def test_errors_know_their_code_and_place() -> None:
    error = QueryError(Diagnostic("syntax", "no", Span(3, 4)), Source("q", "a\nbc"))
    assert (error.code, error.line, error.column, error.args) == ("syntax", 2, 2, ("no",))
    assert isinstance(error, ScepterError)


def test_the_shorthands_fill_in_the_diagnostic() -> None:
    query = query_error("c", "m", Span(1, 2), help="h", notes=("n",))
    assert isinstance(query, QueryError)
    assert query.diagnostic == Diagnostic("c", "m", Span(1, 2), "h", ("n",))
    option = option_error("c", "m", help="h")
    assert isinstance(option, OptionError)
    assert option.diagnostic == Diagnostic("c", "m", None, "h")


@pytest.mark.parametrize("kind", [QueryError, OptionError, DataError])
def test_an_error_survives_the_way_between_processes(kind: type[ScepterError]) -> None:
    error = kind(Diagnostic("c", "m", Span(1, 2), "h", ("n",)), Source("q", "abc"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("recnet", ["recent", "naive"], "recent"),
        ("recent", ["recent"], "recent"),
        ("xyz", ["recent", "naive"], None),
        ("", ["recent"], None),
        ("a", [], None),
    ],
)
def test_a_name_is_suggested_only_when_it_is_close(name: str, known: list[str], found: str | None) -> None:
    assert nearest(name, known) == found


def test_whose_table_it_is_is_told() -> None:
    import pandas as pd
    import pyarrow as pa

    assert (a_type(pd.DataFrame()), a_type(pa.table({}))) == ("a DataFrame of pandas", "a Table of pyarrow")


def test_options_that_are_told_as_arguments_are_arguments() -> None:
    taken = [inspect.signature(each).parameters for each in (scepter.parse, scepter.run, scepter.run_local, scepter.Engine)]
    for option in ARGUMENTS:
        assert any(option.replace("-", "_") in each for each in taken), option
        assert in_python(f"leave out --{option}") == f"leave out {option.replace('-', '_')}"
    assert in_python("add --start-up, --mapping, --max-delay-s") == "add --start-up, --mapping, --max-delay-s"


def test_a_program_is_told_arguments_and_the_command_line_options() -> None:
    said = OptionError(Diagnostic("duration", "--max-delay: 'x' is no number", help="add --max-advance D, or --follow"))
    assert str(said).splitlines() == ["error[duration]: max_delay: 'x' is no number", "help: add max_advance=D, or --follow"]
    assert "--max-delay" in render(said.diagnostic)
