"""`scepter.Event`: what is pushed into an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from scepter.errors import DataError, Diagnostic, a_type, option_error
from scepter.rdf.assigning import AssignTime
from scepter.rdf.formats import parse_graph
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, parse_term
from scepter.rdf.times import TimeProperties, time_in
from scepter.timeline import TimeKind, format_instant, instant_of

TermGiven: TypeAlias = Term | str
"""A term, or its N-Triples text."""
_TERMS = """terms are scepter.IRI, BlankNode and Literal, or texts in N-Triples form: '<http://example/a>', '_:b', '"text"'"""


class Event:
    """An event for `Engine.push`: a stream, a graph (Turtle or N-Triples text, or triples of terms or of their N-Triples texts)
    and its time or interval.
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
        graph: str | Iterable[tuple[TermGiven, TermGiven, TermGiven]],
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

    @classmethod
    def of_texts(
        cls, stream: str, triples: list[tuple[str, str, str]], start: int, end: int, kind: TimeKind, name: str | None = None
    ) -> Event:
        """An event of N-Triples texts and instants that are known to be right."""
        event = cls.__new__(cls)
        event.stream, event.name, event.triples = stream, name, triples
        event.start, event.end, event.kind = start, end, kind
        return event

    def timed(self, times: TimeProperties, assign: AssignTime | None = None) -> Event:
        """The event with the time that its triples give it, or else that it is assigned; itself if it has one."""
        if self.kind is not None:
            return self
        try:
            found = time_in(self.triples, times) if times.inside else None
        except ValueError as error:
            raise DataError(Diagnostic("event-time", f"{self!r}: {error}")) from None
        if found is None and assign is not None:
            at = assign.next()
            found = at, at, assign.kind
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

    def into(self, stream: str) -> Event:
        """The event, in a stream of this IRI."""
        moved = copy(self)
        moved.stream = stream
        return moved

    def __repr__(self) -> str:
        size = f"{len(self.triples)} triple{'s' * (len(self.triples) != 1)}"
        if self.kind is None:
            return f"Event({self.stream!r}, {size})"
        time = format_instant(self.end, self.kind) if self.start == self.end else f"{self.start}..{self.end}"
        return f"Event({self.stream!r}, {time}, {size})"


@dataclass(frozen=True, slots=True)
class Late:
    """An event that came behind the watermark."""

    event: Event
    watermark: int


def _triples(
    graph: str | Iterable[tuple[TermGiven, TermGiven, TermGiven]], prefixes: Mapping[str, str] | None
) -> list[tuple[str, str, str]]:
    if not (prefixes is None or isinstance(prefixes, Mapping)):
        raise option_error("event", f"prefixes are a dict, not {a_type(prefixes)}", help="{'': 'http://example/'}")
    if isinstance(graph, str):
        _check_text(graph)
        return [_texts(*triple) for triple in parse_graph(graph, prefixes=prefixes)]
    try:
        triples = [(subject, predicate, object) for subject, predicate, object in graph]
    except (TypeError, ValueError):
        ought = "':a :p 1 .', or [(IRI(…), IRI(…), Literal(…))]"
        raise option_error("triple", f"a graph is Turtle text or triples of terms, not {graph!r}", help=ought) from None
    return [_texts(*triple) for triple in triples]


def _texts(*given: TermGiven) -> tuple[str, str, str]:
    try:
        subject, predicate, object = (parse_term(term) if isinstance(term, str) else term for term in given)
    except ValueError as error:
        raise option_error("triple", f"{_shown(given)} is no RDF triple: {error}", help=_TERMS) from None
    if (
        not isinstance(subject, (IRI, BlankNode))
        or not isinstance(predicate, IRI)
        or not isinstance(object, (IRI, BlankNode, Literal))
    ):
        raise option_error("triple", f"{_shown(given)} is no RDF triple", help=_TERMS)
    texts = str(subject), str(predicate), str(object)
    for text in texts:
        _check_text(text)
    return texts


def _shown(terms: Iterable[object]) -> str:
    return f"({', '.join(map(str, terms))})"


def _check_text(text: str) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        wrong = f"U+{ord(text[error.start]):04X}"
        raise option_error(
            "event", f"an event's texts are Unicode, and {wrong} alone, half of a pair, is no character"
        ) from None


def _interval(start: int | str | datetime | None, end: int | str | datetime | None) -> tuple[int, int, TimeKind]:
    if start is None:
        raise option_error("interval", "an event has an end and no start", help="give both, or the start alone")
    first, kind = read_instant(start)
    last, last_kind = (first, kind) if end is None else read_instant(end)
    if last_kind is not kind:
        raise option_error("time-kind", "an event's start and end are of different kinds")
    if last < first:
        raise option_error("interval", f"an event ends before it starts: {first} > {last}")
    return first, last, kind


def read_instant(given: int | str | datetime) -> tuple[int, TimeKind]:
    """A time as a program gives it."""
    if isinstance(given, bool) or not isinstance(given, (int, str, datetime)):
        raise option_error("instant", f"{given!r} is no time", help="give an int, an ISO 8601 string or a datetime")
    try:
        return instant_of(given)
    except ValueError as error:
        raise option_error("instant", str(error)) from None


def check_several(events: object) -> None:
    """Refuse what is no collection of events or rows."""
    if isinstance(events, (Event, Mapping)) or not isinstance(events, Iterable):
        what = {Event: "one event", dict: "one row"}.get(type(events), a_type(events))
        raise option_error("event", f"push_all takes several events, and was given {what}", help="engine.push(event)")
    if hasattr(events, "__arrow_c_stream__"):
        raise option_error(
            "event",
            f"push_all takes events, and was given a table ({type(events).__name__})",
            help="engine.push_all(scepter.events(table, map='mapping.yml', stream='…'))",
        )


def are_plain(events: list[Event | Mapping[str, Any]], streams: frozenset[str] | None) -> TypeGuard[list[Event]]:
    """Whether all are events with a time of one kind, of streams that the query reads."""
    if len(events) == 1:
        (only,) = events
        return isinstance(only, Event) and only.kind is not None and (streams is None or only.stream in streams)
    if {type(event) for event in events} != {Event}:
        return False
    told = cast("list[Event]", events)
    kinds = [event.kind for event in told]  # no set: an Enum's hash is computed in Python
    alike = kinds[0] is not None and kinds.count(kinds[0]) == len(kinds)
    return alike and (streams is None or {event.stream for event in told} <= streams)


def in_order(ends: NDArray[np.int64], starts: NDArray[np.int64]) -> bool:
    """Whether events are in order of end, and then of start."""
    return bool(np.all((ends[1:] > ends[:-1]) | ((ends[1:] == ends[:-1]) & (starts[1:] >= starts[:-1]))))
