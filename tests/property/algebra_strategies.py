"""Generated nodes of the algebra: any shape the types allow, sensible or not."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from typing import Any

from hypothesis import strategies as st

from scepter.algebra import patterns
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.query import Query, Unit
from scepter.algebra.walk import WRITTEN_TYPES
from scepter.rdf.terms import IRI, LANG_STRING, RDFS, STRING, XSD, BlankNode, Literal
from scepter.timeline import Duration

NAMES = st.sampled_from(["x", "y", "_:b0", "naïve", "a b", 'q"', "(", "#", "none", "true", "7", "left", "é\n", "?"]) | st.text(
    max_size=4
)
IRIS = st.builds(
    IRI, st.sampled_from(["http://e/p", "http://e/a b", "http://e/>", "http://e/#x", XSD + "integer", RDFS, "urn:x:1", ""])
)
SPELLINGS = st.sampled_from(["3", "-3", "03", "+.5", "1e7", "true", "TRUE", "1.", "٣", ""])
AMOUNTS = st.integers(-5, 10) | st.sampled_from([3_600_000_000, 1_500_000, 86_400_000_000 * 400])
LITERALS = st.one_of(
    st.builds(
        Literal, st.text(max_size=5), st.sampled_from([STRING, XSD + "integer", "http://e/t", LANG_STRING, "http://e/ü>"])
    ),
    st.builds(Literal, SPELLINGS, st.sampled_from([XSD + t for t in ("integer", "decimal", "double", "boolean")])),
    st.builds(Literal, st.text(max_size=5), st.just(LANG_STRING), st.sampled_from(["en", "de-at", "x-1"])),
)
OPERATORS = st.sampled_from(["<", "=", "!=", ">=", "+", "/", "odd", ""])
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    types.NoneType: st.none(),
    str: NAMES | OPERATORS,
    int: st.integers(-(10**20), 10**20),
    bool: st.booleans(),
    IRI: IRIS,
    BlankNode: st.builds(BlankNode, NAMES),
    Literal: LITERALS,
    Duration: st.builds(Duration, AMOUNTS, st.booleans()),
    Variable: st.builds(Variable, NAMES),
}
_HINTS = {kind: typing.get_type_hints(kind, localns={"Pattern": patterns.Pattern}) for kind in WRITTEN_TYPES}


def nodes(hint: Any = None, depth: int = 3) -> st.SearchStrategy[Any]:
    """Values of a type of the algebra (None: of any that has a text), nested to a depth."""
    if hint is None:
        return st.sampled_from(WRITTEN_TYPES).flatmap(lambda kind: _one(kind, depth))
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union else (hint,)
    if depth <= 0 and len(choices) > 1:
        choices = tuple(c for c in choices if c in LEAVES or c is Constant) or choices[:1]
    return st.sampled_from(choices).flatmap(lambda choice: _one(choice, depth))


def _one(hint: Any, depth: int) -> st.SearchStrategy[Any]:
    if hint in LEAVES:
        return LEAVES[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if typing.get_origin(hint) is tuple:
        *items, last = typing.get_args(hint)
        if items == [Unit]:
            return st.lists(nodes(Query, depth), max_size=3).map(tuple)  # units of other kinds have no text form
        if last is Ellipsis:
            return st.lists(nodes(items[0], depth), max_size=3).map(tuple)
        return st.tuples(*(nodes(item, depth) for item in (*items, last)))
    fields = {f.name: nodes(_HINTS[hint][f.name], depth - 1) for f in dataclasses.fields(hint) if f.name != "span"}
    return st.builds(hint, **fields)
