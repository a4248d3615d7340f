"""Times for events that have none (EP-SPARQL §5, SPAseq §2.1, Sparkwave §3.1): that of their arrival, or their number.

It works on the text, before it is scanned: a line gets a time behind it, a graph a line that gives its time. So every format
that is read by way of N-Quads has it, and what is scanned is what a stream with times would have been.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from scepter.errors import nearest, option_error
from scepter.rdf.terms import XSD
from scepter.rdf.times import TimeProperties
from scepter.timeline import TimeKind, format_instant

HOW: Final = ("arrival", "sequence")
PER: Final = ("line", "group")
_SUBJECT: Final = rb"(<[^<>\s]*>|_:[^\s<>\"]+)"
_LITERAL: Final = rb'"(?:[^"\\\n]|\\.)*+"(?:@[A-Za-z0-9-]+|\^\^[ \t]*<[^<>\s]*>)?'
_TRIPLE: Final = re.compile(
    rb"[ \t]*(" + _SUBJECT + rb"[ \t]*(<[^<>\s]*>)[ \t]*(?:<[^<>\s]*>|_:[^\s<>\"]*[^\s<>\".]|" + _LITERAL + rb"))"
    rb"[ \t]*(<[^<>\s]*>|_:[^\s<>\"]*[^\s<>\".]|" + _LITERAL + rb")?[ \t]*\.[ \t]*(?:#.*)?\r?"
)
_BLANK: Final = re.compile(rb"[ \t\r]*")


def _now() -> int:
    return time.time_ns() // 1000


@dataclass(slots=True)
class AssignTime:
    """How events without a time get one: `sequence`, 1, 2, 3 … in order of arrival; `arrival`, the clock's, or that of the
    broker whose message is read, each later than the one before. Of plain triples each line is an event, or (`per` group) all
    up to a blank line.

    >>> one = AssignTime("sequence")
    >>> one.next(), one.next(), one.kind.value
    (1, 2, 'integer')
    """

    how: str
    per: str = "line"
    clock: Callable[[], int] = _now
    last: int = 0
    """The time that was given last."""
    broker: int | None = None
    """When the broker took the message that is read; None: the clock tells."""

    @classmethod
    def of(cls, how: str | None, per: str | None = None) -> AssignTime | None:
        """What a person writes; None where times are not assigned."""
        for option, value, allowed in (("--assign-time", how, HOW), ("--event-per", per, PER)):
            if value is not None and value not in allowed:
                close = nearest(str(value), allowed)
                hint = f"did you mean {close}?" if close else f"one of {', '.join(allowed)}"
                raise option_error("bad-option", f"{option} cannot be {value!r}", help=hint)
        if how is None:
            if per is not None:
                raise option_error(
                    "bad-option",
                    "--event-per says what an event without a time is, and such events are not taken",
                    help="add --assign-time sequence or arrival",
                )
            return None
        return cls(how, per or PER[0])

    @property
    def kind(self) -> TimeKind:
        """The kind of the times it gives."""
        return TimeKind.INTEGER if self.how == "sequence" else TimeKind.DATETIME

    def next(self) -> int:
        """The time of the next event: later than all before, also where the clock is set back."""
        least = self.last + 1
        told = least if self.how == "sequence" else self.clock() if self.broker is None else self.broker
        self.last = max(least, told)
        return self.last

    def now(self) -> int | None:
        """How far time is known without an event: the clock's, for arrival. A broker's time goes on with its messages: those
        that were sent before now may be still to come."""
        return None if self.how == "sequence" or self.broker is not None else max(self.last, self.clock() - 1)

    def restart(self) -> None:
        """A source is read from its beginning: its events are counted from 1. Files have no order of arrival among them."""
        self.last, self.broker = 0, None

    def literal(self) -> bytes:
        """The next time as a literal."""
        text = format_instant(self.next(), self.kind)
        return f'"{text}"^^<{XSD}{"integer" if self.how == "sequence" else "dateTime"}>'.encode()


@dataclass(slots=True)
class TimeAssigner:
    """Assigns times in one source's text. `feed` takes chunks of any size and gives text of whole lines.

    >>> assigner = TimeAssigner(AssignTime("sequence"), TimeProperties())
    >>> assigner.feed(b"<a:s> <a:p> <a:o> .\\n<a:s> <a:p> 'x")
    b'<a:s> <a:p> <a:o> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\\n'
    """

    assign: AssignTime
    times: TimeProperties
    _rest: bytes = b""
    _graph: bytes | None = None
    """The graph whose lines are being read."""
    _timed: bool = False
    """Whether it has its time."""
    _announced: bytes | None = None
    """What the last line gave a time, before a graph of that name came."""
    _group: bytes | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def feed(self, chunk: bytes) -> bytes:
        """Text with times, as far as its lines are whole."""
        text = self._rest + chunk
        end = text.rfind(b"\n") + 1
        self._rest = text[end:]
        return b"".join(self._line(line) for line in text[:end].split(b"\n")[:-1])

    def finish(self) -> bytes:
        """The rest, and the time of the last event."""
        last, self._rest = self._rest, b""
        text = (b"" if not last else self._line(last)) + self._close()
        return last if text == last + b"\n" else text  # a line that is cut off stays one for the scanner

    def _line(self, line: bytes) -> bytes:
        if _BLANK.fullmatch(line):
            return self._close() + b"\n"
        found = _TRIPLE.fullmatch(line)
        if found is None:  # a comment, or what the scanner will refuse
            return line + b"\n"
        triple, subject, predicate, context = found.groups()
        if context is None:
            if self._is_time(predicate):
                return self._gives_time(subject, line)
            return self._plain(triple)
        if context.startswith(b'"'):  # its time stands there
            return self._close() + line + b"\n"
        closed = self._of_graph(context)
        self._timed |= self.times.inside and self._is_time(predicate)
        return closed + line + b"\n"

    def _gives_time(self, subject: bytes, line: bytes) -> bytes:
        if subject == self._graph:
            self._timed = True
            return line + b"\n"
        closed = self._close()
        self._announced = subject
        return closed + line + b"\n"

    def _is_time(self, predicate: bytes) -> bool:
        return predicate[1:-1].decode("utf-8", "replace") in self.times.iris

    def _of_graph(self, graph: bytes) -> bytes:
        """A line of a graph is coming; what ends the event before it."""
        if graph == self._graph:
            return b""
        closed = self._close()
        self._graph, self._timed, self._announced = graph, graph == self._announced, None
        return closed

    def _plain(self, triple: bytes) -> bytes:
        if self.assign.per == "line":
            return self._close() + triple + b" " + self.assign.literal() + b" .\n"
        closed = b"" if self._group is not None else self._close()
        if self._group is None:
            self._group = b"_:arrived%d" % next(self._numbers)
        return closed + triple + b" " + self._group + b" .\n"

    def _close(self) -> bytes:
        """The time of the graph, or of the group of triples, that has ended."""
        open_graph = self._group or (None if self._timed else self._graph)
        self._graph = self._group = None
        if open_graph is None:
            return b""
        return b"%s <%s> %s .\n" % (open_graph, self.times.iris[0].encode(), self.assign.literal())
