"""How many rows an operator gives, as far as that is known before the run: of static data by the sizes of its indexes.

What streams bring is not known. A look-up by a term that is known is taken to find one triple; patterns that share a variable
are taken to give as many rows as the rarest of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import BGP, Graph, Join, Pattern, TriplePattern
from scepter.physical.facts import Count
from scepter.physical.nodes.instant_nodes import Ordered, RowExtend
from scepter.physical.nodes.nodes import Extend, Filter, Node, Project, Static, Union, nodes, variables_of
from scepter.physical.nodes.time_nodes import Inline, Kind, Once, Rename, StaticScan, TimeFilter, TimeJoin, TimeValues
from scepter.physical.nodes.window_nodes import Coalesce, Fixed, NotStatic, ValidityJoin
from scepter.rdf.terms import IRI

_NO_MORE = (Filter, Extend, Project, Once, Rename, TimeFilter, TimeValues, Coalesce, NotStatic, Ordered, RowExtend)
"""Operators that give at most one row for each that they take."""
_In = tuple[TriplePattern, IRI | None]


def estimates(root: Node, count: Count | None) -> tuple[int | None, ...]:
    """A number for each node, in the order of their numbers; None where nobody knows. `count` tells of static data."""
    found: dict[int, int | None] = {}
    for node in nodes(root):
        found[id(node)] = _rows(node, [found[id(each)] for each in node.inputs], count)
    return tuple(found.values())


def _rows(node: Node, inputs: Sequence[int | None], count: Count | None) -> int | None:
    match node:
        case Inline(rows=rows) | Fixed(triple=None, rows=rows):
            return len(rows)
        case Fixed(triple=TriplePattern() as triple, graph=graph):
            return None if count is None else count(triple, graph)
        case StaticScan(pattern=pattern, sources=sources):
            found = None if sources.default else _found(pattern, None)
            return None if found is None or count is None else _joined(found, count)
    if not inputs or None in inputs or count is None:
        return None
    known = [each for each in inputs if each is not None]
    match node:
        case Union():
            return sum(known)
        case Static(graph=graph, triples=triples):
            apart = [t for t in triples if not set(variables_of(t)) & set(node.input.schema.variables)]
            return known[0] * (_joined([(t, graph) for t in apart], count) if apart else 1)
        case ValidityJoin(keys=keys) | TimeJoin(kind=Kind.INNER, keys=keys):
            return min(known) if keys else known[0] * known[1]
        case _:
            return known[0] if isinstance(node, _NO_MORE) else None


def _found(pattern: Pattern, graph: IRI | None) -> list[_In] | None:
    """The triple patterns of a join, and in which graph each is; None of what is more than that."""
    match pattern:
        case BGP(triples):
            return [(triple, graph) for triple in triples]
        case Graph(Constant(IRI() as name), inner):
            return _found(inner, name)
        case Join(left, right):
            first, second = _found(left, graph), _found(right, graph)
            return None if first is None or second is None else first + second
        case _:
            return None


def _joined(patterns: Sequence[_In], count: Count) -> int:
    """The rarest pattern of each part that hangs together; parts that do not are multiplied."""
    parts: list[tuple[set[str], int]] = []
    for triple, graph in patterns:
        names, least = set(variables_of(triple)), count(triple, graph)
        apart = []
        for part in parts:
            if part[0] & names:
                names, least = names | part[0], min(least, part[1])
            else:
                apart.append(part)
        parts = [*apart, (names, least)]
    found = 1
    for _, least in parts:
        found *= least
    return found
