"""Event batches as Arrow rows `stream, start, end, graph` (spec/00 §2), terms as they are spelt."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructField, StructType, TimestampType

from scepter.errors import DataError, Diagnostic
from scepter.rdf.batch import EventBatch
from scepter.timeline import TimeKind

TRIPLE: Final = StructType([StructField(name, StringType()) for name in ("s", "p", "o")])
NAME: Final = "name"
_LONGEST: Final = 2**31 - 1


def event_schema(kind: TimeKind, *, names: bool = False) -> StructType:
    """The columns of a table of events; `names` adds the IRI of each event's graph."""
    time: DataType = LongType() if kind is TimeKind.INTEGER else TimestampType()
    fields = [StructField("stream", StringType()), StructField("start", time), StructField("end", time)]
    fields.append(StructField("graph", ArrayType(TRIPLE)))
    return StructType([*fields, StructField(NAME, StringType())] if names else fields)


def arrow_of(schema: StructType) -> pa.Schema:
    """The schema as Spark wants Arrow batches of it."""
    return to_arrow_schema(schema, timezone="UTC")


def event_rows(batch: EventBatch, stream: str, schema: pa.Schema) -> pa.RecordBatch:
    """The events of a batch, a row each."""
    types = {name: schema.field(name).type for name in schema.names}
    columns = {
        "stream": pa.repeat(pa.scalar(stream, types["stream"]), batch.events),
        "start": _times(batch.start, types["start"]),
        "end": _times(batch.end, types["end"]),
        "graph": _graphs(batch, types["graph"]),
    }
    if NAME in types:
        columns[NAME] = _names(batch)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _times(column: NDArray[np.int64], type: pa.DataType) -> pa.Array:
    return pa.array(column, pa.int64()).cast(type)


def _graphs(batch: EventBatch, type: pa.ListType) -> pa.Array:
    places = (batch.subject_at, batch.predicate_at, batch.object_at)
    triples = pa.StructArray.from_arrays([_texts(batch, column) for column in places], fields=list(type.value_type))
    return pa.ListArray.from_arrays(pa.array(batch.first, pa.int32()), triples, type=type)


def _texts(batch: EventBatch, places: NDArray[np.int64]) -> pa.Array:
    from scepter.rdf.arena import gather  # loads kernels; a planner asks for the schema alone

    starts, data = gather(batch.buffer, places)
    if starts[-1] > _LONGEST:
        raise DataError(Diagnostic("event-size", "the terms of one event take more than 2 GB, more than a table can hold"))
    return pa.StringArray.from_buffers(len(places), pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(data))


def _names(batch: EventBatch) -> pa.Array:
    """The graphs' IRIs; null for blank nodes and events without a name."""
    named = batch.name_at >= 0
    named[named] = batch.buffer[batch.name_at[named]] == ord("<")
    found = _texts(batch, batch.name_at[named]).to_pylist()
    texts = np.full(batch.events, None, dtype=object)
    texts[named] = [text[1:-1] for text in found]
    return pa.array(texts, pa.string())
