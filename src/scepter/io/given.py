"""Streams as Python programs have them: files by name, events at hand, tables of events. Each becomes a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scepter.errors import DataError, a_type, option_error
from scepter.io.mapped import MappedEvents, as_rows, as_table
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading, read_table
from scepter.rdf.source import DeadLetterTaker, EventSource, Progress
from scepter.rdf.terms import IRI, Literal
from scepter.rdf.times import TimeProperties
from scepter.runtime.maps import ContextGiven, MapGiven, lifts_of
from scepter.runtime.push import Event
from scepter.runtime.queries import Query, by_stream
from scepter.runtime.versions import graph_of, named_versions, varying

Given: TypeAlias = Any
"""A file, glob or folder (str or Path), events (an iterable of `Event`), or a table (pandas, polars, Arrow)."""

_STEP: Final = 65_536
_UNNAMED: Final = "urn:stream"
"""The name of what is given without one to a query that names no stream."""
_FIT_FOR_IRI: Final = re.compile(r'[^<>"{}|^`\\\x00-\x20]+')
_TRIPLES: Final = pa.list_(pa.struct([(name, pa.string()) for name in ("s", "p", "o")]))
_OUGHT: Final = "give a file's name, a list of scepter.Event, or a table with columns start, end, graph; other rows need map="
_EVENTS: Final = frozenset({"start", "end", "graph"})


def given_streams(query: Query, streams: Given, lifts: Mapping[str, Lift] | None = None) -> dict[str, EventSource]:
    """The sources of a query's streams, by their IRIs. `streams` is a mapping from names (IRI, alias or prefixed name), or for
    a query of one stream what it is read from."""
    if not isinstance(streams, Mapping):
        streams = _given_alone(query, streams)
    sources = {
        iri: open_given(source, name, iri, None if lifts is None else lifts.get(iri))
        for iri, (name, source) in by_stream(query, {name: (name, source) for name, source in streams.items()}).items()
    }
    for iri in query.streams:
        if iri not in sources:
            stream = next(s for s in query.lowered.streams if s.iri.value == iri)
            raise option_error(
                "missing-stream",
                f"the query reads stream {stream.alias or f'<{iri}>'}, and none was given",
                help=f"add it to streams: {{{stream.alias or iri!r}: …}}",
            )
    return sources


def given_run(
    query: Query, streams: Given, versions: Given, map: MapGiven, context: ContextGiven, times: TimeProperties
) -> tuple[Query, dict[str, EventSource]]:
    """A query as its run takes it, with its graphs that vary (`versions`: from each graph to the source of its versions), and
    the sources of its streams and versions, by their IRIs."""
    if not isinstance(streams, Mapping):
        streams = _given_alone(query, streams)
    if not versions:
        return query, given_streams(query, streams, lifts_of(query, map, stream_names(streams), times, context))
    if not isinstance(versions, Mapping):
        what = type(versions).__name__
        raise option_error("versions", f"versions are given as a {what}", help="give a dict, from each graph to its versions")
    changing = varying(query, named_versions(versions))
    graphs = {graph_of(query.lowered, name).value: source for name, source in versions.items()}
    every = {**streams, **graphs}
    return changing, given_streams(changing, every, lifts_of(changing, map, stream_names(every), times, context))


def stream_names(streams: Mapping[Any, Given]) -> list[str]:
    """The names that streams are given by."""
    return [name for name in streams if isinstance(name, str)]


def _given_alone(query: Query, given: Given) -> dict[str, Given]:
    """What is given as it is, without a name: the one stream of a query. A query that names none reads whatever it is: events
    by the streams that they are of."""
    if given is None:
        name = query.streams[0] if query.streams else "http://example/stream"
        raise option_error("streams", "the query's streams are not given", help=f"streams={{{name!r}: 'events.nq'}}")
    if len(query.streams) > 1:
        names = ", ".join(f"<{iri}>" for iri in query.streams)
        raise option_error(
            "streams",
            f"the query reads {len(query.streams)} streams: {names}",
            help="give a dict, from each stream to its source",
        )
    if query.streams:
        return {query.streams[0]: given}
    if isinstance(given, (list, tuple, Iterator)):
        given = list(given)
        if given and all(isinstance(event, Event) for event in given):
            streams = dict.fromkeys(event.stream for event in given)
            return {stream: [event for event in given if event.stream == stream] for stream in streams}
    return {_UNNAMED: given}


def open_given(given: Given, name: str, iri: str, lift: Lift | None = None) -> EventSource:
    """The source that an object stands for; OptionError for one that holds no events."""
    if isinstance(given, (str, Path)):
        if str(given) == "-":
            raise option_error("streams", "a program's standard input is its own", help="give a file's name, or events")
        return open_source(given, lift=lift)
    if hasattr(given, "batches") and hasattr(given, "lasting"):
        source: EventSource = given
        return source
    if (table := _as_table(given, name)) is not None:
        plain = lift is None or set(table.column_names) >= _EVENTS
        if plain and not set(table.column_names) & _EVENTS:
            raise option_error(
                "table-columns",
                f"the table of the stream {name} has the columns {', '.join(table.column_names)}: nothing says how its rows "
                "become events",
                help="give map=, a mapping for its columns; scepter map FILE --suggest writes a first one",
            )
        return TableSource(name, table) if plain else MappedEvents(name, table, lift, iri)  # type: ignore[arg-type]
    if lift is not None and isinstance(given, Sequence) and given and not any(isinstance(each, Event) for each in given):
        return MappedEvents(name, as_rows(given), lift, iri)
    if isinstance(given, (Event, Mapping, bytes)) or not isinstance(given, Iterable):
        what = "one event" if isinstance(given, Event) else a_type(given)
        raise option_error("streams", f"the stream {name} is given as {what}", help=_OUGHT)
    events = list(given)
    for place, event in enumerate(events):
        if not isinstance(event, Event):
            raise option_error("streams", f"item {place} of the stream {name} is {a_type(event)}", help=_OUGHT)
        if event.stream != iri:
            raise option_error("streams", f"item {place} of the stream <{iri}> is an event of <{event.stream}>")
    return EventsSource(name, events)


def _as_table(given: Given, name: str) -> Any:
    """An Arrow table of what is one, or can be made one; None for anything else."""
    if hasattr(given, "toPandas"):
        raise option_error(
            "streams",
            f"the stream {name} is given as a Spark table, and this process reads none",
            help="run it where it is: scepter.run(query, spark, streams)",
        )
    try:
        table = as_table(given)
        return None if table is None else _in_plain_types(table)
    except (ValueError, pa.ArrowException) as error:
        raise option_error("streams", f"the stream {name} is no table of events: {error}", help=_OUGHT) from None


def _in_plain_types(table: Any) -> Any:
    """The table with its graphs as lists of plain strings: polars has views of them."""
    if table.column_names.count("graph") != 1 or table.schema.field("graph").type == _TRIPLES:
        return table
    graphs = [_plain_lists(chunk).cast(_TRIPLES) for chunk in table.column("graph").chunks]
    return table.set_column(table.column_names.index("graph"), "graph", pa.chunked_array(graphs, _TRIPLES))


def _plain_lists(column: Any) -> Any:
    """A column whose lists stand one behind the other. A view has them in any order, which Arrow's casts forget."""
    if not (pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type)):
        return column
    sizes = pc.fill_null(pc.list_value_length(column), 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
    return pa.LargeListArray.from_arrays(offsets, column.flatten(), mask=column.is_null())


@dataclass(slots=True)
class TableSource:
    """A table at hand, with columns start, end and graph."""

    name: str
    table: Any

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
        """The rows in the order they stand."""
        reading = Reading(key, stream_index, self.name, dead_letter, predicates, run or ReadState(), batch_bytes, {})
        yield from read_table(self.table, reading)

    def lasting(self) -> TableSource:
        """A table at hand stays."""
        return self


@dataclass(slots=True)
class EventsSource:
    """Events at hand, in the order given."""

    name: str
    events: Sequence[Event]

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
        """The events; those of the other kind of time than the first event of the run are no use."""
        run = run or ReadState()
        if run.assign is not None:
            run.assign.restart()
        for first in range(0, len(self.events), _STEP):
            usable = []
            for number, untimed in enumerate(self.events[first : first + _STEP], first + 1):
                try:
                    event = untimed.timed(run.times, run.assign)
                except DataError as error:
                    dead_letter(DeadLetter(self.name, number, error.diagnostic.message))
                    continue
                run.kind = run.kind or event.kind
                if event.kind is run.kind:
                    usable.append(GraphEvent(stream_index, _named(event), event.start, event.end, event.triples))
                else:
                    reason = "a dateTime among integer times, or an integer among dateTimes"
                    dead_letter(DeadLetter(self.name, number, reason, repr(event)))
            if usable:
                assert run.kind is not None
                yield events_to_batch(
                    usable, key, run.kind, run=run, predicates=predicates, source_name=self.name, dead_letter=dead_letter
                )

    def lasting(self) -> EventsSource:
        """Events at hand stay."""
        return self


def _named(event: Event) -> str | None:
    """An event's name as the term that a graph's name is: an IRI, or a literal where an IRI cannot say it."""
    if event.name is None:
        return None
    return str(IRI(event.name) if _FIT_FOR_IRI.fullmatch(event.name) else Literal(event.name))
