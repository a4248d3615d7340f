"""Results as Spark sees them: the schema, and matches as Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from scepter.algebra.events import Form
from scepter.rdf.packed import Packed
from scepter.rdf.terms import Term
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Graphs, Spelt
from scepter.runtime.matches import Batch, Match, MatchBatch, MatchRows, MixedRows
from scepter.runtime.queries import Query
from scepter.runtime.spark.event_rows import TRIPLE, arrow_of
from scepter.runtime.spark.terms import TERM as _ARROW_TERM
from scepter.runtime.spark.terms import term_struct, term_structs
from scepter.timeline import TimeKind

TERM = StructType([StructField(name, StringType()) for name in ("type", "value", "datatype", "lang")])
EVENTS = MapType(StringType(), ArrayType(StringType()))
QUERY, PARTS = "_query", "_events"
"""Columns that only the command line looks at."""
WHY = "why"
_OWN = frozenset({QUERY, PARTS, WHY, "start", "end", "graph", "boolean", "event", "individual"})
_ROWS = 65_536
_BYTES = 64 << 20
"""So many bytes of graphs go into a record batch: Arrow's strings end at 2 GB."""
_Columns = (MatchBatch, EventMatches)

_ARROW_TRIPLES = pa.list_(pa.struct([(name, pa.string()) for name in ("s", "p", "o")]))


def result_schema(query: Query, kind: TimeKind, *, parts: bool = True, why: bool = False) -> StructType:
    """start, end, then a column per variable, or graph (with event and individual for occurrences), or boolean; `why`: what
    an occurrence rests on, as JSON; `parts`: the events that each part selected."""
    return _schema(query.variables, query.constructs, query.asks, kind, query.occurrences, parts=parts, why=why)


def graph_schema(kind: TimeKind) -> StructType:
    """What is constructed, and by which query."""
    return _schema((), True, False, kind, parts=False)


def arrow_schema(
    variables: Sequence[str], graphs: bool, booleans: bool, kind: TimeKind, occurrences: bool = False, **told: bool
) -> pa.Schema:
    """The same for Arrow."""
    return arrow_of(_schema(variables, graphs, booleans, kind, occurrences, **told))


def _schema(
    variables: Sequence[str], graphs: bool, booleans: bool, kind: TimeKind, occurrences: bool = False, *,
    parts: bool = True, why: bool = False,
) -> StructType:  # fmt: skip
    time: DataType = LongType() if kind is TimeKind.INTEGER else TimestampType()
    fields = [StructField(QUERY, IntegerType()), StructField("start", time), StructField("end", time)]
    fields += [StructField(column_of(name), TERM) for name in variables]
    if graphs:
        fields.append(StructField("graph", ArrayType(TRIPLE)))
    if booleans:
        fields.append(StructField("boolean", BooleanType()))
    if occurrences:
        fields += [StructField("event", StringType()), StructField("individual", StringType())]
    if why:
        fields.append(StructField(WHY, StringType()))
    return StructType([*fields, StructField(PARTS, EVENTS)] if parts else fields)


def column_of(variable: str) -> str:
    """The column of a variable. One that has the name of another column keeps its question mark, as in CSV.

    >>> column_of("x"), column_of("end")
    ('x', '?end')
    """
    return f"?{variable}" if variable in _OWN else variable


def match_table(matches: Iterable[Match], schema: pa.Schema, most: int = _ROWS) -> Iterator[pa.RecordBatch]:
    """Matches in record batches of at most so many rows. What is in columns stays in columns: no match is made of it."""
    if isinstance(matches, MixedRows) and all(_in_columns(part.batch, schema) for part in matches.parts):
        for number, part in enumerate(matches.parts):
            yield from match_table(MatchRows(part.batch, matches.place[matches.which == number]), schema, most)
        return
    if isinstance(matches, MatchRows) and isinstance(matches.batch, _Columns) and _in_columns(matches.batch, schema):
        rows = matches.rows
        for at in range(0, len(rows), most):
            yield from _columns(matches.batch, rows[at : at + most], schema)
        return
    rest = iter(matches)
    while some := list(islice(rest, most)):
        yield _record_batch(some, schema)


def _in_columns(batch: Batch, schema: pa.Schema) -> bool:
    """Whether a row is its times and the terms, or the graph, in its columns."""
    if isinstance(batch, EventMatches):
        return batch.told is None
    return isinstance(batch, MatchBatch) and not batch.asks and PARTS not in schema.names


