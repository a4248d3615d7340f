"""How each node type is written as an S-expression, derived from its dataclass."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

from scepter.algebra import patterns
from scepter.algebra.expressions import Arithmetic, Compare, Expression, Variable
from scepter.algebra.patterns import Path, PathPattern, Pattern, TriplePattern
from scepter.algebra.query import Atom, Query, Result, Unit, Window
from scepter.algebra.walk import WRITTEN_TYPES
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Duration

OPERATORS: Mapping[str, type[Any]] = {
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">="), Compare),
    **dict.fromkeys("+-*/", Arithmetic),
}
"""Tags that stand for a node and its operator: `(< a b)` is `(compare "<" a b)`."""

_TAGS = {TriplePattern: "triple", PathPattern: "path"}
_GROUPS = {
    "an expression": Expression,
    "a graph pattern": Pattern,
    "a property path": Path,
    "an atom of a sequence": Atom,
    "a result": Result,
    "a window": Window,
    "a variable or a term": patterns.Node,
    "a term": Term,
}
_GROUP_WORDS = {frozenset(typing.get_args(alias)): words for words, alias in _GROUPS.items()}
_WORDS: Mapping[Any, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    IRI: "an IRI",
    Variable: "a variable",
    Duration: "a duration such as 30s or 100 units",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field, its resolved type, and its default (MISSING if it has none)."""

    name: str
    hint: Any
    default: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """How one node type is written."""

    kind: type[Any]
    tag: str
    flags: tuple[Field, ...]
    fields: tuple[Field, ...]
    rest: Field | None
    keywords: Mapping[str, Field]

    @property
    def chains(self) -> bool:
        """Whether `(op a b c)` may stand for `(op (op a b) c)`."""
        return [f.name for f in self.fields] == ["left", "right"] and self.rest is None and not self.keywords


def form_of(kind: type[Any]) -> Form:
    """The form of a node type."""
    return _forms()[kind]


@cache
def _forms() -> Mapping[type[Any], Form]:
    return {kind: _derive(kind) for kind in WRITTEN_TYPES}


def _derive(kind: type[Any]) -> Form:
    hints = typing.get_type_hints(kind, localns={"Pattern": patterns.Pattern})
    # of a program's units only sequences have a text
    hints = {name: tuple[Query, ...] if hint == tuple[Unit, ...] else hint for name, hint in hints.items()}
    fields = [Field(f.name, hints[f.name], f.default) for f in dataclasses.fields(kind) if f.name != "span"]
    required = [f for f in fields if f.default is dataclasses.MISSING]
    flags = tuple(f for f in fields if f not in required and (f.default is False or enum_of(f.hint)))
    rest = required.pop() if required and is_repeated(required[-1].hint) else None
    keywords = {f.name: f for f in fields if f not in (*required, *flags, rest)}
    if clash := keywords.keys() & tags().keys():
        raise TypeError(f"{kind.__name__}: a field with a default is named like a node: {clash}")
    return Form(kind, tag_of(kind), flags, tuple(required), rest, keywords)


def tag_of(kind: type[Any]) -> str:
    """The word a node's list begins with.

    >>> tag_of(PathPattern), tag_of(patterns.ZeroOrMore), tag_of(patterns.BGP)
    ('path', 'zero-or-more', 'bgp')
    """
    return _TAGS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()


@cache
def tags() -> Mapping[str, type[Any]]:
    """The node types by their tags."""
    return {tag_of(kind): kind for kind in WRITTEN_TYPES}


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union; of any other type, itself."""
    return typing.get_args(hint) if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union else (hint,)


def is_repeated(hint: Any) -> bool:
    """Whether a type is `tuple[x, ...]`."""
    return typing.get_origin(hint) is tuple and typing.get_args(hint)[1:] == (Ellipsis,)


def enum_of(hint: Any) -> type[Enum] | None:
    """The enumeration among the alternatives of a type."""
    return next((a for a in alternatives(hint) if isinstance(a, type) and issubclass(a, Enum)), None)


def describe(hint: Any) -> str:
    """What may stand in a place, in words.

    >>> describe(Expression), describe(Expression | None), describe(tuple[Variable, ...])
    ('an expression', 'an expression or none', 'a list of a variable')
    """
    if typing.get_origin(hint) is tuple:
        items = [describe(a) for a in typing.get_args(hint) if a is not Ellipsis]
        return f"a list of {' and '.join(items)}"
    choices = [a for a in alternatives(hint) if a is not types.NoneType]
    if frozenset(choices) >= frozenset(WRITTEN_TYPES):
        return "a node"
    words = _GROUP_WORDS.get(frozenset(choices)) or " or ".join(_describe_one(c) for c in choices)
    return f"{words} or none" if len(choices) < len(alternatives(hint)) else words


def _describe_one(hint: Any) -> str:
    if (enum := enum_of(hint)) is not None:
        return " or ".join(str(member.value) for member in enum)
    return _WORDS.get(hint) or (f"({tag_of(hint)} …)" if hint in WRITTEN_TYPES else describe(hint))
