"""Events that are whole or nothing: half a version of a graph would be another graph.

A reader leaves out a line that it cannot read and keeps the rest of its event. Of the streams that `ReadState.whole` names the
event goes too, with a dead letter of its own. Readers find out whose lines they are, not who hears their dead letters: of a
flood of letters some are counted, and what a letter shows of a long line ends before its name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.batch import DeadLetter, EventBatch, kept
from scepter.rdf.lexing import UNTAGGED_LANG_STRING
from scepter.rdf.scanner import decode_term, line_end
from scepter.rdf.terms import parse_term

_NAME: Final = re.compile(rb"(<[^<>\s]*>|_:\S+)[ \t]*\.[ \t]*\Z")
_MESSAGE_ENDS: Final = re.compile(rb"^(?:[ \t]*MESSAGE[ \t]*(?:#.*)?|#\x1e)$", re.MULTILINE)
_TAIL: Final = 4_096
"""So much of the end of a line is looked at for a name."""
_ANY: Final = ""
HALF: Final = -64
"""The code of an event that goes because of its lines, where events are given one by one."""
UNREADABLE: Final = "cannot be read: the last good one stays"
REASON: Final = f"has lines that {UNREADABLE}"


def of_lines(codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which errors of a scan are of lines that are no statements; the others are of whole events, or outside of them."""
    return codes >= UNTAGGED_LANG_STRING


def name_at_end(line: bytes) -> bytes | None:
    """The graph's name at the end of a line that cannot be read; None for one that is cut off."""
    found = _NAME.search(line[-_TAIL:].rstrip(b"\r\n"))
    return None if found is None else found[1]


class WholeEvents:
    """Tells which events of a scan have lines that could not be read.

    An event's lines are contiguous, and its name stands within them: a bad line is of the event behind whose name it stands,
    or of the next one where it says so itself.
    """

    def __init__(self) -> None:
        self._next: str | None = None
        """The name that a bad line tells behind the last event: the next one may have it."""
        self._long: list[tuple[int, bytes | None]] = []
        """Where in the text a line was left out that was too long, and the name that it tells."""

    def left_out(self, at: int, name: bytes | None) -> None:
        """A line is not in the text that is scanned."""
        self._long.append((at, name))

    def broken(
        self, errors: NDArray[np.int64], starts: NDArray[np.int64], buffer: NDArray[np.uint8], consumed: int, *, log: bool
    ) -> NDArray[np.bool_]:
        """Of the events whose names stand at `starts` (-1: none), which are broken by errors (code, line, offset) of a scan
        that went as far as `consumed`. In a log of messages lines tell no names."""
        lines = of_lines(errors[:, 0])
        bad = [(at, name_at_end(_line(buffer, at))) for at in errors[lines, 2].tolist()]
        bad = sorted(bad + [each for each in self._long if each[0] <= consumed], key=lambda each: each[0])
        self._long = [(at - consumed, name) for at, name in self._long if at > consumed]
        found = np.zeros(len(starts), np.bool_)
        named = np.flatnonzero(starts >= 0)
        if not bad and self._next is None:
            return found
        text = buffer[:consumed].tobytes()
        places = _Places(starts[named].tolist(), text, np.sort(errors[~lines, 2]).tolist(), log)
        names = [_name(buffer, at) for at in places.starts]
        if names and self._next in (names[0], _ANY):
            found[named[0]] = True
        if len(starts):
            self._next = None
        for at, name in bad:
            told = None if name is None else _spelt(name)
            before = bisect_right(places.starts, at) - 1
            near = names[max(0, before) : before + 2]
            if told is not None and told in near:
                event: int | None = max(0, before) + near.index(told)
            elif told is None or places.messages:
                event = places.holding(at, before)
            else:
                event = len(names)  # another event's, which may come
            if event is not None and event < len(names):
                found[named[event]] = True
            elif event is not None and before + 1 == len(names):
                self._next = _ANY if told is None or places.messages else told
        return found


class _Places:
    """Where in a text events begin and end."""

    def __init__(self, starts: list[int], text: bytes, dropped: list[int], log: bool) -> None:
        self.starts = starts
        self._ends = [found.start() for found in _MESSAGE_ENDS.finditer(text)]
        self._dropped, self._size = dropped, len(text)
        self.messages = log or bool(self._ends)

    def holding(self, at: int, before: int) -> int | None:
        """The event of a line that tells no name; `before` is the last whose name stands before it."""
        begin = self.starts[before] if before >= 0 else 0
        if before >= 0 and not _between(self._ends, begin, at):
            return None if _between(self._dropped, begin, at) else before
        behind = before + 1
        if not self.messages:
            return None
        end = self.starts[behind] if behind < len(self.starts) else self._size
        return None if _between(self._ends, at, end) else behind


def _between(places: list[int], begin: int, end: int) -> bool:
    return bisect_right(places, begin) < bisect_right(places, end - 1)


def _line(buffer: NDArray[np.uint8], at: int) -> bytes:
    end = int(line_end(buffer, at))
    return buffer[max(at, end - _TAIL) : end].tobytes()


def _name(buffer: NDArray[np.uint8], at: int) -> str:
    return str(decode_term(buffer, at))


def _spelt(name: bytes) -> str | None:
    """A name as the scanner spells it; None for what can be no event's."""
    try:
        return str(parse_term(name.decode()))
    except ValueError:
        return None


def without(batch: EventBatch, broken: NDArray[np.bool_], source: str) -> tuple[EventBatch, list[DeadLetter]]:
    """A batch without its broken events, and what is to be said of them."""
    letters = []
    for event in np.flatnonzero(broken).tolist():
        at = int(batch.name_at[event])
        name = "" if at < 0 else f"{decode_term(batch.buffer, at)} "
        letters.append(DeadLetter(source, None, f"the version {name}{REASON}"))
    return kept(batch, ~broken), letters
