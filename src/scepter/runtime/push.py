"""`scepter.Engine`: the kernel in this process, one event at a time."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scepter.errors import DataError, Diagnostic, option_error
from scepter.rdf.batch import DeadLetter, EventBatch, joined
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.events import Event, read_instant
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.jumps import Jumps, Leap
from scepter.runtime.lifting import row_events
from scepter.runtime.maps import ContextGiven, MapGiven, lifts_of, resolved
from scepter.runtime.matches import Match
from scepter.runtime.notebook import Matches
from scepter.runtime.options import RunOptions, check_derivations, check_taken
from scepter.runtime.queries import QueriesGiven, one_query
from scepter.runtime.versions import named_versions, varying
from scepter.runtime.work import check_runs
from scepter.timeline import MIN_INSTANT, TimeKind

__all__ = ["Engine", "Event", "Late"]

_PRUNE_FROM = 4096
"""So many events are kept before those that no match can show are let go."""


@dataclass(frozen=True, slots=True)
class Late:
    """An event that came behind the watermark."""

    event: Event
    watermark: int


class Engine:
    """A query over pushed events, or several (a list, or a dictionary by their names).

    `push` takes events in order of time, or out of order by at most `max_delay`, and returns the matches that became certain.
    Late events are kept in `late` and take part in nothing; an event that would move time on by more than `max_advance` waits
    in `held` until a second one of its stream confirms it. `time_property` (IRIs, or names of vocabularies such as "sosa")
    says which of its triples gives the time of an event that comes without one; `assign_time` gives one to those that have
    none, that of their arrival ("arrival") or 1, 2, 3 … ("sequence"). With a `map`, or a JSON-LD `context`, it takes rows
    (dictionaries) too. `versions` names the background graphs that vary: an event of such a name is the whole graph from its
    time on.

    >>> from scepter import parse
    >>> engine = Engine(parse('''PREFIX : <http://example/> SELECT ?h WITHIN 10 FROM STREAM S <http://example/s>
    ... WHERE { SEQ (A; B) DEFINE GPM A ON S { ?h :alarm ?x } DEFINE GPM B ON S { ?h :fire ?y } }'''))
    >>> prefixes = {"": "http://example/"}
    >>> engine.push(Event("http://example/s", ":h1 :alarm 1 .", 1, prefixes=prefixes))
    []
    >>> engine.push(Event("http://example/s", ":h1 :fire 2 .", 5, prefixes=prefixes))
    start  end  ?h
    1      5    :h1
    1 match
    """

    def __init__(
        self,
        query: QueriesGiven,
        *,
        background: BackgroundGiven = None,
        ontology: OntologyGiven = None,
        versions: str | Iterable[str] | None = None,
        policy: str | None = None,
        time_unit: str = "ms",
        start: int | str | None = None,
        evaluate_at: Sequence[int | str] | None = None,
        max_delay: int | str | None = None,
        why: bool = False,
        time_property: str | Sequence[str] | None = None,
        map: MapGiven = None,
        context: ContextGiven = None,
        max_advance: int | str | None = None,
        max_derivations: int | None = None,
        max_runs: int | None = None,
        assign_time: str | None = None,
    ) -> None:
        query = varying(one_query(query), named_versions(versions))
        self.query = query
        self._options = RunOptions.of(
            policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay, why=why,
            time_property=time_property, max_advance=max_advance, max_derivations=max_derivations,
            max_runs=max_runs, assign_time=assign_time,
        )  # fmt: skip
        check_taken(self._options, query.lowered)
        self._map, self._context = map, context
        self._lifts = lifts_of(query, map, query.streams, self._options.times, context)
        check_derivations(max_derivations, query.lowered)
        self._refused: list[DeadLetter] = []
        self._engine = LocalEngine(
            query.program,
            self._options,
            load_background(query, background, ontology),
            ontology=load_ontology(query, ontology),
            shown=self._shown,
            dead_letter=self._refused.append,
        )
        self.warnings = (*query.warnings, *self._engine.unknown(query.lowered.words, query.lowered.source))
        """What may be wrong with the query, given its ontology."""
        self._kind: TimeKind | None = None
        self._delay = 0
        self._watermark = MIN_INSTANT
        self._open = False
        self._returned: list[Match] = []
        """For the instant that is open."""
        self._instant: list[tuple[int, int, int, Event]] = []
        """The events of that instant, as they arrived."""
        self._read_before: tuple[EventBatch, int] | None = None
        """The same as they were read, and the salt behind them: each is read once, however many more come at its time."""
        self._ahead: list[tuple[int, int, int, Event]] = []
        self._arrivals = 0
        self._events: dict[int, Event] = {}
        self._prune_at = _PRUNE_FROM
        self._closed = False
        self.late: list[Late] = []
        self._jumps: dict[str, Jumps[Event]] = {}
        self._leap = Leap()

    def push(self, event: Event | Mapping[str, Any], stream: str | None = None) -> list[Match]:
        """Give it one event; or one row, of which the engine's mapping makes events of `stream` (by default the only one)."""
        return self.push_all([event], stream)

    def push_all(self, events: Iterable[Event | Mapping[str, Any]], stream: str | None = None) -> list[Match]:
        """Give it several events, or rows; the matches are those of pushing them one by one."""
        if isinstance(events, Event) or not isinstance(events, Iterable):
            what = "one event" if isinstance(events, Event) else f"a {type(events).__name__}"
            raise option_error("event", f"push_all takes several events, and was given {what}", help="engine.push(event)")
        plain = (each for given in events for each in self._mapped(given, stream))
        return Matches(
            self._step([each for event in plain for each in self._admitted(self._accepted(event))]), query=self.query
        )

    def _mapped(self, given: Event | Mapping[str, Any], stream: str | None) -> Sequence[Event]:
        """An event itself, or those that the mapping makes of a row."""
        if not isinstance(given, Mapping):
            return [given]
        if self._map is None and self._context is None:
            raise option_error(
                "event",
                "an engine takes events, not a dict, unless it has a mapping or a context",
                help="scepter.Engine(query, map='mapping.yml') takes rows too",
            )
        if stream is None and len(self._lifts) != 1:
            raise option_error("event", "nothing says which stream the row belongs to", help="engine.push(row, stream='…')")
        iri = next(iter(self._lifts)) if stream is None else resolved(self.query, stream)
        if iri not in self._lifts:
            self._lifts |= lifts_of(self.query, self._map, [iri], self._options.times, self._context)
        if iri not in self._lifts:
            raise option_error("event", f"the engine has no mapping or context for the stream <{iri}>")
        return row_events(self._lifts[iri], given, iri, self._options.times, self._refused.append)

    @property
    def held(self) -> list[Event]:
        """Events that would move time on by more than `max_advance`, and that nothing has confirmed yet."""
        return [event for jumps in self._jumps.values() for _, event in jumps.held]

    def _admitted(self, event: Event) -> list[Event]:
        assert event.kind is not None
        limit = self._options.advance_on(event.kind)
        if limit is None:
            return [event]
        return self._jumps.setdefault(event.stream, Jumps(limit)).admit(event.end, event)

    def _accepted(self, event: Event) -> Event:
        if not isinstance(event, Event):
            ought = "scepter.Event(stream, graph, time)"
            raise option_error("event", f"an engine takes events, not a {type(event).__name__}", help=ought)
        if self._closed:
            raise DataError(Diagnostic("closed", "the engine is closed and takes no more events"))
        if event.stream not in self.query.streams and not self.query.lowered.every_stream:
            self.query.resolve_stream(event.stream)  # raises with the names the query knows
            raise option_error("derived-stream", f"<{event.stream}> is constructed by the query itself")
        event = event.timed(self._options.times, self._engine.reading.assign)
        assert event.kind is not None
        if self._kind is None:
            self._delay = self._options.delay_on(event.kind) or 0
            self._engine.prepare(event.kind)
            self._kind = event.kind
        elif event.kind is not self._kind:
            raise DataError(
                Diagnostic(
                    "time-kind",
                    f"an event has a timestamp of kind {event.kind.value} after events of kind {self._kind.value}",
                    help="one query sees one kind of timestamp",
                )
            )
        return event

    def _step(self, events: list[Event]) -> Sequence[Match]:
        """All instants that the events close are taken in one batch; the last one stays open."""
        watermark, reopens, kind = self._watermark, False, self._kind or TimeKind.INTEGER
        for event in events:
            watermark = max(watermark, event.end - self._delay)
            if event.end < watermark:  # the event that moves the watermark is itself never behind it
                self.late.append(Late(event, watermark))
                self._leap.step(event.end, True, event.stream, kind)
                continue
            self._leap.step(event.end, False, event.stream, kind)
            reopens |= event.end == self._watermark
            heapq.heappush(self._ahead, (event.end, event.start, self._arrivals, event))
            self._arrivals += 1
        if not reopens and watermark == self._watermark:
            return []
        if not reopens:
            self._commit()
        elif self._open:
            self._engine.undo()
        return self._release(watermark, reopens)

    def _release(self, watermark: int, reopens: bool) -> Sequence[Match]:
        """Close the instants before the watermark, and open the one at it. Of an instant that was open and has been undone,
        what was returned before is not returned again.

        Instants are closed before the open one is saved: what operators then evict is never asked for again by an undo."""
        due: list[Event] = []
        if watermark > self._watermark:  # what was open, if it has been undone, is closed with the rest
            due = [entry[3] for entry in sorted(self._instant, key=lambda entry: entry[:3])]
            self._instant, self._read_before = [], None
        self._watermark = watermark
        while self._ahead and self._ahead[0][0] < watermark:
            due.append(heapq.heappop(self._ahead)[3])
        found: Sequence[Match] = ()
        if due or not reopens:
            self._take(due)
            found = self._fresh(self._engine.advance(watermark - 1))
            self._engine.commit()
            self._returned.clear()
            self._prune()
        check_runs(self._engine.state_size, self._options.work)
        new = []
        while self._ahead and self._ahead[0][0] == watermark:
            new.append(heapq.heappop(self._ahead))
        self._engine.save()
        self._open = True
        self._take_opened(sorted(new, key=lambda entry: entry[2]))
        opened = self._fresh(self._engine.advance(watermark, watermark - 1))
        self._returned += opened
        return [*found, *opened] if found else opened

    def _take(self, events: list[Event]) -> None:
        if not events:
            return
        number = self._engine.next_number
        self._events.update({number + i: e for i, e in enumerate(events)})
        self._engine.take(self._read(events))

    def _take_opened(self, new: list[tuple[int, int, int, Event]]) -> None:
        """Take the events of the open instant; all but the new ones were read when it was opened before."""
        batch: EventBatch | None = None
        if self._read_before is not None:
            batch, self._engine.reading.salt = self._read_before
        if new:
            read = self._read([entry[3] for entry in new])
            number = self._engine.next_number + len(self._instant)
            self._events.update({number + i: entry[3] for i, entry in enumerate(new)})
            self._instant += new
            batch = read if batch is None else joined(batch, read)
        if batch is not None:
            self._read_before = batch, self._engine.reading.salt
            self._engine.take(batch)

    def _read(self, events: list[Event]) -> EventBatch:
        assert self._kind is not None
        rows = [GraphEvent(self._engine.stream_number(IRI(e.stream)), None, e.start, e.end, e.triples) for e in events]
        return events_to_batch(rows, self._engine.key, self._kind, run=self._engine.reading)

    def _fresh(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Those not returned for this instant before."""
        if not self._returned:
            return matches
        returned = Counter(match.row() for match in self._returned)  # few instants are opened twice
        fresh = []
        for match in matches:
            row = match.row()
            if returned[row]:
                returned[row] -= 1
            else:
                fresh.append(match)
        return fresh

    def _commit(self) -> None:
        self._engine.commit()
        self._open = False
        self._instant, self._read_before = [], None
        self._returned.clear()
        self._prune()

    def _prune(self) -> None:
        """Let go of the events that no later match can show."""
        if len(self._events) > self._prune_at:
            live = set(self._engine.live_events().tolist())
            self._events = {n: e for n, e in self._events.items() if n in live}
            self._prune_at = max(_PRUNE_FROM, 2 * len(self._events))

    def advance(self, time: int | str | datetime) -> list[Match]:
        """Say that time has reached `time`: no event at or before it, beyond those of the allowed delay, will come."""
        value, kind = read_instant(time)
        if self._kind is None:
            return Matches(query=self.query)
        if kind is not self._kind:
            raise option_error("time-kind", f"the events' timestamps are of kind {self._kind.value}")
        watermark = value - self._delay
        if watermark < self._watermark or (watermark == self._watermark and not self._open):
            return Matches(query=self.query)
        self._commit()  # also of an instant that events have reached: now it is closed
        self._watermark = watermark
        due: list[Event] = []
        while self._ahead and self._ahead[0][0] <= watermark:
            due.append(heapq.heappop(self._ahead)[3])
        self._take(due)
        return Matches(self._engine.advance(watermark), self.query)

    def close(self) -> list[Match]:
        """The end of the stream: every window closes."""
        if self._closed:
            return Matches(query=self.query)
        self._closed = True
        if self._kind is None:
            return Matches(query=self.query)
        self._commit()
        rest = [heapq.heappop(self._ahead)[3] for _ in range(len(self._ahead))]
        self._take(rest)
        return Matches(self._engine.finish(), self.query)

    def state_size(self) -> Mapping[str, int]:
        """Rows of state (runs, nodes, …) and bytes of texts, for tests and monitoring."""
        return {**self._engine.state_size(), "events": len(self._events)}

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """The events that could not be used: those that contradict the ontology, and the late ones."""
        return self._refused + [
            DeadLetter(e.event.stream, None, f"late: {e.event.end} is behind the watermark {e.watermark}") for e in self.late
        ]

    def _shown(self, number: int, name: str | None) -> object:
        return self._events.get(number, name)
