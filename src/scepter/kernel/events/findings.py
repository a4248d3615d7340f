"""What was found of each shape of items, in columns, and the same told of items that have the shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scepter.kernel.events.assertion_sets import AssertionSets, Cells
from scepter.kernel.events.item_shapes import Shapes
from scepter.kernel.rows import Int64, spread
from scepter.ontology.assertions import RDF_TYPE
from scepter.ontology.reasoner import Inference
from scepter.rdf.terms import IRI, Term, Triple

CONFLICT = -1
"""The event of a finding that is a contradiction."""


class ItemRows(NamedTuple):
    """Where the triples of items are: per item the row of its first used triple in the sets, and how many there are."""

    own: Int64
    sizes: Int64
    static: int
    """The row of the first static assertion that shapes count."""


class Found(NamedTuple):
    """Findings in columns."""

    item: Int64
    """Which of the items asked for."""
    event: Int64
    """Its number, or CONFLICT."""
    individual: Int64
    """The member of a set that has it."""
    position: Int64
    """And where in that triple."""
    cells: Cells


class Findings:
    """By shape. Codes of members: a place among an item's own used triples, then the static ones around it; below zero a static
    member, as `AssertionSets` has it."""

    def __init__(self, events: Sequence[IRI], sets: AssertionSets) -> None:
        self._events = {event: number for number, event in enumerate(events)}
        self._sets = sets
        self._numbers: dict[int, int] = {}
        self._first: list[int] = [0]
        self._found: list[tuple[int, int, int]] = []
        """(event, code of the individual's triple, position)."""
        self._begin: list[int] = [0]
        self._codes: list[int] = []
        self._arrays: tuple[Int64, Int64, Int64, Int64] | None = None
        """The four lists as arrays, until there is something new."""

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: int) -> bool:
        return key in self._numbers

    def add(self, key: int, triples: Sequence[Triple], inference: Inference) -> None:
        """What was found of a shape, by an item's own triples and the static ones around it."""
        places = {triple: place for place, triple in reversed(list(enumerate(triples)))}
        for event, individual, justification in inference.found:
            self._add(self._events[event], *self._place(event, individual, triples), justification, places)
        if inference.conflict is not None:
            self._add(CONFLICT, 0, 0, inference.conflict, places)
        self._numbers[key] = len(self._first) - 1
        self._first.append(len(self._found))
        self._arrays = None

    def _add(self, event: int, code: int, position: int, justification: frozenset[Triple], places: dict[Triple, int]) -> None:
        self._found.append((event, code, position))
        self._codes += [places[triple] for triple in justification if triple in places]
        if others := [triple for triple in justification if triple not in places]:
            self._codes += self._sets.static(others).tolist()
        self._begin.append(len(self._codes))

    def _place(self, event: IRI, individual: Term, triples: Sequence[Triple]) -> tuple[int, int]:
        for place, triple in enumerate(triples):
            for position in (0, 2):
                if triple[position] == individual:
                    return place, position
        return int(self._sets.static([Triple(individual, RDF_TYPE, event)])[0]), 0

    def of(self, shapes: Shapes, items: ItemRows) -> Found:
        """The findings of items."""
        if self._arrays is None:
            first, begin, codes = (np.array(each, np.int64) for each in (self._first, self._begin, self._codes))
            self._arrays = first, begin, codes, np.array(self._found, np.int64).reshape(-1, 3)
        first, begin, every_code, every_found = self._arrays
        numbers = np.fromiter(map(self._numbers.__getitem__, shapes.keys.tolist()), np.int64, len(shapes.keys))
        item, within = spread(first[numbers + 1] - first[numbers])
        finding = first[numbers][item] + within
        table = every_found[finding]
        counts = begin[finding + 1] - begin[finding]
        row, within = spread(counts)
        codes = every_code[begin[finding][row] + within]
        cells = self._sets.made(counts, _members(codes, item[row], shapes, items))
        return Found(item, table[:, 0], _members(table[:, 1], item, shapes, items), table[:, 2], cells)


def _members(codes: Int64, item: Int64, shapes: Shapes, items: ItemRows) -> Int64:
    """From codes to members of sets."""
    count = items.sizes[item]
    found = np.where(codes < 0, codes, items.own[item] + codes)
    around = np.flatnonzero(codes >= count)
    rows = shapes.rows[shapes.first[item[around]] + codes[around] - count[around]]
    found[around] = -1 - items.static - rows
    return found
