"""Property paths (SPARQL 1.1 §18.4): sequences and alternatives keep duplicates, `* + ?` relate each pair once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

from scepter.algebra.patterns import (
    Alternative,
    Inverse,
    Link,
    NegatedPropertySet,
    OneOrMore,
    Path,
    PathSequence,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple

Pair: TypeAlias = tuple[Term, Term]


def pairs(graph: Graph, path: Path, start: Term | None, end: Term | None) -> Iterator[Pair]:
    """The pairs a path relates, None standing for a variable; with multiplicity.

    >>> from scepter.rdf.terms import IRI
    >>> a, b, p = IRI("http://a"), IRI("http://b"), IRI("http://p")
    >>> list(pairs(Graph([Triple(a, p, b)]), ZeroOrMore(Link(p)), a, None)) == [(a, a), (a, b)]
    True
    """
    if start is not None:
        reached = _reach(graph, path, start, True, end)
        return ((start, node) for node in reached if end is None or node == end)
    if end is not None:
        return ((node, end) for node in _reach(graph, path, end, False, None))
    return _all_pairs(graph, path)


def _all_pairs(graph: Graph, path: Path) -> Iterator[Pair]:
    match path:
        case Link():
            return ((t.subject, t.object) for t in graph.match(None, path.iri, None))
        case Inverse():
            return ((end, start) for start, end in _all_pairs(graph, path.path))
        case PathSequence():
            return (
                (start, end)
                for start, middle in _all_pairs(graph, path.left)
                for end in _reach(graph, path.right, middle, True, None)
            )
        case Alternative():
            return (pair for side in (path.left, path.right) for pair in _all_pairs(graph, side))
        case ZeroOrMore() | OneOrMore() | ZeroOrOne() | NegatedPropertySet():
            return ((node, end) for node in graph.nodes() for end in _reach(graph, path, node, True, None))
        case _:
            assert_never(path)


def _reach(graph: Graph, path: Path, node: Term, forward: bool, target: Term | None) -> Iterable[Term]:
    """The nodes at the other end of the path, with multiplicity; `target` is that end when the query names it."""
    match path:
        case Link():
            return _follow(graph, path, node, forward)
        case Inverse():
            return _reach(graph, path.path, node, not forward, target)
        case PathSequence():
            return _sequence(graph, path, node, forward, target)
        case Alternative():
            return (end for side in (path.left, path.right) for end in _reach(graph, side, node, forward, target))
        case ZeroOrOne():
            return dict.fromkeys((node, *_reach(graph, path.path, node, forward, None)))
        case ZeroOrMore():
            return _closure(graph, path.path, (node,), forward)
        case OneOrMore():
            return _closure(graph, path.path, _reach(graph, path.path, node, forward, None), forward)
        case NegatedPropertySet():
            return _negated(graph, path, node, forward)
        case _:
            assert_never(path)


def _follow(graph: Graph, link: Link, node: Term, forward: bool) -> Iterator[Term]:
    if forward:
        return (t.object for t in graph.match(node, link.iri, None))
    return (t.subject for t in graph.match(None, link.iri, node))


def _sequence(graph: Graph, path: PathSequence, node: Term, forward: bool, target: Term | None) -> Iterator[Term]:
    """`a/b` is `a` to a fresh variable and `b` from it: a variable takes a zero-length path only at nodes of the graph,
    or at the term on the path's other end."""
    first, second = (path.left, path.right) if forward else (path.right, path.left)
    for middle in _reach(graph, first, node, forward, None):
        if middle == target or graph.has_node(middle):
            yield from _reach(graph, second, middle, forward, target)


def _closure(graph: Graph, step: Path, start: Iterable[Term], forward: bool) -> Iterable[Term]:
    """ALP: everything reachable, each node once."""
    found = dict.fromkeys(start)
    pending = list(found)
    while pending:
        for node in _reach(graph, step, pending.pop(), forward, None):
            if node not in found:
                found[node] = None
                pending.append(node)
    return found


def _negated(graph: Graph, path: NegatedPropertySet, node: Term, forward: bool) -> Iterator[Term]:
    """`!(a)` looks along triples, `!(^a)` against them, `!(a|^b)` both ways; `!()` is `!(a)` without exceptions."""
    if path.forward or not path.backward:
        yield from _others(graph, node, frozenset(path.forward), forward)
    if path.backward:
        yield from _others(graph, node, frozenset(path.backward), not forward)


def _others(graph: Graph, node: Term, excluded: frozenset[Term], forward: bool) -> Iterator[Term]:
    triples: Iterable[Triple] = graph.match(node, None, None) if forward else graph.match(None, None, node)
    return (t.object if forward else t.subject for t in triples if t.predicate not in excluded)
