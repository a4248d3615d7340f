"""Plain SPARQL over time: what downward compatibility needs beyond intervals (spec/20-ep-sparql rule 8).

A query without temporal operators gives at one instant what SPARQL gives. So what needs no triple at all (the empty group,
VALUES, BIND) holds at each instant, and the multiplicities of UNION and VALUES are kept: their solutions get a number that
nobody sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scepter.algebra.expressions import Call, Exists
from scepter.algebra.patterns import BGP, Graph, Match, PathPattern, Pattern, Related
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


class EveryInstant(Operator):
    """What needs no triple, at each instant anew."""

    fleeting = True
    growable = True

    def __init__(self, source: Operator) -> None:
        super().__init__(source)

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The same solutions, now."""
        return [Timed(s.row, instant.time, instant.time) for s in self.inputs[0].fixed]

    def grow(self, more: Instant) -> Sequence[Timed]:
        """The instant is the same."""
        return ()


def numbered(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Rows that stay apart, even where they are equal or become so in a join."""
    return ({**row, name: to_literal(number)} for number, row in enumerate(rows))
