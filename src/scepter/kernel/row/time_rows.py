"""Operators on rows that have a time or none: filters and values that ask when, sets, names, and what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import BGP, PathPattern, TriplePattern
from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.condition.time_terms import time_term, time_values
from scepter.kernel.encoding import encoded
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import (
    ALWAYS,
    COLUMNS,
    NO_LINEAGE,
    TIMELESS,
    Float64,
    Int8,
    Int64,
    Mask,
    Rows,
    UInt64,
    empty,
    lasting,
    mappings,
)
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Graph
from scepter.kernel.sparql.patterns import compile_pattern, solutions
from scepter.kernel.static.graph_columns import graph_columns
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import each_once
from scepter.physical import time_nodes
from scepter.physical.nodes import Schema
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term
from scepter.rdf.values import to_literal
from scepter.timeline import TimeKind

_Mappings: TypeAlias = tuple[UInt64, Int64, Float64, Int8]


class TimeFilter(Stateless):
    """Keeps the rows that meet conditions which may ask when they happened."""

    def __init__(self, node: time_nodes.TimeFilter, conditions: TimeConditions) -> None:
        self.schema: Schema = node.schema
        self._conditions = conditions

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows kept."""
        (rows,) = inputs
        if not len(rows):
            return rows
        kept = self._conditions.holds(rows)
        return rows if bool(kept.all()) else rows.take(kept)


class Once(Stateless):
    """Each mapping and interval once."""

    def __init__(self, node: time_nodes.Once) -> None:
        self.schema: Schema = node.schema

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Equal rows have equal ends: they come in one call."""
        (rows,) = inputs
        return each_once(rows)


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
            ids, refs, number, scale = encoded(terms, self._key, self._texts)
            wide.ids[timed, column], wide.refs[timed, column] = ids[where], refs[where]
            wide.number[timed, column], wide.scale[timed, column] = number[where], scale[where]
        return wide


class Rename(Stateless):
    """The same rows."""

    def __init__(self, node: time_nodes.Rename) -> None:
        self.schema: Schema = node.schema

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """As they are."""
        (rows,) = inputs
        return rows


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
            rows = each_once(_without_lineage(rows.columns(self._told)))
        return rows.columns(self._columns)


def _without_lineage(rows: Rows) -> Rows:
    """Occurrences are told for policies, and not shown."""
    return Rows(*(getattr(rows, name) for name in COLUMNS[:-1]), np.full(len(rows), NO_LINEAGE))  # type: ignore[call-arg]


class Timeless:
    """Leaves without a time. Their rows come before everything: the engine has them from the start."""

    def __init__(self, widths: Sequence[int]) -> None:
        self._widths = widths

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Events add nothing."""
        return [empty(width) for width in self._widths]


def inline_rows(node: time_nodes.Inline, key: TermKey, texts: Texts) -> Rows:
    """Inline data: it needs no triple."""
    rows = _timeless(_columns(node.rows, len(node.names), key, texts))
    return rows.valid(rows.since, np.full(len(rows), ALWAYS))


def static_rows(node: time_nodes.StaticScan, graph: Graph, context: Context, key: TermKey, texts: Texts) -> Rows:
    """The solutions of a pattern over static triples; a single triple pattern is matched in columns."""
    pattern = node.pattern
    if isinstance(pattern, BGP) and len(pattern.triples) == 1 and node.numbered is None:
        return each_once(_triple_rows(pattern.triples[0], node.schema.variables, graph, key, texts))
    names = node.schema.variables if node.numbered is None else node.schema.variables[:-1]
    found = [tuple(row.get(name) for name in names) for row in compile_pattern(pattern)(context)]
    if node.numbered is not None:
        found = [(*row, to_literal(number)) for number, row in enumerate(found)]
    rows = _timeless(_columns(found, len(node.schema.variables), key, texts))
    if isinstance(pattern, PathPattern):  # what is reached in no step, from a term of the query, needs no triple
        always = {tuple(row.get(name) for name in names) for row in solutions(pattern, EMPTY_GRAPH)}
        needs_none = np.array([row[: len(names)] in always for row in found], np.bool_)
        rows = rows.valid(rows.since, np.where(needs_none, ALWAYS, rows.until))
    return each_once(rows)


def _triple_rows(triple: TriplePattern, names: Sequence[str], graph: Graph, key: TermKey, texts: Texts) -> Rows:
    columns = graph_columns(graph, key, texts, (triple,))
    nodes = (triple.subject, triple.predicate, triple.object)
    kept = np.ones(len(columns), np.bool_)
    places: dict[str, int] = {}
    for position, node in enumerate(nodes):
        if not isinstance(node, Variable):
            kept &= columns.ids[:, position] == np.uint64(term_id(key, str(node.term)))
        elif node.name in places:
            kept &= columns.ids[:, position] == columns.ids[:, places[node.name]]
        places |= {node.name: position} if isinstance(node, Variable) else {}
    at = np.flatnonzero(kept)
    ids, refs, number, scale = mappings(len(at), len(names))
    for column, name in enumerate(names):
        ids[:, column], refs[:, column] = columns.ids[at, places[name]], columns.refs[at, places[name]]
        if places[name] == 2:
            number[:, column], scale[:, column] = columns.number[at], columns.scale[at]
    return _timeless((ids, refs, number, scale))


def _columns(rows: Sequence[tuple[Term | None, ...]], width: int, key: TermKey, texts: Texts) -> _Mappings:
    ids, refs, number, scale = mappings(len(rows), width)
    for column in range(width):
        made = encoded([row[column] for row in rows], key, texts)
        ids[:, column], refs[:, column], number[:, column], scale[:, column] = made
    return ids, refs, number, scale


def _timeless(columns: _Mappings) -> Rows:
    count = len(columns[0])
    start, end = (np.full(count, time) for time in TIMELESS)
    return Rows(*columns, start, end, *lasting(count), np.full(count, NO_LINEAGE))
