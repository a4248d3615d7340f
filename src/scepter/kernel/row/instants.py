"""Operators that look at instants: what holds at each of them, what is answered at the first, order and slices of one end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from scepter.kernel.encoding import decoded
from scepter.kernel.operator import ByRows, Stateless, Until
from scepter.kernel.rows import ALWAYS, Int64, Mask, Rows, concat, empty, lasting, lasting_rows, mappings
from scepter.kernel.scan.intake import Intake
from scepter.kernel.state.state_parts import InParts, KeptRows
from scepter.kernel.texts import Texts
from scepter.physical.nodes import instant_nodes, time_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.terms import Term
from scepter.rdf.values import order_key


class InstantLeaves:
    """An empty row at the end of each event, one for those that end together."""

    def __init__(self, count: int) -> None:
        self._count = count

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        ends = np.unique(intake.batch.end[wanted])
        return [lasting_rows(mappings(len(ends), 0), ends, ends)] * self._count


class _AtInstants(ByRows, InParts):
    """Holds the rows of its input that have no time; they come before everything."""

    def __init__(self, node: time_nodes.EveryInstant | time_nodes.AnsweredOnce) -> None:
        self.schema: Schema = node.schema
        self._kept = KeptRows(len(node.schema.variables))
        self._parts = {"": self._kept}

    def _placed(self, ends: Int64) -> Rows:
        """The held rows at each of some instants: fleeting, told by the validity of their instant alone."""
        held = self._kept.value.take(np.tile(np.arange(len(self._kept.value)), len(ends)))
        when = np.repeat(ends, len(self._kept.value))
        return held.during(when, when).valid(when, np.full(len(when), lasting(1)[1][0]))

    def state_rows(self) -> Mapping[str, int]:
        return {}


class EveryInstant(_AtInstants):
    """Passes rows on; those that need no triple come at each instant instead."""

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """What ends, and what always holds, at each instant."""
        rows, instants = inputs
        always = (rows.start > rows.end) & (rows.until == ALWAYS)
        if always.any():
            self._kept.value = concat([self._kept.value, rows.take(always)], rows.width)
            rows = rows.take(~always)
        if not len(self._kept.value) or not len(instants):
            return rows
        return concat([rows, self._placed(np.unique(instants.end))], rows.width).by_end()


class AnsweredOnce(_AtInstants):
    """Gives its rows at the first instant there is, then nothing more."""

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        rows, instants = inputs
        self._kept.value = concat([self._kept.value, rows], rows.width)
        if not len(instants):
            return empty(rows.width)
        found = self._placed(instants.end[:1])
        self._kept.value = empty(rows.width)
        return found


class Ordered(Stateless):
    """Sorts the rows of each end by the values of some variables."""

    def __init__(self, node: instant_nodes.Ordered, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._keys = node.keys
        self._texts = texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The same rows; equal ones in the order of results."""
        (rows,) = inputs
        return rows.take(np.concatenate([_NONE, *(self._sorted(rows, low, high) for low, high in stretches(rows.end))]))

    def _sorted(self, rows: Rows, low: int, high: int) -> Int64:
        names = self.schema.variables
        found = in_order(rows, names, low, high, self._texts)
        terms = {row: decoded(rows, names, row, self._texts) for row in found}
        for name, descending in reversed(self._keys):  # stable, so the first condition is sorted by last
            keys = {row: order_key(terms[row].get(name)) for row in found}
            found.sort(key=keys.__getitem__, reverse=descending)
        return np.array(found, np.int64)


class Sliced(Stateless):
    """Takes a slice of the rows of each end."""

    def __init__(self, node: instant_nodes.Sliced, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._slice = slice(node.offset, None if node.limit is None else node.offset + node.limit)
        self._ordered = node.ordered
        self._texts = texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        found = [_NONE]
        for low, high in stretches(rows.end):
            places = [*range(low, high)] if self._ordered else in_order(rows, self.schema.variables, low, high, self._texts)
            found.append(np.array(places[self._slice], np.int64))
        return rows.take(np.concatenate(found))


_NONE = np.empty(0, np.int64)


def stretches(ends: Int64) -> list[tuple[int, int]]:
    """From where to where rows in order of end end together.

    >>> stretches(np.array([1, 1, 4]))
    [(0, 2), (2, 3)]
    """
    edges = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(ends)]
    return list(pairwise(edges)) if len(ends) else []


def in_order(rows: Rows, names: Sequence[str], low: int, high: int, texts: Texts) -> list[int]:
    """Rows in the order of results: by start, by what can be seen, by what cannot."""
    if high - low < 2:
        return [*range(low, high)]
    return sorted(range(low, high), key=lambda row: result_order(int(rows.start[row]), decoded(rows, names, row, texts)))


def result_order(start: int, row: Mapping[str, Term]) -> tuple[int, list[tuple[str, str]], list[tuple[str, str]]]:
    """What rows of one end are ordered by."""
    shown = sorted((name, str(term)) for name, term in row.items() if not name.startswith("_:"))
    hidden = sorted((name, str(term)) for name, term in row.items() if name.startswith("_:"))
    return start, shown, hidden
