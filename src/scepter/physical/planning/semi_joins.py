"""Rows that a rule need not give to its one reader: a semi-join pushed into the rule (spec/20-ep-sparql rules 3 and 9).

    { :a :price ?x } SEQ { ?point :sum ?s } EQUALSOPTIONAL { … } FILTER (!BOUND(?between) && getDURATION() >= 10)

What is right before a point does not depend on the point but on when it starts; so the rule can tell, when a chain of points
begins, how far each of them will reach back together with that, and give those alone that reach far enough. It needs the rows
of the gap for that, which it keeps itself where nothing may stand between its own rows: the reader's left side and its gap have
to be of the same triples. A rule that has let go of some of them gives all rows, and the reader finds out by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.physical.nodes.derive_nodes import Derive, Picked
from scepter.physical.nodes.nodes import Node, TripleScan, Union, nodes
from scepter.physical.nodes.time_nodes import GapJoin, Once
from scepter.physical.planning.linear_rules import linear


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
        for each in (pattern.subject, pattern.predicate, pattern.object)
    ]
    return replace(node.input, pattern=TriplePattern(*terms))
