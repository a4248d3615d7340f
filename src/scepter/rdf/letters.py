"""Dead letters of what a scan refused: a code, a line and a place become words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf import faults, lexing
from scepter.rdf.batch import DeadLetter
from scepter.rdf.limits import ReadLimits
from scepter.rdf.rdf12 import beyond_rdf11
from scepter.rdf.scanner import line_end
from scepter.rdf.whole_events import HALF, REASON

SHOWN: Final = 1000
"""How much of a text a dead letter shows."""
GROWN: Final = b'"beyond the limit of an event"'
"""What is left of an event that has grown beyond its limit: a time that is none, so that all its lines are refused."""
REASONS: Final[dict[int, str]] = {
    lexing.BAD_IRI: "a character that an IRI must not hold",
    lexing.RELATIVE_IRI: "a relative IRI; write it in full, with its scheme",
    lexing.BAD_ESCAPE: "an escape that stands for no character",
    lexing.BAD_UTF8: "bytes that are not UTF-8",
    lexing.BAD_LITERAL: "a string without its closing quote",
    lexing.BAD_LANGUAGE: "an @ that no language tag follows",
    lexing.BAD_DATATYPE: "a ^^ that no datatype IRI follows",
    lexing.BAD_LABEL: "a malformed blank node label",
    lexing.BAD_SUBJECT: "a subject that is neither an IRI nor a blank node",
    lexing.BAD_PREDICATE: "a predicate that is no IRI",
    lexing.BAD_OBJECT: "an object that is no IRI, blank node or literal",
    lexing.BAD_GRAPH: "a fourth element that is no graph name or time, or a missing dot",
    lexing.NO_DOT: "a missing dot at the end",
    lexing.AFTER_DOT: "text after the dot",
    lexing.UNTAGGED_LANG_STRING: "an rdf:langString without a language tag",
    faults.OUTSIDE: "a triple outside every event: it has no graph name and gives no time",
    faults.BAD_TIME: "a time that is neither an xsd:dateTime nor an integer",
    faults.TIME_RANGE: "a time that does not fit into 64 bits: times reach to 2^63 - 4",
    faults.MIXED_KINDS: "a dateTime among integer times, or an integer among dateTimes",
    faults.TWO_TIMES: "an event with two times",
    faults.NO_TIME: "an event without a time",
    faults.NO_TRIPLES: "an event without triples",
    faults.HALF_INTERVAL: "an event with only one of prov:startedAtTime and prov:endedAtTime",
    faults.BACKWARDS: "an event that ends before it starts",
    faults.TOO_MUCH: "an event beyond the limit of an event",
    HALF: f"a version {REASON}",
}
"""Why a line or an event went to the dead letters."""


_VALUES: Final = re.compile(r"'[^']*'|\"[^\"]*\"|<[^>]*>|[0-9]+")
"""What two reasons may differ in and be one."""
_SYNTAX: Final = frozenset(code for code in REASONS if code >= lexing.UNTAGGED_LANG_STRING)
"""The reasons that a line is no statement of RDF 1.1: it may be one of RDF 1.2."""


def letter(source: str, line: int | None, code: int, text: bytes) -> DeadLetter:
    """The dead letter of a line or an event; of a long text only the beginning."""
    shown = text[:SHOWN].decode("utf-8", errors="replace").rstrip("\r\n")
    reason = beyond_rdf11(text) if code in _SYNTAX else None
    return DeadLetter(source, line, reason or REASONS[code], shown + "…" if len(text) > SHOWN else shown)


@dataclass(slots=True)
class Sampled:
    """Takes the dead letters of one source: of those that differ in values and numbers alone the first ones pass one by one,
    the others are counted. What was counted already passes as it is."""

    dead_letter: Callable[[DeadLetter], None]
    most: int
    _told: Counter[str] = field(default_factory=Counter)
    _more: dict[str, tuple[DeadLetter, int]] = field(default_factory=dict)
    """Of each kind the first one that is not told yet, and how many there are."""

    def __call__(self, letter: DeadLetter) -> None:
        """Takes one letter."""
        kind = _VALUES.sub("", letter.reason)
        if letter.count > 1 or self._told[kind] < self.most:
            self._told[kind] += 1
            self.dead_letter(letter)
            return
        first, count = self._more.get(kind, (letter, 0))
        self._more[kind] = first, count + 1
        if count + 1 == self.most:  # a pipe may have no end
            self._tell(*self._more.pop(kind))

    def finish(self) -> None:
        """Tell what was counted: there is no more."""
        for first, count in self._more.values():
            self._tell(first, count)
        self._more.clear()

    def _tell(self, first: DeadLetter, count: int) -> None:
        self.dead_letter(replace(first, text="", count=count))


@dataclass(slots=True)
class Letters:
    """Tells what the scans of one source refused: the first of each kind one by one, the others counted, so that junk costs no
    more than data."""

    source: str
    dead_letter: Callable[[DeadLetter], None]
    limits: ReadLimits
    numbered: bool = True
    """Whether the lines mean something to a person."""
    _told: Counter[int] = field(default_factory=Counter)
    _plain: set[int] = field(default_factory=set)
    """The codes of which a letter that was shown had no other reason than theirs."""

    def tell(self, errors: NDArray[np.int64], buffer: NDArray[np.uint8], whole: int) -> None:
        """The errors of a scan of `buffer[:whole]`: code, line, offset of what is shown."""
        shown, counted = [], []
        for code in np.unique(errors[:, 0]).tolist():
            rows = np.flatnonzero(errors[:, 0] == code)
            room = self.limits.letters - self._told[code]
            shown.append(rows[:room])
            counted += [(int(rows[room]), len(rows) - room)] if len(rows) > room else []
            self._told[code] += len(rows[:room])
        for row in np.sort(np.concatenate(shown)).tolist() if shown else ():
            code, line, at = errors[row].tolist()
            found = self._letter(code, line, buffer, at, whole)
            if found.reason == REASONS[code]:
                self._plain.add(code)
            self.dead_letter(found)
        for row, count in counted:
            code, line, at = errors[row].tolist()
            found = self._letter(code, line, buffer, at, whole)
            reason = REASONS[code] if code in self._plain else found.reason
            self.dead_letter(replace(found, reason=reason, text="", count=count))

    def _letter(self, code: int, line: int, buffer: NDArray[np.uint8], at: int, whole: int) -> DeadLetter:
        end = line_end(buffer, at)
        text = buffer[at : min(end, at + SHOWN + 1)].tobytes()
        found = letter(self.source, line if self.numbered else None, code, text)
        if end >= whole and code in _SYNTAX and not text.rstrip().endswith(b"."):
            return replace(found, reason=f"{found.reason}; the input ends in the middle of this line")
        if code == faults.TOO_MUCH or (code == faults.BAD_TIME and GROWN in text):
            return replace(found, reason=f"an event of more than {self.limits.event} bytes (limit event)", text="")
        return found
