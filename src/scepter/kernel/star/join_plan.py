"""How a basic graph pattern is joined: for each pattern that something new matches, the order of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.rows import Int8, Int64

_WEIGHTS = (4, 1, 3)
"""How much a known subject, predicate and object leave to chance."""


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """The joins of a pattern as numbers."""

    names: tuple[str, ...]
    """The variables, by number."""
    variables: Int64
    """[pattern, position]: the variable there, or -1."""
    steps: Int64
    """[pattern that is new, step]: the pattern joined, and the index that is asked."""
    at_once: Int8
    """[pattern that is new, step]: whether what is new tells all that the step asks by."""
    index_bits: Int64
    """Per index: the positions it is asked by, as bits."""
    links: Int64
    """Per index: the column of an occurrence's links that is its own; indexes that no occurrence stands in together share
    one."""
    index_first: Int64
    """Per pattern: its first index; those of a pattern follow one another."""
    origins: tuple[tuple[int, int], ...]
    """Per variable: a pattern and position where it stands, as object if possible: only objects carry numbers."""

    def shown(self) -> NDArray[np.bool_]:
        """[pattern, position]: whether a variable's term is taken from there."""
        found = np.zeros(self.variables.shape, np.bool_)
        for pattern, position in self.origins:
            found[pattern, position] = True
        return found


def plan_joins(triples: Sequence[TriplePattern], static: Sequence[int]) -> JoinPlan:
    """For triple patterns and how many static triples match each."""
    names = tuple(dict.fromkeys(n.name for t in triples for n in t.places if isinstance(n, Variable)))
    number = {name: i for i, name in enumerate(names)}
    variables = np.array([[number[n.name] if isinstance(n, Variable) else -1 for n in t.places] for t in triples], np.int64)
    orders = [_order(pivot, variables, static) for pivot in range(len(triples))]
    asked = sorted({(pattern, bits) for order in orders for pattern, bits in order})
    index = {key: i for i, key in enumerate(asked)}
    steps = np.array([[(p, index[p, bits]) for p, bits in order] for order in orders], np.int64)
    first = np.searchsorted([pattern for pattern, _ in asked], np.arange(len(triples) + 1))
    places = [(i, j) for j in (2, 0, 1) for i in range(len(triples))]
    origins = tuple(next((i, j) for i, j in places if variables[i, j] == v) for v in range(len(names)))
    own = [{v for v in row if v >= 0} for row in variables.tolist()]
    told = [[_asked_by(variables[p].tolist(), bits) <= own[pivot] for p, bits in order] for pivot, order in enumerate(orders)]
    return JoinPlan(
        names,
        variables,
        steps.reshape(len(triples), -1, 2),
        np.array(told, np.int8).reshape(len(triples), -1),
        np.array([bits for _, bits in asked], np.int64),
        _links(triples, first),
        first,
        origins,
    )


def _links(triples: Sequence[TriplePattern], first: Int64) -> Int64:
    """For each index in turn, behind those of the patterns before that an occurrence may match as well."""
    ends: list[int] = []
    found: list[int] = []
    for number, triple in enumerate(triples):
        begin = max((end for end, other in zip(ends, triples, strict=False) if triple.overlaps(other)), default=0)
        ends.append(begin + int(first[number + 1] - first[number]))
        found += range(begin, ends[-1])
    return np.array(found, np.int64)


def _asked_by(variables: list[int], bits: int) -> set[int]:
    return {v for position, v in enumerate(variables) if bits >> position & 1}


def _order(pivot: int, variables: Int64, static: Sequence[int]) -> list[tuple[int, int]]:
    """The other patterns, each with the positions known when its turn comes: what shares a variable first, then what leaves
    least to chance, then what has fewer static triples."""
    known = {v for v in variables[pivot].tolist() if v >= 0}
    left = [i for i in range(len(variables)) if i != pivot]
    order: list[tuple[int, int]] = []
    while left:
        best = max(left, key=lambda i: (*_weight(variables[i].tolist(), known), -static[i], -i))
        left.remove(best)
        order.append((best, sum(1 << j for j, v in enumerate(variables[best].tolist()) if v in known)))
        known |= {v for v in variables[best].tolist() if v >= 0}
    return order


def _weight(variables: list[int], known: set[int]) -> tuple[bool, int]:
    connected = all(v < 0 for v in variables) or any(v in known for v in variables)
    return connected, sum(w for v, w in zip(variables, _WEIGHTS, strict=True) if v < 0 or v in known)
