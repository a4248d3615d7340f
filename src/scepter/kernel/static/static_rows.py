"""Leaves that are known before any event: inline data, static triples, solutions of a pattern over them. None has a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import BGP, PathPattern, TriplePattern
from scepter.kernel.encoding import encoded
from scepter.kernel.rows import (
    ALWAYS,
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
from scepter.physical.nodes import time_nodes
from scepter.physical.nodes.window_nodes import Fixed
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term
from scepter.rdf.values import to_literal

_Mappings: TypeAlias = tuple[UInt64, Int64, Float64, Int8]


class Timeless:
    """Leaves without a time. Their rows come before everything: the engine has them from the start."""

    def __init__(self, widths: Sequence[int]) -> None:
        self._widths = widths

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        return [empty(width) for width in self._widths]


def inline_rows(node: time_nodes.Inline, key: TermKey, texts: Texts) -> Rows:
    """Inline data: it needs no triple."""
    rows = _timeless(_columns(node.rows, len(node.names), key, texts))
    return rows.valid(rows.since, np.full(len(rows), ALWAYS))


def fixed_rows(node: Fixed, graph: Graph, key: TermKey, texts: Texts) -> Rows:
    """Rows that are there for ever, as bags: VALUES, or the triples of a pattern."""
    if node.triple is not None:
        return _triple_rows(node.triple, node.variables, graph, key, texts)
    return _timeless(_columns(node.rows, len(node.variables), key, texts))


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
    nodes = triple.places
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