def _columns(batch: MatchBatch | EventMatches, rows: NDArray[np.int64], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    made: dict[str, pa.Array] = {
        QUERY: pa.repeat(pa.scalar(batch.query, pa.int32()), len(rows)),
        "start": pa.array(batch.start[rows]),
        "end": pa.array(batch.end[rows]),
    }
    if isinstance(batch, EventMatches):
        made[PARTS] = _events([{}] * len(rows))
        graphs, individuals = batch.occurrences(rows)
        if batch.form is not Form.RDF_STREAM:
            events = pa.array([str(event) for event in batch.returned])
            made |= {"event": events.take(pa.array(batch.event[rows])), "individual": _strings(Spelt.of(individuals).texts)}
    elif batch.constructs:
        graphs = batch.graphs(rows)
    else:
        graphs = None
        for column, name in enumerate(batch.names):
            made[column_of(name)] = term_structs(batch.ids[rows, column], batch.refs[rows, column], batch.texts)
    if graphs is not None:
        if graphs.bytes() > _BYTES and len(rows) > 1:
            half = len(rows) // 2
            yield from _columns(batch, rows[:half], schema)
            yield from _columns(batch, rows[half:], schema)
            return
        made["graph"] = _lists(graphs)
    # what is not there is of another query of the file
    columns = [made[f.name].cast(f.type) if f.name in made else pa.nulls(len(rows), f.type) for f in schema]
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _strings(texts: Packed) -> pa.Array:
    starts, data = map(pa.py_buffer, texts)
    return pa.LargeStringArray.from_buffers(len(texts), starts, data).cast(pa.string())


def _lists(graphs: Graphs) -> pa.Array:
    """The triples of each row, from one struct for each different triple."""
    terms = _strings(graphs.spelt.texts)
    columns = [terms.take(pa.array(graphs.terms[:, position])) for position in range(3)]
    different = pa.StructArray.from_arrays(columns, fields=list(_ARROW_TRIPLES.value_type))
    return pa.ListArray.from_arrays(pa.array(graphs.first.astype(np.int32)), different.take(pa.array(graphs.triple)))


def _record_batch(matches: list[Match], schema: pa.Schema) -> pa.RecordBatch:
    bindings = [match.bindings for match in matches]
    columns: list[pa.Array] = []
    for field in schema:
        match field.name:
            case "_query":
                column = pa.array([match.query for match in matches], field.type)
            case "_events":
                column = _events([match.events for match in matches])
            case "boolean" if field.type == pa.bool_():
                column = pa.array([match.boolean for match in matches], field.type)
            case "graph" if field.type == _ARROW_TRIPLES:
                column = pa.array([_graph(match) for match in matches], field.type)
            case name if field.type == _ARROW_TERM:
                column = _terms([row.get(name.removeprefix("?")) for row in bindings])
            case "event" | "individual" as name:
                place = ("event", "individual").index(name)
                found = [match.occurrence for match in matches]
                column = pa.array([None if each is None else str(each[place]) for each in found], field.type)
            case "why":
                column = pa.array([_why(match) for match in matches], field.type)
            case "start":
                column = pa.array([match.start for match in matches], field.type)
            case _:
                column = pa.array([match.end for match in matches], field.type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _terms(terms: list[Term | None]) -> pa.Array:
    """Terms as structs, each distinct one made once: equal terms of a run are mostly one object."""
    places: dict[int, int] = {}
    distinct: list[dict[str, str | None]] = []
    rows: list[int | None] = []
    for term in terms:
        if term is None:
            rows.append(None)
            continue
        place = places.setdefault(id(term), len(distinct))
        if place == len(distinct):
            distinct.append(term_struct(term))
        rows.append(place)
    return pa.array(distinct, _ARROW_TERM).take(pa.array(rows, pa.int32()))


def _events(selected: list[dict[str, list[object]]]) -> pa.Array:
    parts: list[str] = []
    names: list[str] = []
    maps, lists = [0], [0]
    for events in selected:
        for part, chosen in events.items():
            parts.append(part)
            names += [str(event) for event in chosen]
            lists.append(len(names))
        maps.append(len(parts))
    items = pa.ListArray.from_arrays(pa.array(lists, pa.int32()), pa.array(names, pa.string()))
    return pa.MapArray.from_arrays(pa.array(maps, pa.int32()), pa.array(parts, pa.string()), items)


def _why(match: Match) -> str | None:
    return None if match.why is None else json.dumps(match.why.record(), ensure_ascii=False)


def _graph(match: Match) -> list[dict[str, str]] | None:
    if match.graph is None:
        return None
    return [{"s": str(t.subject), "p": str(t.predicate), "o": str(t.object)} for t in match.graph]
