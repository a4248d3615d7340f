"""Of what occurrences were made, for those who ask why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64
from scepter.rdf.terms import IRI, Term, Triple, parse_term

Assertions = frozenset[Triple]
OCCURRENCE = "urn:scepter:occurrence:"
"""How the individuals of composite events' occurrences begin."""
Told = dict[str, list[Any]]
"""Parts as they are written, by number: event, individual, triples, interval, and their own parts."""


class Part(NamedTuple):
    """An event's occurrence, and the parts that its pattern was made of."""

    event: IRI
    individual: Term
    assertions: Assertions
    start: int
    end: int
    parts: tuple[Part, ...] = ()


class Parts:
    """Parts by number: the events of a lineage's leaves, where rows tell what they were made of."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._known: dict[int, Part] = {}
        self._next = 0

    def leaves(self, parts: Iterable[Part]) -> Int64:
        """The lineage of rows that are parts."""
        numbers = []
        for part in parts:
            self._known[self._next] = part
            numbers.append(self._next)
            self._next += 1
        return self._lineage.leaves(0, np.array(numbers, np.int64), np.full(len(numbers), -1, np.int64))

    def of(self, node: int) -> tuple[Part, ...]:
        """The parts of a row, from left to right."""
        return tuple(self._known[number] for _, number, _ in self._lineage.selected(node))

    def written(self, numbers: Iterable[int]) -> Told:
        """Some parts as they are sent or written down, by number."""
        return {str(number): _written(self._known[number]) for number in numbers}

    def read(self, told: Told) -> dict[int, int]:
        """Take over what `written` gave, each part under a number of its own: from numbers there to those here."""
        moved = dict(zip(map(int, told), range(self._next, self._next + len(told)), strict=True))
        self._known |= {moved[int(number)]: _read(part) for number, part in told.items()}
        self._next += len(told)
        return moved

    def load(self, told: Told) -> None:
        """Take over what `written` gave, as it was numbered."""
        self._known = {int(number): _read(part) for number, part in told.items()}
        self._next = max(self._known, default=-1) + 1

    def prune(self) -> None:
        """Let go of those that no lineage has."""
        live = set(self._lineage.events().tolist())
        self._known = {number: part for number, part in self._known.items() if number in live}


def _written(part: Part) -> list[Any]:
    asserted = [[*map(str, triple)] for triple in part.assertions]
    return [str(part.event), str(part.individual), asserted, part.start, part.end, [*map(_written, part.parts)]]


def _read(told: list[Any]) -> Part:
    event, individual, asserted, start, end, parts = told
    known = parse_term(event)
    assert isinstance(known, IRI)
    assertions = frozenset(Triple(*map(parse_term, triple)) for triple in asserted)
    return Part(known, parse_term(individual), assertions, start, end, tuple(map(_read, parts)))


def individual_of(event: IRI, start: int, end: int, assertions: Assertions) -> IRI:
    """The individual of a composite event's occurrence: determined by the event, the interval and the assertions (rule 2)."""
    text = "\n".join((event.value, str(start), str(end), *_spelled(assertions)))
    return IRI(f"{OCCURRENCE}{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}")


@lru_cache(maxsize=65_536)
def _spelled(assertions: Assertions) -> list[str]:
    """The triples' text, sorted; the same justifications come again and again."""
    return sorted(" ".join(map(str, triple)) for triple in assertions)
