"""Plain SPARQL over time: what downward compatibility needs beyond intervals (spec/20-ep-sparql rule 8).

A query without temporal operators gives at one instant what SPARQL gives. So what needs no triple at all (the empty group,
VALUES, BIND, a path of length zero) holds at each instant, and the multiplicities of UNION and VALUES are kept: their
solutions get a number that nobody sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scepter.algebra.expressions import Call, Exists
from scepter.algebra.patterns import BGP, Graph, Match, PathPattern, Pattern, Related, TriplePattern
from scepter.algebra.timed import TIME_FUNCTIONS
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Row
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.solutions import Instant, Timed
from scepter.rdf.values import to_literal


def is_plain(pattern: Pattern) -> bool:
    """Whether a pattern says nothing of time."""
    if next(find(pattern, Related), None) is not None:
        return False
    return not any(call.function in TIME_FUNCTIONS for call in find(pattern, Call))


def is_constant(pattern: Pattern) -> bool:
    """Whether a pattern's solutions need no triple, streamed or static."""
    if any(bgp.triples for bgp in find(pattern, BGP)):
        return False
    return all(next(find(pattern, kind), None) is None for kind in (PathPattern, Graph, Match, Exists))


def is_static(pattern: Pattern) -> bool:
    """Whether all of a pattern's triples, and it has some, stand in GRAPH."""
    graphs = list(find(pattern, Graph))
    inside = {id(node) for graph in graphs for kind in _LEAVES for node in find(graph, kind)}
    return bool(graphs) and all(id(node) in inside for kind in _LEAVES for node in find(pattern, kind))


_LEAVES = (TriplePattern, PathPattern)


class AnsweredOnce(Operator):
    """What has no time, at the first instant there is (rule 1)."""

    def __init__(self, source: Operator) -> None:
        super().__init__(source)
        self._answered = False

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """All there is, or nothing more."""
        return () if self._answered else [s.at(instant.time) for s in self.inputs[0].fixed]

    def commit(self) -> None:
        """The answer has been given."""
        super().commit()
        self._answered = True


def holds_always(solution: Timed) -> bool:
    """Whether a solution needs no triple."""
    return solution.timeless and not solution.static


class EveryInstant(Operator):
    """A pattern's solutions, and those of them that need no triple at each instant anew."""

    def __init__(self, source: Operator) -> None:
        super().__init__(source)
        self.growable = source.growable
        self.fleeting = not source.timed or source.fleeting
        self._always = [s for s in source.fixed if holds_always(s)]
        self.fixed = [s for s in source.fixed if not holds_always(s)]

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """What ends now, and what always holds."""
        return [*self.inputs[0].delta(instant), *(s.at(instant.time) for s in self._always)]

    def grow(self, more: Instant) -> Sequence[Timed]:
        """The instant is the same."""
        return self.inputs[0].grow(more)


def numbered(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Rows that stay apart, even where they are equal or become so in a join."""
    return ({**row, name: to_literal(number)} for number, row in enumerate(rows))
