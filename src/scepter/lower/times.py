"""Times that go along with rows: what a query over windows needs to know of the event mapping behind each of its rows.

Each Match binds three hidden variables (`algebra.windows.hidden_names`). Past lowering these are variables like any others.
"""

from __future__ import annotations

from scepter.algebra.expressions import Aggregate, Call, Constant, Expression, Variable
from scepter.algebra.patterns import Distinct, Group, Pattern, Project
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import Algebra, rewrite
from scepter.rdf.terms import XSD, Literal
from scepter.timeline import MAX_INSTANT, MIN_INSTANT


def carry_times(pattern: Pattern) -> Pattern:
    """The pattern with the hidden variables of its Matches carried to the top."""
    return rewrite(pattern, _carry)


def _carry(node: Algebra) -> Algebra:
    match node:
        case Project(inner, variables):
            return Project(inner, (*variables, *(Variable(name) for name in _hidden(inner))))
        case Group(inner, keys, aggregates):
            return Group(inner, keys, (*aggregates, *((Variable(n), _together(n)) for n in _hidden(inner))))
        case Distinct(inner):
            return _distinct(inner)
        case _:
            return node


def _hidden(pattern: Pattern) -> list[str]:
    return sorted(name for name in in_scope(pattern) if name.startswith("_:match"))


def _together(name: str) -> Aggregate:
    """How a hidden variable of several rows becomes that of one. A row that some Match has no part in (UNION, OPTIONAL) leaves
    the hull of the others as it is: it starts after all of them and ends before."""
    if name.endswith(".start"):
        return Aggregate("MIN", _or_else(name, Literal(str(MAX_INSTANT), f"{XSD}integer")))
    if name.endswith(".end"):
        return Aggregate("MAX", _or_else(name, Literal(str(MIN_INSTANT), f"{XSD}integer")))
    return Aggregate("GROUP_CONCAT", _or_else(name, Literal("")))


def _or_else(name: str, other: Literal) -> Expression:
    return Call("COALESCE", (Variable(name), Constant(other)))


def _distinct(inner: Pattern) -> Pattern:
    """A row is its bindings with its times (rule 11): rows that differ only in which mapping they come from are one."""
    hidden = _hidden(inner)
    if not hidden:
        return Distinct(inner)
    numbers = [name for name in hidden if "." not in name]
    same = [Variable(name) for name in sorted(in_scope(inner)) if name not in numbers]
    keys: tuple[tuple[Variable, Expression], ...] = tuple((v, v) for v in same)
    return Group(inner, keys, tuple((Variable(name), _together(name)) for name in numbers))
