"""Chains of SEQ that are one but for their conditions: planned as joins, so that they can be one operator.

A chain alone is a sequence, whose automaton tests conditions as it goes. Several chains over the same triple patterns, within
the same duration, are one join with each query's own conditions above it. Below it stands what all of them ask for, and the
weakest form of what differs in a constant: `?v < 150` and `?v < 160` let `?v < 160` pass. A chain with a condition over two of
its patterns stays a sequence: without it the join would build what the automaton never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from scepter.algebra.expressions import Call, Compare, Constant, Expression, In
from scepter.algebra.patterns import BGP
from scepter.algebra.query import Query, Scan, Select, Sliding
from scepter.algebra.query import Sequence as Steps
from scepter.algebra.scope import in_scope, mentioned_variables
from scepter.algebra.walk import find
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import Node, TripleScan
from scepter.physical.nodes.time_nodes import Answers, Once, TimeFilter, TimeJoin
from scepter.physical.planning.pattern_properties import is_unsteady
from scepter.rdf.terms import IRI, XSD, Literal
from scepter.rdf.values import value_or_none
from scepter.timeline import Allen

_WHOLE = (f"{XSD}integer", f"{XSD}decimal")
_WEAKER = {"<": max, "<=": max, ">": min, ">=": min}

Chain = tuple[object, ...]
Conditions = tuple[Expression, ...]


def chains_together(chains: Mapping[int, Query], facts: Facts) -> dict[int, Node]:
    """The plans of those chains that are one with another but for conditions, by their numbers."""
    families: dict[Chain, list[int]] = {}
    for number, query in chains.items():
        if (chain := _chain(query, facts)) is not None:
            families.setdefault(chain, []).append(number)
    found: dict[int, Node] = {}
    for numbers in families.values():
        if len(numbers) > 1:
            found |= _planned({number: chains[number] for number in numbers}, facts)
    return found


def _chain(query: Query, facts: Facts) -> Chain | None:
    """What two chains have to have in common; None for one that stays a sequence."""
    scans = _scans(query)
    if not isinstance(query.result, Select) or any(expression is not None for _, expression in query.result.columns):
        return None
    for scan in scans:
        if not all(_is_of(condition, scan) for condition in scan.filters):
            return None
    try:
        longest = _longest(query, facts)
    except ValueError:
        return None  # told with its place when the run is set up
    return (tuple(scan.pattern for scan in scans), longest, query.streams)


def _is_of(condition: Expression, scan: Scan) -> bool:
    """Whether a scan's own solution decides a condition, and does so the same way each time."""
    return mentioned_variables(condition) <= in_scope(scan.pattern) and not any(map(is_unsteady, find(condition, Call)))


def _scans(query: Query) -> list[Scan]:
    assert isinstance(query.pattern, Steps)
    found = [step.atom for step in query.pattern.steps]
    return [scan for scan in found if isinstance(scan, Scan)]


def _longest(query: Query, facts: Facts) -> int | None:
    if query.window is None:
        return None
    assert isinstance(query.window, Sliding) and facts.kind is not None
    return query.window.duration.ticks(facts.kind, facts.time_unit) - query.window.exclusive


def _planned(queries: Mapping[int, Query], facts: Facts) -> dict[int, Node]:
    every = {number: _scans(query) for number, query in queries.items()}
    first = next(iter(queries.values()))
    streams = tuple(stream.iri for stream in first.streams) or None
    asked = [weakest([scans[step].filters for scans in every.values()]) for step in range(len(_scans(first)))]
    joined = _joined(_scans(first), asked, streams, _longest(first, facts))
    found: dict[int, Node] = {}
    for number, scans in every.items():
        result = queries[number].result
        assert isinstance(result, Select)
        own = tuple(c for scan, common in zip(scans, asked, strict=True) for c in scan.filters if c not in common)
        shown = tuple(variable.name for variable, _ in result.columns)
        found[number] = Answers(TimeFilter(joined, own) if own else joined, shown)
    return found


def _joined(scans: Sequence[Scan], asked: Sequence[Conditions], streams: tuple[IRI, ...] | None, longest: int | None) -> Node:
    sides: list[Node] = []
    for scan, conditions in zip(scans, asked, strict=True):
        assert isinstance(scan.pattern, BGP)
        leaf: Node = TripleScan(scan.pattern.triples[0], streams, scan.label)
        sides.append(Once(TimeFilter(leaf, conditions) if conditions else leaf))
    found = sides[0]
    for side in sides[1:]:
        found = TimeJoin(found, side, Allen.BEFORE, longest=longest)
    return found


def weakest(several: Sequence[Conditions]) -> Conditions:
    """Conditions that hold wherever all of one of several sets hold.

    >>> from scepter.algebra.expressions import Variable
    >>> from scepter.rdf.values import to_literal
    >>> below = lambda number: Compare("<", Variable("v"), Constant(to_literal(number)))
    >>> weakest([(below(150),), (below(160), below(7))]) == (below(160),)
    True
    """
    first, *others = several
    found = []
    for condition in first:
        weak: Expression | None = condition
        for other in others:
            weak = None if weak is None else next((w for each in other if (w := _weaker(weak, each)) is not None), None)
        if weak is not None and weak not in found:
            found.append(weak)
    return tuple(found)


def _weaker(one: Expression, other: Expression) -> Expression | None:
    """What holds wherever one of two conditions does, if it is of their kind."""
    if one == other:
        return one
    match one, other:
        case Compare(operator, left, Constant() as a), Compare(same, right, Constant() as b) if (operator, left) == (
            same,
            right,
        ):
            if operator == "=":
                return In(left, (a, b))
            if operator in _WEAKER and (x := _number(a)) is not None and (y := _number(b)) is not None:
                return one if _WEAKER[operator](x, y) == x else other
        case In(left, choices, False), Compare("=", right, Constant() as b) if left == right:
            return one if b in choices else In(left, (*choices, b))
    return None


def _number(constant: Constant) -> int | Decimal | None:
    """The value of a whole or decimal constant. One that is ill-typed has none: no comparison with it holds."""
    term = constant.term
    value = value_or_none(term) if isinstance(term, Literal) and term.datatype in _WHOLE else None
    return value if isinstance(value, (int, Decimal)) else None
