"""Operators on rows that have a time or none: filters and values that ask when, sets, names, and what is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.condition.time_terms import time_term, time_values
from scepter.kernel.encoding import encoded
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.row.told import ToldBefore
from scepter.kernel.rows import (
    NO_LINEAGE,
    Rows,
    filled,
)
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes import nodes, time_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey
from scepter.timeline import TimeKind


class Filter(Stateless):
    """Keeps the rows that meet conditions, which may ask when they happened."""

    def __init__(self, node: nodes.Filter | time_nodes.TimeFilter, conditions: TimeConditions) -> None:
        self.schema: Schema = node.schema
        self._conditions = conditions

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        if not len(rows):
            return rows
        kept = self._conditions.holds(rows)
        return rows if bool(kept.all()) else rows.take(kept)


class Once(Stateless):
    """Each mapping and interval once."""

    def __init__(self, node: time_nodes.Once) -> None:
        self.schema: Schema = node.schema
        self._told = ToldBefore()

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Equal rows have equal ends: they come in one call, or while their instant is open."""
        (rows,) = inputs
        return self._told.solutions(each_once(rows), until)

    def undo(self) -> None:
        """The instant is done anew."""
        self._told.forget()


class TimeValues(Stateless):
    """Adds time functions as terms, made once for each different value."""

    def __init__(self, node: time_nodes.TimeValues, kind: TimeKind, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._functions = node.functions
        self._kind, self._key, self._texts = kind, key, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with a column for each function."""
        (rows,) = inputs
        width = rows.width
        wide = rows.columns((*range(width), *(-1 for _ in self._functions)))
        timed = np.flatnonzero(rows.start <= rows.end)
        for column, function in enumerate(self._functions, width):
            different, where = np.unique(time_values(function, rows.start[timed], rows.end[timed]), return_inverse=True)
            terms = [time_term(function, value, self._kind) for value in different.tolist()]
            wide.mappings.put(column, encoded(terms, self._key, self._texts).take(where), timed)
        return wide


class Answers(Stateless):
    """The rows that have a time, with the columns that are shown."""

    def __init__(self, node: time_nodes.Answers) -> None:
        self.schema: Schema = node.schema
        given = node.input.schema
        self._told = None if node.once is None else given.columns(node.once)
        self._columns = (given if node.once is None else Schema(node.once)).columns(node.variables)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """What static triples give alone is no match."""
        (rows,) = inputs
        timed = rows.start <= rows.end
        rows = rows if bool(timed.all()) else rows.take(timed)
        if self._told is not None:
            # occurrences are told for policies, and not shown
            rows = each_once(rows.columns(self._told).replace(lineage=filled(len(rows), NO_LINEAGE)))
        return rows.columns(self._columns)
