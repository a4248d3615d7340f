"""Minimal justifications: sets of triples, none within another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias, TypeVar

from scepter.rdf.terms import Triple

Justification: TypeAlias = frozenset[Triple]
NEEDS_NOTHING: Justification = frozenset()
_T = TypeVar("_T")


class Antichain:
    """Sets of which none is within another; a set that arrives drives out those around it.

    >>> chain = Antichain()
    >>> chain.add(frozenset("ab")), chain.add(frozenset("a")), chain.add(frozenset("ac"))
    (True, True, False)
    >>> list(chain)
    [frozenset({'a'})]
    """

    __slots__ = ("_sets",)

    def __init__(self, sets: Iterable[Justification] = ()) -> None:
        self._sets: list[Justification] = []
        for each in sets:
            self.add(each)

    def add(self, candidate: Justification) -> bool:
        """Take a set unless one within it is there already."""
        if self.covers(candidate):
            return False
        self._sets = [each for each in self._sets if not candidate <= each]
        self._sets.append(candidate)
        return True

    def covers(self, candidate: Justification) -> bool:
        """Whether a set within the candidate, or the candidate itself, is there."""
        return any(each <= candidate for each in self._sets)

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._sets

    def __iter__(self) -> Iterator[Justification]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)


def unions(parts: Sequence[Sequence[Justification]]) -> Iterator[Justification]:
    """One set of each part, united, in every combination."""
    if len(parts) == 1:
        yield from parts[0]
        return
    for chosen in product(*parts):
        yield NEEDS_NOTHING.union(*chosen)


def minimal(candidates: Sequence[_T], enough: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """One minimal part of the candidates that is enough, in their order, given that all together are.

    Halves are tried before single ones, so that a small part among many takes few questions (Junker's QuickXplain).

    >>> minimal(range(100), lambda some: {7, 42} <= set(some))
    [7, 42]
    """

    def search(given: list[_T], rest: Sequence[_T], changed: bool) -> list[_T]:
        if changed and enough(given):
            return []
        if len(rest) == 1:
            return [rest[0]]
        middle = len(rest) // 2
        second = search([*given, *rest[:middle]], rest[middle:], True)
        return [*search([*given, *second], rest[:middle], bool(second)), *second]

    return search([], candidates, True) if len(candidates) else []
