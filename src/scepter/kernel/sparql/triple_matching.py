"""Basic graph patterns and paths, matched from the bindings a solution already has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, Node, PathPattern, TriplePattern
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.paths import pairs
from scepter.rdf.terms import Term

Extension: TypeAlias = Callable[[Row, Context], Iterator[Row]]
"""The solutions of a pattern that are compatible with a row, each merged with it."""
_Step: TypeAlias = Callable[[Row, Graph], Sequence[Row]]


def compile_bgp(pattern: BGP) -> Extension:
    """A basic graph pattern; its triples are ordered by how much of them is bound."""
    names = sorted({name for triple in pattern.triples for name in _variables(triple)})
    orders: dict[tuple[str, ...], tuple[_Step, ...]] = {}

    def extend(row: Row, context: Context) -> Iterator[Row]:
        bound = tuple([name for name in names if name in row])
        steps = orders.get(bound)
        if steps is None:
            steps = orders[bound] = tuple(_step(t) for t in join_order(pattern.triples, frozenset(bound)))
        return _search(steps, row, context.graph)

    return extend


def join_order(triples: Sequence[TriplePattern], bound: frozenset[str]) -> list[TriplePattern]:
    """The triple patterns so that each has as much bound as can be when its turn comes.

    A triple pattern that shares no variable with what came before would multiply the rows; it comes last.
    """
    known, left, order = set(bound), list(enumerate(triples)), []
    while left:
        place = max(range(len(left)), key=lambda i: (_boundness(left[i][1], known), -left[i][0]))
        order.append(left.pop(place)[1])
        known.update(_variables(order[-1]))
    return order


def _boundness(triple: TriplePattern, known: set[str]) -> tuple[bool, int]:
    names = _variables(triple)
    connected = not known or not names or any(name in known for name in names)
    weights = ((triple.subject, 4), (triple.object, 3), (triple.predicate, 1))
    return connected, sum(w for node, w in weights if not isinstance(node, Variable) or node.name in known)


def _variables(triple: TriplePattern) -> tuple[str, ...]:
    nodes = triple.places
    return tuple(node.name for node in nodes if isinstance(node, Variable))


def _search(steps: Sequence[_Step], row: Row, graph: Graph) -> Iterator[Row]:
    """Depth first with an explicit stack: lazy for EXISTS and LIMIT, and patterns of any length."""
    if not steps:
        yield row
        return
    stack = [iter(steps[0](row, graph))]
    while stack:
        extended = next(stack[-1], None)
        if extended is None:
            stack.pop()
        elif len(stack) == len(steps):
            yield extended
        else:
            stack.append(iter(steps[len(stack)](extended, graph)))


def _step(triple: TriplePattern) -> _Step:
    subject, predicate, object_ = _source(triple.subject), _source(triple.predicate), _source(triple.object)
    places = [(i, node.name) for i, node in enumerate(triple.places) if isinstance(node, Variable)]

    def step(row: Row, graph: Graph) -> Sequence[Row]:
        found = graph.match(subject(row), predicate(row), object_(row))
        if not found:
            return ()
        free = [(i, name) for i, name in places if name not in row]
        if not free:
            return (row,)
        rows: list[Row] = []
        for match in found:
            extended = dict(row)
            for i, name in free:
                if extended.setdefault(name, match[i]) != match[i]:
                    break
            else:
                rows.append(extended)
        return rows

    return step


def _source(node: Node) -> Callable[[Row], Term | None]:
    match node:
        case Variable(name):
            return lambda row: row.get(name)
        case Constant(term):
            return lambda _: term


def compile_path(pattern: PathPattern) -> Extension:
    """A path pattern.

    A zero-length path at a variable matches nodes of the graph only, at a term any term (SPARQL 1.1 §18.4). A variable that
    the row binds is still a variable, unless EXISTS has substituted it.
    """
    subject, object_ = _source(pattern.subject), _source(pattern.object)

    def extend(row: Row, context: Context) -> Iterator[Row]:
        graph = context.graph
        start, end = subject(row), object_(row)
        start_is_term, end_is_term = _is_term(pattern.subject, context), _is_term(pattern.object, context)
        if start is not None and not start_is_term and not graph.has_node(start) and not (end_is_term and start == end):
            return
        if end is not None and not end_is_term and not graph.has_node(end) and not (start_is_term and start == end):
            return
        for first, last in pairs(graph, pattern.path, start, end):
            extended = dict(row)
            if _bind(extended, pattern.subject, first) and _bind(extended, pattern.object, last):
                yield extended

    return extend


def _is_term(node: Node, context: Context) -> bool:
    return isinstance(node, Constant) or node.name in context.substituted


def _bind(row: Row, node: Node, term: Term) -> bool:
    return not isinstance(node, Variable) or row.setdefault(node.name, term) == term
