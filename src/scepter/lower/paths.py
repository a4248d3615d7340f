"""Property paths: what joins and unions of triple patterns can say is said so, the rest stays a path (SPARQL 1.1 §18.2.2)."""

from __future__ import annotations

from collections.abc import Callable

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import (
    BGP,
    Alternative,
    Inverse,
    Join,
    Link,
    NegatedPropertySet,
    Node,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    TriplePattern,
    Union,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.lower.expressions import fold
from scepter.rdf.terms import IRI
from scepter.syntax import tree


def connect(
    subject: Node, path: tree.Path, object: Node, fresh: Callable[[], Variable]
) -> tuple[list[TriplePattern], list[Pattern]]:
    """`subject path object` as triple patterns and, where those do not suffice, further patterns to join with them."""
    if isinstance(path, tree.Constant):
        return [TriplePattern(subject, Constant(path.term, path.span), object)], []
    match path.operator:
        case "^":
            return connect(object, path.operands[0], subject, fresh)
        case "/":
            return _sequence(subject, path, object, fresh)
        case "|":
            branches = [_joined(*connect(subject, p, object, fresh)) for p in path.operands]
            return [], [fold(Union, branches)]
        case _:
            return [], [PathPattern(subject, _path(path), object)]


def _sequence(
    subject: Node, path: tree.PathOperation, object: Node, fresh: Callable[[], Variable]
) -> tuple[list[TriplePattern], list[Pattern]]:
    triples: list[TriplePattern] = []
    others: list[Pattern] = []
    stops = [subject, *(fresh() for _ in path.operands[1:]), object]
    for part, start, end in zip(path.operands, stops[:-1], stops[1:], strict=True):
        more, rest = connect(start, part, end, fresh)
        triples += more
        others += rest
    return triples, others


def _joined(triples: list[TriplePattern], others: list[Pattern]) -> Pattern:
    parts: list[Pattern] = [BGP(tuple(triples))] if triples else []
    return fold(Join, [*parts, *others])


def _path(path: tree.Path) -> Path:
    if isinstance(path, tree.Constant):
        return Link(_iri(path))
    if path.operator == "!":
        return _negated(path)
    operands = [_path(p) for p in path.operands]
    match path.operator:
        case "^":
            return Inverse(operands[0])
        case "/":
            return fold(PathSequence, operands)
        case "|":
            return fold(Alternative, operands)
        case "*":
            return ZeroOrMore(operands[0])
        case "+":
            return OneOrMore(operands[0])
        case _:
            return ZeroOrOne(operands[0])


def _negated(path: tree.PathOperation) -> NegatedPropertySet:
    forward = [_iri(p) for p in path.operands if isinstance(p, tree.Constant)]
    backward = [_iri(p.operands[0]) for p in path.operands if isinstance(p, tree.PathOperation)]
    return NegatedPropertySet(tuple(forward), tuple(backward))


def _iri(path: tree.Path) -> IRI:
    assert isinstance(path, tree.Constant) and isinstance(path.term, IRI)  # by the grammar
    return path.term
