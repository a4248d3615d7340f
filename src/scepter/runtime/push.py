"""`scepter.Engine`: the kernel in this process, one event at a time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import numpy as np

from scepter.errors import DataError, Diagnostic, a_type, option_error
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.formats import NAMELESS, graphs_to_batch
from scepter.rdf.terms import IRI
from scepter.runtime import refusals
from scepter.runtime.engine import LocalEngine
from scepter.runtime.events import Event, Late, are_plain, check_several, in_order, read_instant
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.jumps import Jumps, Leap
from scepter.runtime.lifting import row_events
from scepter.runtime.maps import ContextGiven, MapGiven, lifts_of, resolved
from scepter.runtime.matches import Match
from scepter.runtime.notebook import Matches
from scepter.runtime.open_instant import Entry, OpenInstant
from scepter.runtime.options import RunOptions, check_derivations, check_taken
from scepter.runtime.queries import QueriesGiven, one_query
from scepter.runtime.versions import named_versions, varying
from scepter.runtime.whole_steps import WholeSteps
from scepter.runtime.work import check_runs
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, TimeKind

__all__ = ["Engine", "Event", "Late"]

_PRUNE_FROM = 4096
"""So many events are kept before those that no match can show are let go."""
_REMEMBERED = 10_000
"""So many of the last late events, and of the last dead letters, are kept."""
_MANY = 16
"""More events than this are looked at as columns."""
_TOGETHER = 1 << 13
"""So many events are read at once: what is made of them stands where that of the ones before stood, in warm memory."""


class Engine:
    """A query over pushed events, or several (a list, or a dictionary by their names).

    `push` takes events in order of time, or out of order by at most `max_delay`, and returns the matches that became certain.
    Late events take part in nothing; the last are kept in `late`. An event that would move time on by more than `max_advance`
    waits in `held` until a second one of its stream confirms it. `time_property` (IRIs, names of vocabularies such as "sosa")
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
        start: int | str | datetime | None = None,
        evaluate_at: Sequence[int | str | datetime] | None = None,
        max_delay: int | str | timedelta | None = None,
        why: bool = False,
        time_property: str | Sequence[str] | None = None,
        map: MapGiven = None,
        context: ContextGiven = None,
        max_advance: int | str | timedelta | None = None,
        max_derivations: int | None = None,
        max_runs: int | None = None,
        assign_time: str | None = None,
    ) -> None:
        query = varying(one_query(query), named_versions(versions))
        self.query = query
        self._streams = frozenset(query.streams)
        self._every_stream = query.lowered.every_stream and not self._streams  # else names are looked up
        self._options = RunOptions.of(
            policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay, why=why,
            time_property=time_property, max_advance=max_advance, max_derivations=max_derivations,
            max_runs=max_runs, assign_time=assign_time,
        )  # fmt: skip
        check_taken(self._options, query.lowered)
        self._map, self._context = map, context
        self._lifts = lifts_of(query, map, query.streams, self._options.times, context)
        check_derivations(max_derivations, query.lowered)
        self._refused: deque[DeadLetter] = deque(maxlen=_REMEMBERED)
        self._engine = LocalEngine(
            query.program,
            self._options,
            load_background(query, background, ontology),
            ontology=load_ontology(query, ontology),
            shown=self._shown,
            dead_letter=self._refused.append,
        )
        self.warnings = (*query.warnings, *self._engine.doubtful(query.lowered))
        """What may be wrong with the query, given its ontology."""
        self._kind: TimeKind | None = None
        self._delay = 0
        self._limit: int | None = None
        """By how much one event alone may move time on."""
        self._watermark = MIN_INSTANT
        self._open = False
        self._instant = OpenInstant()
        self._numbers: dict[str, int] = {}
        """The streams of the events so far, by their number in batches."""
        self._ahead: list[Entry] = []
        """The events that wait for their time, in order."""
        self._arrivals = 0
        self._events: dict[int, Event] = {}
        self._prune_at = _PRUNE_FROM
        self._closed = False
        self._steps = WholeSteps(self._options.work.rows)
        self._late: deque[Late] = deque(maxlen=_REMEMBERED)
        self._jumps: dict[str, Jumps[Event]] = {}
        self._leap = Leap()

    def push(self, event: Event | Mapping[str, Any], stream: str | None = None) -> list[Match]:
        """Give it one event; or one row, of which the engine's mapping makes events of `stream` (by default the only one)."""
        return Matches(self._pushed([event], stream), self.query)

    def push_all(self, events: Iterable[Event | Mapping[str, Any]], stream: str | None = None) -> list[Match]:
        """Give it several events, or rows; the matches are those of pushing them one by one."""
        check_several(events)
        return Matches(self._pushed(list(events), stream), self.query)

    def _pushed(self, given: list[Event | Mapping[str, Any]], stream: str | None) -> Sequence[Match]:
        with self._steps as step:
            events = self._accepted(given, stream)
            step.changes()
            return self._step(events)

    def _mapped(self, given: Mapping[str, Any], stream: str | None) -> Sequence[Event]:
        """The events that the mapping makes of a row."""
        if not isinstance(given, Mapping):
            rows = self._map is not None or self._context is not None
            ought = "engine.push(row, stream='…'), a row as a dictionary" if rows else "scepter.Event(stream, graph, time)"
            raise option_error("event", f"an engine takes events, not {a_type(given)}", help=ought)
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
    def late(self) -> list[Late]:
        """The last events that came behind the watermark, at most 10,000."""
        return list(self._late)

    @property
    def held(self) -> list[Event]:
        """Events that would move time on by more than `max_advance`, and that nothing has confirmed yet."""
        return [event for jumps in self._jumps.values() for _, event in jumps.held]

    def _accepted(self, events: list[Event | Mapping[str, Any]], stream: str | None) -> list[Event]:
        """The events, and those made of rows, each with its time; without those that have to wait for another."""
        found: list[Event] = []
        streams, every = self._streams, self._every_stream
        if events and not self._closed and are_plain(events, None if every else streams):
            if events[0].kind is not self._kind:
                self._begin(events[0].kind)
            if self._limit is None:
                return events
        for given in events:
            for event in (given,) if isinstance(given, Event) else self._mapped(given, stream):
                if self._closed:
                    raise DataError(Diagnostic("closed", "the engine is closed and takes no more events"))
                if event.stream not in streams and not every:
                    iri = self.query.resolve_stream(event.stream)  # raises with the names the query knows
                    if IRI(iri) in self.query.lowered.derived:
                        raise option_error("derived-stream", f"<{iri}> is constructed by the query itself")
                    event = event.into(iri)  # it was called by its alias or prefixed name
                if event.kind is None:
                    event = event.timed(self._options.times, self._engine.reading.assign)
                if event.kind is not self._kind:
                    self._begin(event.kind)
                if self._limit is None:
                    found.append(event)
                else:
                    found += self._confirmed(event, self._jumps.setdefault(event.stream, Jumps(self._limit)))
        return found

    def _confirmed(self, event: Event, jumps: Jumps[Event]) -> list[Event]:
        """The event, if it need not wait, and those that it confirms; those that have waited too long are refused."""
        assert self._kind is not None
        found = jumps.admit(event.end, event)
        for end, _ in jumps.dropped:
            self._refused.append(DeadLetter(event.stream, None, refusals.unconfirmed(end, jumps.limit, self._kind)))
        jumps.dropped.clear()
        return found

    def _begin(self, kind: TimeKind | None) -> None:
        """The first event tells the kind of time; one of another kind is refused."""
        assert kind is not None
        if self._kind is not None:
            raise DataError(
                Diagnostic(
                    "time-kind",
                    f"an event has a timestamp of kind {kind.value} after events of kind {self._kind.value}",
                    help="one query sees one kind of timestamp",
                )
            )
        self._delay = self._options.delay_on(kind) or 0
        self._limit = self._options.advance_on(kind)
        self._engine.prepare(kind)
        self._kind = kind

    def _begin_without_events(self) -> None:
        """Instants of evaluation tell the kind of time, too: there are answers without any event."""
        if self._kind is None and self._options.evaluate_at:
            self._begin(self._options.evaluate_at[0].kind)

    def _step(self, events: list[Event]) -> Sequence[Match]:
        """All instants that the events close are taken in one batch; the last one stays open."""
        at_once, new, watermark = self._in_time(events)
        self._arrivals += len(new)
        self._wait(new)
        before = self._watermark
        # none waits from then on, but for those that came now
        reopens = bool(self._ahead and self._ahead[0][0] == before) or bool(at_once and at_once[0].end == before)
        if not reopens and watermark == before:
            return []
        more: Sequence[Match] = ()
        if reopens and self._open and self._engine.in_parts:
            behind = next((i for i, event in enumerate(at_once) if event.end > before), len(at_once))
            self._take([*at_once[:behind], *(entry[3] for entry in self._due(before))])
            more, at_once, reopens = self._engine.advance(before, before - 1), at_once[behind:], False
            if watermark == before:
                return more
        if not reopens:
            self._forget_open()  # the engine commits it with what is closed now
        elif self._open:
            self._engine.undo()
        found = self._release(watermark, reopens, at_once)
        return [*more, *found] if more else found

    def _in_time(self, events: list[Event]) -> tuple[list[Event], list[Entry], int]:
        """The events that are not late, and the watermark behind them. Apart and in order those that need not wait, where many
        come in order: no entry is made for each, of which the garbage collector would look at all."""
        watermark, delay, kind = self._watermark, self._delay, self._kind or TimeKind.INTEGER
        at_once: list[Event] = []
        new: list[Entry] = []
        if len(events) > _MANY and (ends := np.array([e.end for e in events])).min() > MIN_INSTANT + delay:
            starts = np.array([e.start for e in events])
            reached = np.maximum(np.maximum.accumulate(ends - delay), watermark)
            late = ends < reached
            if not late.any() and not self._ahead and in_order(ends, starts):
                self._leap.seen(ends, late, events[0].stream, kind)
                behind = int(np.searchsorted(ends, reached[-1]))
                at_once, events = events[:behind], events[behind:]
                new = [(event.end, event.start, self._arrivals + i, event) for i, event in enumerate(events)]
                return at_once, new, int(reached[-1])
        for event in events:
            end = event.end
            if end - delay > watermark:
                watermark = end - delay
            is_late = end < watermark  # the event that moves the watermark is itself never behind it
            self._leap.step(end, is_late, event.stream, kind)
            if is_late:
                self._late.append(Late(event, watermark))
            else:
                new.append((end, event.start, self._arrivals + len(new), event))
        return at_once, new, watermark

    def _wait(self, new: list[Entry]) -> None:
        """Put events in their places among those that wait."""
        if len(new) == 1:
            insort(self._ahead, new[0])
        elif new:
            self._ahead += new
            self._ahead.sort()

    def _due(self, time: int) -> list[Entry]:
        """The events that wait up to a time, which wait no more."""
        ahead = self._ahead
        if ahead and ahead[-1][0] <= time:
            self._ahead = []
            return ahead
        at = bisect_left(ahead, (time + 1,))
        due = ahead[:at]
        del ahead[:at]
        return due

    def _release(self, watermark: int, reopens: bool, at_once: list[Event]) -> Sequence[Match]:
        """Close the instants before the watermark, those of `at_once` last, and open the one at it. Of an instant that was open
        and has been undone, what was returned before is not returned again.

        Instants are closed before the open one is saved: what operators then evict is never asked for again by an undo."""
        engine = self._engine
        due: list[Entry] = []
        if watermark > self._watermark and reopens:  # what was open, if it has been undone, is closed with the rest
            due = sorted(self._instant.entries)
        self._watermark = watermark
        if self._ahead and self._ahead[0][0] < watermark:
            due += self._due(watermark - 1)
        found: Sequence[Match] = ()
        if due or at_once or not reopens:
            if due:
                self._take([entry[3] for entry in due])
            if at_once:
                self._take(at_once)
            found = engine.advance(watermark - 1)
            engine.commit()
            if reopens:  # else it has been forgotten
                found = self._instant.fresh(found)
                self._instant.forget()
            if len(self._events) > self._prune_at:
                self._prune()
        check_runs(engine.state_size, self._options.work)
        engine.save()
        self._open = True
        opened = self._due(watermark)
        if len(opened) > 1:
            opened.sort(key=itemgetter(2))
        if engine.in_parts:
            self._take([entry[3] for entry in opened])
            told = engine.advance(watermark, watermark - 1)
        else:
            self._instant.take(opened, engine, self._events, self._read)
            told = self._instant.fresh(engine.advance(watermark, watermark - 1))
            self._instant.returned += told
        return [*found, *told] if found else told

    def _take(self, events: list[Event]) -> None:
        engine = self._engine
        for at in range(0, len(events), _TOGETHER):
            some = events[at : at + _TOGETHER]
            self._events.update(enumerate(some, engine.next_number))
            engine.take(self._read(some))

    def _read(self, events: list[Event]) -> EventBatch:
        assert self._kind is not None
        engine, numbers = self._engine, self._numbers
        for event in events:
            if event.stream not in numbers:
                numbers[event.stream] = engine.stream_number(IRI(event.stream))
        given = [told for event in events for told in (event.start, event.end, NAMELESS, numbers[event.stream])]
        return graphs_to_batch([event.triples for event in events], given, engine.key, self._kind, engine.reading)

    def _commit(self) -> None:
        self._engine.commit()
        self._forget_open()
        if len(self._events) > self._prune_at:
            self._prune()

    def _forget_open(self) -> None:
        self._open = False
        self._instant.forget()

    def _prune(self) -> None:
        """Let go of the events that no later match can show."""
        known, live = self._events, self._engine.live_events().tolist()
        self._events = {number: known[number] for number in live if number in known}
        self._prune_at = max(_PRUNE_FROM, 2 * len(self._events))

    def advance(self, time: int | str | datetime) -> list[Match]:
        """Say that time has reached `time`: no event at or before it, beyond those of the allowed delay, will come."""
        value, kind = read_instant(time)
        self._begin_without_events()
        if self._kind is None:
            return Matches(query=self.query)
        if kind is not self._kind:
            raise option_error("time-kind", f"the events' timestamps are of kind {self._kind.value}")
        watermark = value - self._delay
        if watermark < self._watermark or (watermark == self._watermark and not self._open):
            return Matches(query=self.query)
        with self._steps as step:
            step.changes()
            self._commit()  # also of an instant that events have reached: now it is closed
            self._watermark = watermark
            self._take([entry[3] for entry in self._due(watermark)])
            return Matches(self._engine.advance(watermark), self.query)

    def close(self) -> list[Match]:
        """The end of the stream: every window closes."""
        if self._closed:
            return Matches(query=self.query)
        self._closed = True
        self._begin_without_events()
        if self._kind is None:
            return Matches(query=self.query)
        with self._steps as step:
            step.changes()
            self._commit()
            self._take([entry[3] for entry in self._due(MAX_INSTANT)])
            return Matches(self._engine.finish(), self.query)

    def state_size(self) -> Mapping[str, int]:
        """Rows of state (runs, nodes, …) and bytes of texts, for tests and monitoring; and the events that are kept: because a
        later match may show them, until their time comes, held back, late; and the dead letters."""
        kept = {"events": len(self._events), "ahead": len(self._ahead), "held": len(self.held)}
        return {**self._engine.state_size(), **kept, "late": len(self._late), "refused": len(self._refused)}

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """The last events that could not be used: those that contradict the ontology, and the late ones."""
        late = [
            DeadLetter(e.event.stream, None, refusals.late(e.event.end, e.watermark, self._kind or TimeKind.INTEGER))
            for e in self._late
        ]
        return [*self._refused, *late]

    def _shown(self, number: int, name: str | None) -> object:
        return self._events.get(number, name)
