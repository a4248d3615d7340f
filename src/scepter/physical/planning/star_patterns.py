"""What there is to know of a pattern over occurrences before it is planned (spec/50-sparkwave)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from scepter.algebra.expressions import Call, Exists
from scepter.algebra.patterns import EMPTY, LeftJoin, Minus, Pattern, Project, Slice, TriplePattern, Union, Values
from scepter.algebra.walk import find


def asks_time(pattern: Pattern) -> bool:
    """Whether an expression asks for the time of a triple."""
    return any(call.function == "TIMESTAMP" for call in find(pattern, Call))


def can_repeat(pattern: Pattern) -> bool:
    """Whether two choices of occurrences can make the same match: two triple patterns that one triple matches, a UNION, inline
    data, or rows that are alike once a sub-SELECT has hidden some variables."""
    if any(next(find(pattern, kind), None) is not None for kind in (Union, Values, Project)):
        return True
    return overlapping(list(find(pattern, TriplePattern)))


def overlapping(triples: Sequence[TriplePattern]) -> bool:
    """Whether one triple may match two of some patterns."""
    return any(one.overlaps(other) for one, other in combinations(triples, 2))


def is_monotone(pattern: Pattern) -> bool:
    """Whether a later triple of the same time can only add matches."""
    kinds = (LeftJoin, Minus, Exists, Slice)
    return pattern == EMPTY or not any(next(find(pattern, kind), None) is not None for kind in kinds)
