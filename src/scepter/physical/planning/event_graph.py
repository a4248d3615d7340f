"""A graph pattern within one event that is more than triples: operators on what its basic graph patterns bind.

Rows carry the event they come from in a variable of their own, which all joins share, so that nothing of one event meets
another's. The operators are those of windows, in which an event is there alone; nothing is kept from one batch to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import (
    BGP,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.patterns import Node as TermNode
from scepter.physical.nodes.event_core import EVENT, Core, Graphs, Shape
from scepter.physical.nodes.nodes import Node
from scepter.physical.planning.pattern_plan import PatternPlanner
from scepter.physical.planning.window_contents import Dataset, NotPlanned
from scepter.rdf.terms import IRI


@dataclass(frozen=True)
class _Event(Dataset):
    """The graph of one event, and static named graphs."""

    stream: int = 0

    def whole(self, pattern: Pattern, graph: IRI | None) -> Node | None:
        """Joined triples and look-ups are one leaf."""
        match pattern:
            case BGP() | Graph() | Join():
                found = _core(pattern, self.stream)
                if isinstance(found, str) and not isinstance(pattern, Join):
                    raise NotPlanned(found)
                return None if isinstance(found, str) else found
            case LeftJoin() | Minus() | Union() | Filter() | Extend() | Values():
                return None
            case _:
                raise NotPlanned(_needs_evaluator(pattern))

    def latest(self, triple: TriplePattern) -> tuple[Node, ...]:
        """An event's triples are there at once."""
        raise NotPlanned("TIMESTAMP needs the exact evaluator")


def event_tree(pattern: Pattern, stream: int) -> Node:
    """The operators of a pattern on the events of a stream, given by number. Raises NotPlanned."""
    root = PatternPlanner(_Event((), {}, lambda triple, graph: 0, None, stream=stream), None).node(pattern)
    if EVENT not in root.schema.certain:
        raise NotPlanned("no triple pattern looks at the event itself")
    return root


def _core(pattern: Pattern, stream: int) -> Core | str:
    """The triples and background parts of a pattern that is nothing else, or why it is more. Background triples are ordered so
    that each has as many bound places as can be when it is looked up."""
    triples: list[TriplePattern] = []
    graphs: list[tuple[IRI, tuple[TriplePattern, ...]]] = []
    for part in _joined(pattern):
        match part:
            case BGP(more):
                triples += more
            case Graph(Constant(IRI() as name), BGP(more)):
                graphs.append((name, more))
            case _:
                return _needs_evaluator(part)
    if not triples:
        return "no triple pattern looks at the event itself"
    bound = {n.name for t in triples for n in t.places if isinstance(n, Variable)}
    ordered = tuple((name, _connected(more, bound)) for name, more in graphs)
    shape, looked_up, numbering = _shape(stream, tuple(triples), ordered)
    names = tuple(name for name in numbering if not name.startswith("_:"))
    return Core(names, shape, looked_up, tuple(numbering[name] for name in names))


def _joined(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Join):
        yield from _joined(pattern.left)
        yield from _joined(pattern.right)
    else:
        yield pattern


def _connected(triples: tuple[TriplePattern, ...], bound: set[str]) -> tuple[TriplePattern, ...]:
    """Order triples so that each has as many bound places as possible when its turn comes; `bound` grows."""
    left, ordered = list(triples), []
    while left:
        best = max(left, key=lambda t: sum(not isinstance(n, Variable) or n.name in bound for n in t.places))
        left.remove(best)
        ordered.append(best)
        bound |= {n.name for n in best.places if isinstance(n, Variable)}
    return tuple(ordered)


_SPOKEN = {
    "LeftJoin": "OPTIONAL",
    "Union": "UNION",
    "Minus": "MINUS",
    "Extend": "BIND",
    "Values": "VALUES",
    "PathPattern": "a property path",
    "Graph": "GRAPH",
    "Filter": "a FILTER in a nested group",
    "Project": "a sub-SELECT",
    "Distinct": "a sub-SELECT",
    "Slice": "a sub-SELECT",
    "OrderBy": "a sub-SELECT",
    "Group": "a sub-SELECT",
}


def _needs_evaluator(pattern: Pattern) -> str:
    return f"{_SPOKEN.get(type(pattern).__name__, 'this pattern')} needs the exact evaluator"


def _shape(stream: int, triples: tuple[TriplePattern, ...], graphs: Graphs) -> tuple[Shape, Graphs, dict[str, int]]:
    """Number the variables in order of appearance, those that only GRAPH parts bind last."""
    numbering: dict[str, int] = {}
    for triple in itertools.chain(triples, *(more for _, more in graphs)):
        for node in triple.places:
            if isinstance(node, Variable):
                numbering.setdefault(node.name, len(numbering))
    width = len({n.name for t in triples for n in t.places if isinstance(n, Variable)})
    renamed = tuple((name, tuple(_renumbered(t, numbering) for t in more)) for name, more in graphs)
    return Shape(stream, tuple(_renumbered(t, numbering) for t in triples), width), renamed, numbering


def _renumbered(triple: TriplePattern, numbering: dict[str, int]) -> TriplePattern:
    subject, predicate, object_ = (_renamed(n, numbering) for n in triple.places)
    return TriplePattern(subject, predicate, object_)


def _renamed(node: TermNode, numbering: dict[str, int]) -> TermNode:
    return Variable(str(numbering[node.name])) if isinstance(node, Variable) else Constant(node.term)
