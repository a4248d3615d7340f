"""`timestamp(s, p, o)` as an expression over the times of a match's occurrences.

A star tells in a variable when the occurrence of each of its triple patterns ended. The function then asks which of the
patterns the triple is of, in this row, and takes the latest of their times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from scepter.algebra.expressions import And, Call, Compare, Constant, Expression, Not, Or, Variable
from scepter.algebra.walk import rewrite
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.star_nodes import TripleStar
from scepter.physical.nodes.time_nodes import Rename

_NEVER = Variable("_:never")
"""Nobody binds it: to ask for it is an error."""


@dataclass(frozen=True, slots=True)
class Told:
    """The triple of a pattern, as a row's terms say it, and the variable of its time."""

    terms: tuple[Expression, Expression, Expression]
    time: Variable


def told_times(node: Node) -> tuple[Told, ...]:
    """The triple patterns whose times a node's rows tell."""
    found: list[Told] = []
    if isinstance(node, TripleStar):
        found += [
            Told(triple.places, Variable(name)) for triple, name in zip(node.triples, node.times, strict=False)
        ]  # fmt: skip
    for each in node.inputs:
        found += told_times(each)
    if isinstance(node, Rename):
        names = dict(zip(node.input.schema.variables, node.names, strict=True))
        found = [_renamed(told, names) for told in found]
    return tuple(dict.fromkeys(told for told in found if told.time.name in node.schema.variables))


def _renamed(told: Told, names: dict[str, str]) -> Told:
    def other(node: Expression) -> Expression:
        return Variable(names.get(node.name, node.name)) if isinstance(node, Variable) else node

    subject, predicate, object = map(other, told.terms)
    return Told((subject, predicate, object), Variable(names[told.time.name]))


def with_times(expression: Expression, told: Sequence[Told]) -> Expression:
    """An expression in which `timestamp()` is asked of the variables that tell times."""

    def replaced(node: Expression) -> Expression:
        if not (isinstance(node, Call) and node.function == "TIMESTAMP"):
            return node
        some = [(_is_of(node.arguments, each), each.time) for each in told if _may_be(node.arguments, each)]
        return latest_of(some)

    return rewrite(expression, replaced)  # type: ignore[arg-type]


def latest_of(some: Sequence[tuple[Expression, Variable]]) -> Expression:
    """The latest of the times that count, each given with the condition under which it does; else an error."""
    found: Expression = _NEVER
    for place, (here, time) in enumerate(some):
        others = [Or(Not(there), Compare(">=", time, other)) for i, (there, other) in enumerate(some) if i != place]
        found = Call("IF", (reduce(And, [here, *others]), time, found))
    return found


def _may_be(wanted: Sequence[Expression], told: Told) -> bool:
    pairs = zip(wanted, told.terms, strict=True)
    return not any(isinstance(a, Constant) and isinstance(b, Constant) and a.term != b.term for a, b in pairs)


def _is_of(wanted: Sequence[Expression], told: Told) -> Expression:
    """Whether a triple is the one that a pattern's occurrence has."""
    found: Expression = Call("BOUND", (told.time,))
    for one, other in zip(wanted, told.terms, strict=True):
        if one != other:
            found = And(found, Call("SAMETERM", (one, other)))
    return found
