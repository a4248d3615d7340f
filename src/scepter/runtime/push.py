"""`scepter.Engine`: the kernel in this process, one event at a time."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime

from scepter.errors import DataError, Diagnostic, option_error
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import GraphEvent, events_to_batch, parse_graph
from scepter.rdf.terms import IRI, BlankNode, Literal, Term
from scepter.rdf.times import TimeProperties, time_in
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.jumps import Jumps, Leap
from scepter.runtime.matches import Match
from scepter.runtime.notebook import Matches
from scepter.runtime.options import RunOptions, check_derivations, check_taken
from scepter.runtime.queries import Query, check_query
from scepter.timeline import MIN_INSTANT, TimeKind, format_instant, parse_instant

_PRUNE_FROM = 4096
"""So many events are kept before those that no match can show are let go."""


class Event:
    """An event for `Engine.push`: a stream, a graph (Turtle or N-Triples text, or triples of terms) and its time or interval.
    Without a time, the engine's `time_property` says which of its triples gives it.

    >>> Event("http://example/s", "<http://example/a> <http://example/p> 1 .", 10).end
    10
    """

    __slots__ = ("end", "kind", "name", "start", "stream", "triples")
    kind: TimeKind | None
    """None while the event has no time."""

    def __init__(
        self,
        stream: str,
        graph: str | Iterable[tuple[Term, Term, Term]],
        start: int | str | datetime | None = None,
        end: int | str | datetime | None = None,
        *,
        name: str | None = None,
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(stream, str) or not (name is None or isinstance(name, str)):
            raise option_error("event", f"an event's stream and name are text, not {stream!r} and {name!r}")
        self.stream = stream
        self.name = name
        self.start, self.end, self.kind = (0, 0, None) if start is None and end is None else _interval(start, end)
        self.triples: list[tuple[str, str, str]] = _triples(graph, prefixes)
        if not self.triples:
            raise option_error("empty-event", "an event's graph has one or more triples")

    def timed(self, times: TimeProperties) -> Event:
        """The event with the time that its triples give it; itself if it has one."""
        if self.kind is not None:
            return self
        try:
            found = time_in(self.triples, times) if times.inside else None
        except ValueError as error:
            raise DataError(Diagnostic("event-time", f"{self!r}: {error}")) from None
        if found is None:
            looked = f"none of its triples has {', '.join(times.given)}" if times.inside else "it was given none"
            raise DataError(
                Diagnostic(
                    "event-time",
                    f"{self!r} has no time: {looked}",
                    help="give Event a start, or the engine a time_property that its triples have",
                )
            )
        timed = copy(self)
        timed.start, timed.end, timed.kind = found
        return timed

    def __repr__(self) -> str:
        if self.kind is None:
            return f"Event({self.stream!r}, {len(self.triples)} triples)"
        time = format_instant(self.end, self.kind) if self.start == self.end else f"{self.start}..{self.end}"
        return f"Event({self.stream!r}, {time}, {len(self.triples)} triples)"


def _triples(graph: str | Iterable[tuple[Term, Term, Term]], prefixes: Mapping[str, str] | None) -> list[tuple[str, str, str]]:
    if not (prefixes is None or isinstance(prefixes, Mapping)):
        raise option_error("event", f"prefixes are a dict, not a {type(prefixes).__name__}", help="{'': 'http://example/'}")
    if isinstance(graph, str):
        return [_texts(*triple) for triple in parse_graph(graph, prefixes=prefixes)]
    try:
        triples = [(subject, predicate, object) for subject, predicate, object in graph]
    except (TypeError, ValueError):
        ought = "':a :p 1 .', or [(IRI(…), IRI(…), Literal(…))]"
        raise option_error("triple", f"a graph is Turtle text or triples of terms, not {graph!r}", help=ought) from None
    return [_texts(*triple) for triple in triples]


def _texts(subject: Term, predicate: Term, object: Term) -> tuple[str, str, str]:
    if (
        not isinstance(subject, (IRI, BlankNode))
        or not isinstance(predicate, IRI)
        or not isinstance(object, (IRI, BlankNode, Literal))
    ):
        raise option_error("triple", f"({subject}, {predicate}, {object}) is no RDF triple")
    return str(subject), str(predicate), str(object)


def _interval(start: int | str | datetime | None, end: int | str | datetime | None) -> tuple[int, int, TimeKind]:
    if start is None:
        raise option_error("interval", "an event has an end and no start", help="give both, or the start alone")
    first, kind = _instant(start)
    last, last_kind = (first, kind) if end is None else _instant(end)
    if last_kind is not kind:
        raise option_error("time-kind", "an event's start and end are of different kinds")
    if last < first:
        raise option_error("interval", f"an event ends before it starts: {first} > {last}")
    return first, last, kind


def _instant(given: int | str | datetime) -> tuple[int, TimeKind]:
    if isinstance(given, bool) or not isinstance(given, (int, str, datetime)):
        raise option_error("instant", f"{given!r} is no time", help="give an int, an ISO 8601 string or a datetime")
    if isinstance(given, datetime):
        aware = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
        delta = aware - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds, TimeKind.DATETIME
    try:
        return parse_instant(str(given))
    except ValueError as error:
        raise option_error("instant", str(error)) from None


@dataclass(frozen=True, slots=True)
class Late:
    """An event that came behind the watermark."""

    event: Event
    watermark: int


class Engine:
    """A query over pushed events.

    `push` takes events in order of time, or out of order by at most `max_delay`, and returns the matches that became certain.
    Late events are kept in `late` and take part in nothing; an event that would move time on by more than `max_advance` waits
    in `held` until a second one of its stream confirms it. `time_property` (IRIs, or names of vocabularies such as "sosa")
    says which of its triples gives the time of an event that comes without one.

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
        query: Query,
        *,
        background: BackgroundGiven = None,
        ontology: OntologyGiven = None,
        policy: str | None = None,
        time_unit: str = "ms",
        start: int | str | None = None,
        evaluate_at: Sequence[int | str] | None = None,
        max_delay: int | str | None = None,
        why: bool = False,
        time_property: str | Sequence[str] | None = None,
        max_advance: int | str | None = None,
        max_derivations: int | None = None,
    ) -> None:
        check_query(query)
        self.query = query
        self._options = RunOptions.of(
            policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay, why=why,
            time_property=time_property, max_advance=max_advance, max_derivations=max_derivations,
        )  # fmt: skip
        check_taken(self._options, query.lowered)
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
        self._ahead: list[tuple[int, int, int, Event]] = []
        self._arrivals = 0
        self._events: dict[int, Event] = {}
        self._prune_at = _PRUNE_FROM
        self._closed = False
        self.late: list[Late] = []
        self._jumps: dict[str, Jumps[Event]] = {}
        self._leap = Leap()

    def push(self, event: Event) -> list[Match]:
        """Give it one event."""
        return self.push_all([event])

    def push_all(self, events: Iterable[Event]) -> list[Match]:
        """Give it several events; the matches are those of pushing them one by one."""
        if isinstance(events, Event) or not isinstance(events, Iterable):
            what = "one event" if isinstance(events, Event) else f"a {type(events).__name__}"
            raise option_error("event", f"push_all takes several events, and was given {what}", help="engine.push(event)")
        return Matches(
            self._step([each for event in events for each in self._admitted(self._accepted(event))]), query=self.query
        )

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
        event = event.timed(self._options.times)
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
        return self._release(watermark)

    def _release(self, watermark: int) -> Sequence[Match]:
        """Close the instants before the watermark, and open the one at it. Of an instant that was open and has been undone,
        what was returned before is not returned again."""
        self._watermark = watermark
        due: list[Event] = []
        while self._ahead and self._ahead[0][0] < watermark:
            due.append(heapq.heappop(self._ahead)[3])
        found: Sequence[Match] = ()
        if due:
            self._take(due)
            found = self._fresh(self._engine.advance(watermark - 1))
            self._engine.commit()
            self._returned.clear()
            self._prune()
        now = [entry[3] for entry in sorted((e for e in self._ahead if e[0] == watermark), key=lambda e: e[2])]
        self._engine.save()
        self._open = True
        self._take(now)
        opened = self._fresh(self._engine.advance(watermark, watermark - 1))
        self._returned += opened
        return [*found, *opened] if found else opened

    def _take(self, events: list[Event]) -> None:
        if not events:
            return
        assert self._kind is not None
        number = self._engine.next_number
        self._events.update({number + i: e for i, e in enumerate(events)})
        rows = [GraphEvent(self._engine.stream_number(IRI(e.stream)), None, e.start, e.end, e.triples) for e in events]
        self._engine.take(events_to_batch(rows, self._engine.key, self._kind, run=self._engine.reading))

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
        while self._ahead and self._ahead[0][0] == self._watermark:
            heapq.heappop(self._ahead)  # taken in the instant that is now closed
        self._open = False
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
        value, kind = _instant(time)
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
