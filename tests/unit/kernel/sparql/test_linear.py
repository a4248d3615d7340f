"""Regular expressions that would take for ever elsewhere, and the same answers as before where they would not."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patience import PATIENCE
from scepter.kernel.sparql import linear
from scepter.kernel.sparql.builtins import FUNCTIONS, LONGEST
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Dataset
from scepter.kernel.sparql.linear import Regex
from scepter.kernel.sparql.regex import compile_regex
from scepter.rdf.terms import Literal
from scepter.rdf.values import ExpressionError


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(.*a){20}b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"])
def test_catastrophic_patterns_take_no_time(pattern: str) -> None:
    compiled = compile_regex(pattern)
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(compiled.found("a" * 50_000 + "!")), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert found == [False]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)(a+)\1b", "a" * 2_000),
        (r"(a*)\1(a*)b", "a" * 2_000),
        ("a?" * 25 + r"(a)\1b", "a" * 2_000),
        ("(aa|ab|a)" * 15 + r"\1b", "a" * 2_000),
        ("[ab]" * 20_000 + "c", "a" * 200_000),
        ("(" * 150 + "a*" + ")" * 150 + "b?a", "a" * 5_000_000),
    ],
)
def test_what_a_pattern_and_a_text_would_take_is_known_before(pattern: str, text: str) -> None:
    compiled = compile_regex(pattern)
    for work in (compiled.found, lambda text: compiled.replaced("", text, 10)):
        started = time.process_time()
        with suppress(ExpressionError):
            work(text)
        assert time.process_time() - started < 5


def test_many_matches_that_each_look_to_the_end_are_refused() -> None:
    with pytest.raises(ExpressionError, match="too many matches"):
        compile_regex("a.*b|a").replaced("", "a" * 200_000, 200_000)


def test_classes_subtracted_from_each_other_are_few() -> None:
    assert compile_regex("[a-z-[b-z-[c-z]]]").found("c")
    for pattern in ("[a-z-" * 3_000 + "]" * 3_000, "[a-z-[b]]" * 9):
        with pytest.raises(ExpressionError, match="more than 8 classes"):
            compile_regex(pattern)


def test_a_replacement_that_would_be_too_long_is_not_built() -> None:
    context = Context(graph=EMPTY_GRAPH, dataset=Dataset(EMPTY_GRAPH, {}))
    arguments = (Literal("a" * 1_000_000), Literal("a"), Literal("b" * 1_000_000))
    with pytest.raises(ExpressionError, match="16,000,000 characters"):
        FUNCTIONS["REPLACE"].call(arguments, context)


PIECES = [
    "a",
    "b",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "[ab]",
    "[^a]",
    "[a-c-[b]]",
    "\\p{L}",
    "\\.",
    "$",
    "^",
    "é",
    "\\i",
    "\\c",
    "\\D",
    "\\S",
    "\\W",
]
PATTERNS = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "{2}"])).map(lambda t: f"({t[0]}){t[1]}"),
    ),
    max_leaves=5,
)


@given(PATTERNS, st.text("abcé12 .\n_-", max_size=8), st.sampled_from(["", "i", "m", "s", "is"]))
def test_what_is_found_is_what_pythons_engine_finds(pattern: str, text: str, flags: str) -> None:
    compiled = compile_regex(pattern, flags)
    assert compiled._quick is not None
    assert compiled.found(text) == (compiled._slow.search(text) is not None)
    if compiled.found(""):  # REPLACE refuses these: after an empty match engines go on differently
        return
    spans = [match.span() for match in compiled._quick.finditer(text) if match.span()[0] < match.span()[1]]
    assert spans == [match.span() for match in compiled._slow.finditer(text) if match.span()[0] < match.span()[1]]


def test_back_references_work_within_bounds() -> None:
    assert compile_regex(r"(a|b)x\1").found("axa")
    assert not compile_regex(r"(a|b)x\1").found("axb")
    with pytest.raises(ExpressionError, match="too long"):
        compile_regex(r"(a)\1").found("x" * 50_000)
    with pytest.raises(ExpressionError, match="for ever"):
        compile_regex(r"((a+)+)\1")


def test_large_repetitions_stay_possible() -> None:
    assert compile_regex("^a{1500}$").found("a" * 1_500)
    assert not compile_regex("^a{1500}$").found("a" * 1_499)


def test_replacements() -> None:
    assert compile_regex("(a)(b)?").replaced(r"[\g<1>\g<2>\\]", "xaab", 99) == r"x[a\][ab\]"
    assert Regex("a", re.I).replaced("b", "AaÄ", 99) == "bbÄ"


def test_without_re2_patterns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "re2", None)
    assert Regex("a+b", 0).found("xaab")
    with pytest.raises(ExpressionError, match="for ever"):
        Regex("^(a+)+$", 0)


def test_strings_that_double_themselves_end() -> None:
    context = Context(graph=EMPTY_GRAPH, dataset=Dataset(EMPTY_GRAPH, {}))
    text = Literal("x" * 1_000)
    with pytest.raises(ExpressionError, match="characters"):
        for _ in range(60):
            found = FUNCTIONS["CONCAT"].call((text, text), context)
            assert isinstance(found, Literal)
            text = found
    assert len(text.lexical) <= LONGEST
