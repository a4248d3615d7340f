"""Runs on Spark as the cases' comparison takes them, and events as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from scepter.cases.compare import Answer
from scepter.cases.model import Case
from scepter.cases.query import query_of
from scepter.cli.inputs import assign_streams
from scepter.cli.options import run_options
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple, parse_term
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.timeline import TimeKind, format_instant

TABLE = "start {time}, `end` {time}, graph array<struct<s: string, p: string, o: string>>"


def labelled(label: str, found: DataFrame) -> DataFrame:
    """A run's rows as (label, JSON), whatever its columns are."""
    times = [
        (F.unix_micros(name) if isinstance(found.schema[name].dataType, TimestampType) else F.col(name)).alias(name)
        for name in ("start", "end")
    ]
    kind = TimeKind.DATETIME if isinstance(found.schema["start"].dataType, TimestampType) else TimeKind.INTEGER
    others = [c for c in found.columns if c not in ("start", "end") and not c.startswith("_")]
    row = F.to_json(F.struct(*times, *others))
    return found.select(F.lit(label).alias("label"), F.lit(kind.value).alias("kind"), row.alias("row"))


def answers(rows: Iterable[Row]) -> dict[str, list[Answer]]:
    """Label -> answers, as the cases' comparison takes them."""
    found: dict[str, list[Answer]] = {}
    for row in rows:
        found.setdefault(row["label"], []).append(_answer(json.loads(row["row"]), TimeKind(row["kind"])))
    return found


def _answer(row: dict[str, Any], kind: TimeKind) -> Answer:
    start, end = (format_instant(row.pop(name), kind) for name in ("start", "end"))
    if row.pop("boolean", None):
        return Answer(start, end, boolean=True)
    event, _ = (row.pop(name, None) for name in ("event", "individual"))
    graph = row.pop("graph", None)
    if graph is not None:
        found = frozenset(Triple(*(parse_term(t[part]) for part in "spo")) for t in graph)
        return Answer(start, end, graph=found, event=None if event is None else IRI(event[1:-1]))
    return Answer(start, end, {name.removeprefix("?"): term(value) for name, value in row.items()})


def term(struct: Mapping[str, str]) -> Term:
    """The term of a result column."""
    match struct["type"]:
        case "uri":
            return IRI(struct["value"])
        case "bnode":
            return BlankNode(struct["value"])
        case _:
            language = struct.get("lang")
            return Literal(struct["value"], language=language) if language else Literal(struct["value"], struct["datatype"])


def case_query(case: Case) -> tuple[Query, RunOptions, dict[str, list[TimelineEvent]]]:
    """A case's query, its options, and its events by the stream's IRI."""
    query = query_of(case)
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    options = run_options(query.lowered, **given)
    events, _ = assign_streams(query, [(name, list(events)) for name, events in case.streams.items()])
    return query, options, events


def write_events(path: Path, events: Iterable[TimelineEvent], kind: TimeKind | None = None) -> None:
    """A Parquet file with the columns of a table of events, which may be none if their kind is given."""
    rows = list(events)
    time = pa.int64() if (kind or rows[0].kind) is TimeKind.INTEGER else pa.timestamp("us", "UTC")
    graph = [[{"s": str(t.subject), "p": str(t.predicate), "o": str(t.object)} for t in e.triples] for e in rows]
    triples = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
    table = pa.table(
        {
            "start": pa.array([e.start for e in rows], time),
            "end": pa.array([e.end for e in rows], time),
            "graph": pa.array(graph, triples),
        }
    )
    pa.parquet.write_table(table, path)


def table_schema(kind: TimeKind) -> str:
    """The schema of such files."""
    return TABLE.format(time="bigint" if kind is TimeKind.INTEGER else "timestamp")
