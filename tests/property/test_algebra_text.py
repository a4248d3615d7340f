"""Any node prints, and parses back to an equal one; any text parses or is refused with a place."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from property.algebra_strategies import nodes
from scepter.algebra.text import format_node, parse_node
from scepter.algebra.walk import WRITTEN_TYPES, Algebra, rewrite, walk
from scepter.errors import QueryError

PREFIXES = {"": "http://e/", "e-1": "http://e/#", "xsd": "http://e/other/"}


@given(nodes())
@settings(max_examples=80, deadline=None)
def test_print_then_parse_is_the_identity(node: Algebra) -> None:
    assert parse_node(format_node(node)) == node
    assert parse_node(format_node(node, PREFIXES)) == node
    assert parse_node(format_node(node), type(node)) == node


@pytest.mark.parametrize("kind", WRITTEN_TYPES, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_every_kind_of_node_prints_and_parses(kind: type[Algebra], data: st.DataObject) -> None:
    node = data.draw(nodes(kind, depth=2))
    assert parse_node(format_node(node)) == node


@given(st.text(alphabet='()?"<>_:;# \n\\abcdfginoprstuvw=+-*/0123456789.@^', max_size=60))
@example("(bgp (triple ?x ?y))")
@example('(scan "\\ud800" <a> (bgp))')
@example("(tumbling " + "9" * 5000 + "s)")
@settings(max_examples=300, deadline=None)
def test_any_text_parses_or_is_refused_with_a_place(text: str) -> None:
    try:
        parse_node(text)
    except QueryError as error:
        assert error.code == "algebra-text"
        assert error.line is not None


@given(nodes(), st.integers(0, 400), st.sampled_from(["", "(", ")", '"', "?", "x", "none", "0"]))
@settings(max_examples=80, deadline=None)
def test_a_damaged_text_is_refused_or_says_something_else(node: Algebra, at: int, insert: str) -> None:
    text = format_node(node)
    try:
        again = parse_node(text[:at] + insert + text[at + 1 :])
    except QueryError as error:
        assert error.line is not None
    else:
        assert parse_node(format_node(again)) == again


@given(nodes())
@settings(max_examples=60, deadline=None)
def test_walk_and_rewrite_agree_on_what_there_is(node: Algebra) -> None:
    seen: list[Algebra] = []

    def note(current: Algebra) -> Algebra:
        seen.append(current)
        return current

    assert rewrite(node, note) is node
    assert {id(n) for n in seen} == {id(n) for n in walk(node)}
