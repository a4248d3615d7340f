"""`scepter.events`: rows at hand through a mapping, as a source that engines read in columns, or as events one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from scepter.errors import a_type, option_error
from scepter.io.sources import FileSource, open_source
from scepter.lift.context import load_context, no_table
from scepter.lift.reader import MappedReaders, needed_columns, table_batches
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.runtime.events import Event
from scepter.runtime.lifting import batch_events
from scepter.runtime.maps import ContextGiven, OneMap, mapped


@dataclass(slots=True)
class MappedEvents:
    """The events that a mapping makes of rows. Give it to `run_local` as a stream, or go through it event by event.

    `dead_letters` are the rows that made none, once it was gone through.
    """

    name: str
    rows: Any
    lift: Lift
    stream: str | None = None
    times: TimeProperties = PROV_TIMES
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """The events in the order of the rows."""
        reading = Reading(key, stream_index, self.name, dead_letter, predicates, run or ReadState(), batch_bytes, {})
        if isinstance(self.rows, FileSource):
            yield from self.rows.batches(
                key, stream_index, dead_letter,
                predicates=predicates, run=run, batch_bytes=batch_bytes, progress=progress,
            )  # fmt: skip
        elif isinstance(self.rows, pa.Table):
            if not isinstance(self.lift, MappedReaders):
                raise no_table(self.name)
            # a column that is missing is an error here: whoever has the table at hand can name it
            needed_columns(self.lift.mapping, self.rows.column_names, key, predicates, reading.run.times)
            yield from table_batches(self.lift.mapping, self.rows, reading)
        else:
            yield from self.lift.documents(enumerate(self.rows, 1), reading)

    def lasting(self) -> MappedEvents:
        """Rows at hand stay."""
        return self

    def __iter__(self) -> Iterator[Event]:
        if self.stream is None:
            raise option_error(
                "events",
                "an event belongs to a stream, and none was named",
                help="scepter.events(rows, map=…, stream='http://…')",
            )
        self.dead_letters.clear()
        run = ReadState(times=self.times)
        for batch in self.batches(TermKey.fixed(), 0, self.dead_letters.append, run=run):
            yield from batch_events(batch, self.stream)

    def __repr__(self) -> str:
        if isinstance(self.rows, FileSource):
            return f"<events of {self.name} by {self.lift.name}>"
        count = self.rows.num_rows if isinstance(self.rows, pa.Table) else len(self.rows)
        return f"<events of {count} rows by {self.lift.name}>"


def events(
    rows: Any,
    map: OneMap | None = None,
    *,
    context: ContextGiven = None,
    stream: str | None = None,
    time_property: str | Iterable[str] | None = None,
) -> EventSource:
    """The events that a mapping makes of rows: a table (pandas, polars, Arrow), a list of dictionaries, or a file of CSV, JSON
    or Parquet. `map` is a mapping in YARRRML or RML, its file, its text or its dictionary; for JSON and dictionaries
    `context`, a JSON-LD context, does as well, with `time_property` for the time.

    >>> made = events([{"t": 1, "who": "ann"}], '''
    ... prefixes: {ex: "http://example/"}
    ... time: $(t)
    ... mappings: {seen: {s: "ex:$(who)", po: [[a, ex:Person]]}}
    ... ''', stream="http://example/s")
    >>> [str(event) for event in made]
    ["Event('http://example/s', 1, 1 triple)"]
    """
    times = TimeProperties.of(time_property)
    if not (stream is None or isinstance(stream, str)):
        raise option_error("events", f"stream is an IRI, not {a_type(stream)}", help="stream='http://…'")
    if (map is None) == (context is None):
        raise option_error("events", "events are made by a mapping or by a context", help="give map=… or context=…")
    lift: Lift = mapped(map, times) if context is None else load_context(context)
    if isinstance(rows, (str, Path)):
        source = open_source(rows, lift=lift)
        # with the name of a stream they may be gone through one by one
        return MappedEvents(str(rows), source, lift, stream, times) if stream and isinstance(source, FileSource) else source
    return MappedEvents("rows", as_rows(rows), lift, stream, times)


def as_table(given: Any) -> pa.Table | None:
    """An Arrow table of what is one, or can be made one; None for anything else. Raises ValueError for a table that Arrow
    cannot read."""
    if hasattr(given, "collect_schema") and not hasattr(given, "__arrow_c_stream__"):
        raise ValueError(f"a {type(given).__name__} of polars is not computed yet; give its .collect()")
    if hasattr(given, "iloc") and not hasattr(given, "columns"):
        raise ValueError(f"a {type(given).__name__} of pandas is one column; give a table, .to_frame() makes one")
    try:
        if isinstance(given, pa.RecordBatch):
            return pa.Table.from_batches([given])
        if hasattr(given, "iloc") and hasattr(given, "dtypes"):
            given = _of_one_type(given)
        if isinstance(given, pa.Table) or hasattr(given, "__arrow_c_stream__"):
            return pa.table(given)
        if hasattr(given, "to_records"):  # pandas before it spoke Arrow
            return pa.Table.from_pandas(given, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"Arrow cannot read it: {error}") from None
    return None


def _of_one_type(frame: Any) -> Any:
    """A pandas table that Arrow can take: a column of values of several types becomes one of texts, as CSV has them, so that a
    value of the wrong type costs its row's triple and not the table."""
    mixed = {}
    for place, kind in enumerate(frame.dtypes):
        values = frame.iloc[:, place]
        try:
            if kind.kind == "O":
                pa.Array.from_pandas(values)
        except pa.ArrowException:
            if not all(value is None or isinstance(value, (str, int, float, Decimal, date)) for value in values):
                raise
            mixed[frame.columns[place]] = [_text(value) for value in values]
    return frame.assign(**mixed) if mixed else frame


def _text(value: Any) -> str | None:
    if value is None or value != value:  # NaN is no value
        return None
    return str(value).lower() if isinstance(value, bool) else value.isoformat() if isinstance(value, date) else str(value)


def as_rows(given: Any) -> Any:
    """An Arrow table, or a list of dictionaries; OptionError for anything else."""
    help = "give a table (pandas, polars, Arrow), a list of dictionaries, or a file's name"
    try:
        if (table := as_table(given)) is not None:
            return table
    except ValueError as error:
        raise option_error("events", f"the rows are no table: {error}", help=help) from None
    if hasattr(given, "toPandas"):
        raise option_error("events", "the rows are a Spark table", help="scepter.run(query, spark, {'s': table}, map=…)")
    if isinstance(given, (Mapping, bytes)) or not isinstance(given, Iterable):
        raise option_error("events", f"the rows are given as {a_type(given)}", help=help)
    rows = list(given)
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise option_error("events", f"item {place} of the rows is {a_type(row)}, not a dictionary", help=help)
    return rows
