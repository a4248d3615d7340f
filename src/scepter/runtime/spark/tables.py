"""Results as Spark sees them: the schema, and matches as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
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

from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.runtime.matches import Match
from scepter.runtime.queries import Query
from scepter.timeline import TimeKind

TERM = StructType([StructField(name, StringType()) for name in ("type", "value", "datatype", "lang")])
TRIPLES = ArrayType(StructType([StructField(name, StringType()) for name in ("s", "p", "o")]))
EVENTS = MapType(StringType(), ArrayType(StringType()))
QUERY, PARTS = "_query", "_events"
"""Columns that only the command line looks at."""
_ROWS = 10_000

_ARROW_TERM = pa.struct([(name, pa.string()) for name in ("type", "value", "datatype", "lang")])
_ARROW_TRIPLES = pa.list_(pa.struct([(name, pa.string()) for name in ("s", "p", "o")]))


def result_schema(query: Query, kind: TimeKind) -> StructType:
    """start, end, then a column per variable, or graph (with event and individual for occurrences), or boolean."""
    time: DataType = LongType() if kind is TimeKind.INTEGER else TimestampType()
    fields = [StructField(QUERY, IntegerType()), StructField("start", time), StructField("end", time)]
    fields += [StructField(name, TERM) for name in query.variables]
    if query.constructs:
        fields.append(StructField("graph", TRIPLES))
    if query.asks:
        fields.append(StructField("boolean", BooleanType()))
    if query.occurrences:
        fields += [StructField("event", StringType()), StructField("individual", StringType())]
    return StructType([*fields, StructField(PARTS, EVENTS)])


def arrow_schema(
    variables: Sequence[str], graphs: bool, booleans: bool, kind: TimeKind, occurrences: bool = False
) -> pa.Schema:
    """The same for Arrow."""
    time = pa.int64() if kind is TimeKind.INTEGER else pa.timestamp("us", "UTC")
    fields = [(QUERY, pa.int32()), ("start", time), ("end", time), *((name, _ARROW_TERM) for name in variables)]
    if graphs:
        fields.append(("graph", _ARROW_TRIPLES))
    if booleans:
        fields.append(("boolean", pa.bool_()))
    if occurrences:
        fields += [("event", pa.string()), ("individual", pa.string())]
    return pa.schema([*fields, (PARTS, pa.map_(pa.string(), pa.list_(pa.string())))])


def match_table(matches: Iterable[Match], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Matches in record batches."""
    rows: list[dict[str, object]] = []
    for match in matches:
        rows.append(_row(match, schema))
        if len(rows) >= _ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema)


def _row(match: Match, schema: pa.Schema) -> dict[str, object]:
    row: dict[str, object] = {QUERY: match.query, "start": match.start, "end": match.end}
    row |= {name: term_struct(term) for name, term in match.bindings.items()}
    if match.graph is not None:
        row["graph"] = [{"s": str(t.subject), "p": str(t.predicate), "o": str(t.object)} for t in match.graph]
    if match.boolean is not None:
        row["boolean"] = match.boolean
    if match.occurrence is not None:
        row["event"], row["individual"] = (str(term) for term in match.occurrence)
    row[PARTS] = [(part, [str(event) for event in events]) for part, events in match.events.items()]
    return {name: row.get(name) for name in schema.names}


def term_struct(term: Term) -> dict[str, str | None]:
    """A term as the struct<type, value, datatype, lang> of result columns."""
    match term:
        case IRI(value):
            return {"type": "uri", "value": value, "datatype": None, "lang": None}
        case BlankNode(label):
            return {"type": "bnode", "value": label, "datatype": None, "lang": None}
        case Literal(lexical, datatype, language):
            return {"type": "literal", "value": lexical, "datatype": None if language else datatype, "lang": language}
