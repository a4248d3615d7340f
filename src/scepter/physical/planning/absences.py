"""Optional parts that a query asks not to be there: `OPTIONAL { … ?v … } FILTER (!BOUND(?v))` (spec/20-ep-sparql rules 4 to 6).

Nobody sees the partners, so none has to be made: a row stays that has no partner. And where the optional part says what the
mandatory one says with something between,

    { A } SEQ { C }  EQUALSOPTIONAL  { A } SEQ { B } SEQ { C }  FILTER (!BOUND(?v)), ?v of B,

what stays are the pairs of A and C with no B in the gap between them. As joins this takes a row for each triple of rows, which
grows with the cube of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scepter.algebra.expressions import Call, Constant, Expression, Not, Variable
from scepter.algebra.patterns import BGP, Filter, Join, LeftJoin, Pattern, Related, Side, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.physical.nodes.derive_nodes import Derive, Picked
from scepter.physical.nodes.nodes import Node, TripleScan, Union, nodes
from scepter.physical.nodes.time_nodes import GapJoin, Once
from scepter.physical.planning.linear_rules import linear
from scepter.physical.planning.pattern_properties import asks_exists, asks_time
from scepter.timeline import Allen


@dataclass(frozen=True, slots=True)
class Absence:
    """A mandatory side that stays where its optional one finds no partner."""

    mandatory: Pattern
    optional: Pattern
    relation: Allen | None
    """Of the mandatory side to the optional one."""
    condition: Expression | None
    rest: tuple[Expression, ...]
    """The other conditions of the filter."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Two patterns in sequence, and what does not stand between them."""

    left: Pattern
    right: Pattern
    between: Pattern


def absence(tests: Sequence[Expression], inner: Pattern) -> Absence | None:
    """What a filter over an optional part asks, where it asks that the part is not there.

    >>> from scepter.algebra.patterns import TriplePattern
    >>> x, p, v = Variable("x"), Variable("p"), Variable("v")
    >>> a, b = BGP((TriplePattern(x, p, x),)), BGP((TriplePattern(x, p, v),))
    >>> absence([Not(Call("BOUND", (v,)))], LeftJoin(a, b, None)).optional == b
    True
    >>> absence([Call("BOUND", (v,))], LeftJoin(a, b, None))
    """
    match inner:
        case LeftJoin(mandatory, optional, condition):
            relation: Allen | None = None
        case Related(mandatory, optional, relation, Side.RIGHT, condition):
            pass
        case Related(optional, mandatory, towards, Side.LEFT, condition):
            relation = towards.inverse
        case _:
            return None
    sure = certain(optional) - in_scope(mandatory)
    unbound = [test for test in tests if _unbound(test) in sure]
    if not unbound or (condition is not None and asks_exists(condition)):
        return None
    return Absence(mandatory, optional, relation, condition, tuple(test for test in tests if test not in unbound))


def _unbound(test: Expression) -> str | None:
    match test:
        case Not(Call("BOUND", (Variable(name),))):
            return name
        case _:
            return None


def gap(found: Absence, feeds: Callable[[Pattern], bool]) -> Gap | None:
    """What does not stand between two patterns, where that is all an absence says.

    A gap is looked for among rows that have a time, told apart by variables that both its ends bind; `feeds` says whether rules
    that are derived together derive what matches a pattern: what is between, and what comes after it, must be there before.
    """
    if found.relation is not Allen.EQUALS or found.condition is not None:
        return None
    match found.mandatory, found.optional:
        case (
            Related(left, right, Allen.BEFORE, None),
            Related(Related(first, between, Allen.BEFORE, None), last, Allen.BEFORE, None),
        ) if (left, right) == (first, last) and all(map(_is_plain, (left, right, between))):
            shared = in_scope(between) & (in_scope(left) | in_scope(right))
            if shared <= in_scope(left) & in_scope(right) and not feeds(between) and not feeds(right):
                return Gap(left, right, between)
    return None


def _is_plain(pattern: Pattern) -> bool:
    """Whether all rows of a pattern bind the same variables, and have a time in a run without static triples."""
    match pattern:
        case BGP(triples):
            return bool(triples)
        case Join(left, right):
            return _is_plain(left) and _is_plain(right)
        case Filter(condition, inner):
            return _is_plain(inner) and not asks_exists(condition) and not asks_time(condition)
        case _:
            return False


def push_semi_joins(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The same plans, with rules that give their one reader what it can use."""
    readers: dict[int, dict[int, Node]] = {}
    for root in roots:
        for node in nodes(root):
            for each in node.inputs:
                readers.setdefault(id(each), {})[id(node)] = node
    changed = dict[int, Node]()
    for root in roots:
        for node in nodes(root):
            if isinstance(node, Derive) and (shortest := _shortest(node, readers)) is not None:
                changed[id(node)] = replace(node, shortest=shortest)
    return tuple(_over(root, changed) for root in roots) if changed else tuple(roots)


def _over(node: Node, changed: dict[int, Node]) -> Node:
    if id(node) not in changed:
        changed[id(node)] = node.over(lambda each: _over(each, changed))
    return changed[id(node)]


def _shortest(derive: Derive, readers: dict[int, dict[int, Node]]) -> int | None:
    """How long a row has to be with what comes right before it, for all that becomes of it."""
    rule = linear(derive) if derive.one_pass and derive.whole else None
    if rule is None or rule.join.gap_keys:
        return None
    node: Node = derive
    while isinstance(node, Derive | Picked | Union):
        if len(readers.get(id(node), ())) != 1:
            return None
        before, (node,) = node, readers[id(node)].values()
    if not isinstance(node, GapJoin) or node.right is not before or node.keys:
        return None
    gap = _triples(rule.join.between)
    same = gap is not None and gap == _triples(node.left) == _triples(node.between)
    return node.shortest if same else None


def _triples(node: Node) -> TripleScan | None:
    """Which triples a node gives, whatever its variables are called."""
    if not isinstance(node, Once) or not isinstance(node.input, TripleScan):
        return None
    names = dict[str, Variable]()
    pattern = node.input.pattern
    terms = [
        each if isinstance(each, Constant) else names.setdefault(each.name, Variable(str(len(names))))
        for each in pattern.places
    ]
    return replace(node.input, pattern=TriplePattern(*terms))
