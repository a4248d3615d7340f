"""N-Quads in chunks of any size to event batches (spec/00 §2).

A batch ends where an event ends; the rest waits for more. A name that comes back after another event's lines is a new event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.rdf import grouping, lexing, scanner
from scepter.rdf.assigning import AssignTime, TimeAssigner
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.gathering import Gatherer
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import GROWN, SHOWN, Letters
from scepter.rdf.limits import DEFAULT, ReadLimits
from scepter.rdf.numerals import UNDECIDED, exact_number
from scepter.rdf.spelling import LABEL_ROOM
from scepter.rdf.terms import Literal
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.rdf.whole_events import WholeEvents, name_at_end, without
from scepter.timeline import TimeKind

BATCH_BYTES: Final = 1 << 20
"""How much text makes a batch unless the caller says otherwise: large enough to forget the cost of a batch, small enough to
stay in the cache, and that nobody waits long for it."""

Column = TypeVar("Column", bound=np.generic)
KINDS: Final = (None, TimeKind.DATETIME, TimeKind.INTEGER)
"""The kinds of time by their code in a scan's state."""
_PATIENCE: Final = 64 << 10
_PAD: Final = len(lexing.SENTINEL)
_SHORTEST_STATEMENT: Final = 10  # _:a<b:>_:c.
_UNCOUNTED: Final = 8 << 20
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(slots=True)
class ReadState:
    """What the readers of one run share: the kind of its timestamps, once known, and the number of its events so far, which
    keeps the blank nodes of different events apart. Workers of one run count from different `salt`s. `times` says which
    properties give an event its time."""

    kind: TimeKind | None = None
    salt: int = 0
    times: TimeProperties = PROV_TIMES
    limits: ReadLimits = DEFAULT
    assign: AssignTime | None = None
    """How events without a time get one; without it they are dead letters."""
    named: bool = True
    """Whether the names of events are of use to anybody."""
    whole: set[int] = field(default_factory=set)
    """The streams whose events are whole or nothing (`rdf.whole_events`)."""
    told: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    """The sources and fields of which it was told that documents lack them."""
    room: tuple[scanner.Columns, NDArray[np.uint8]] | None = None
    """What the last small batch of events at hand was read with: the next one is read in the same memory."""


def padded(text: bytes | bytearray | memoryview, spare: int = 0) -> NDArray[np.uint8]:
    """A buffer as the kernels want it: the text, a sentinel, and room for salted labels."""
    size = len(text)
    buffer = np.empty(size + _PAD + spare, np.uint8)
    room = buffer.data
    room[:size] = text.cast("B") if isinstance(text, memoryview) else text  # Arrow's bytes have a sign
    room[size : size + _PAD] = lexing.SENTINEL
    return buffer


def scratch_for(size: int) -> NDArray[np.uint8]:
    """Room to write one canonical term of a text of this size."""
    return np.zeros(size + 64, dtype=np.uint8)


def line_bound(text: bytes | memoryview | NDArray[np.uint8]) -> int:
    """At most so many lines are in a text: line ends, and of what is no `bytes` the few others up to CR, in one pass."""
    if isinstance(text, bytes):
        return text.count(b"\n") + text.count(b"\r") + 1
    return int(np.count_nonzero(np.asarray(text) <= lexing.CR)) + 1


def row_bound(size: int, lines: int) -> int:
    """At most so many statements are in a text."""
    return min(lines, size // _SHORTEST_STATEMENT) + 1


def spare_for(size: int, rows: int) -> int:
    """Room that the salted labels of a text may take: the labels, and what salt adds to two of them in each row. Memory that
    is never written costs nothing."""
    return size + 2 * rows * LABEL_ROOM


def batch_of(columns: scanner.Columns, buffer: NDArray[np.uint8], kind: TimeKind) -> EventBatch:
    """The batch that a scan filled, which takes over its columns and its buffer."""
    number, scale = exact_numbers(columns, buffer)
    start, end, name_at, first, stream = events_of(columns)
    rows = len(number)
    subject, predicate, object_ = columns.ids[:, :rows]
    subject_at, predicate_at, object_at = columns.places[:, :rows]
    return EventBatch(
        buffer[: columns.state.item(scanner.SPARE)], kind, stream.astype(np.int32), start, end, name_at, first,
        subject, predicate, object_, subject_at, predicate_at, object_at, number, scale,
    )  # fmt: skip


def gathered_batch(
    columns: scanner.Columns, buffer: NDArray[np.uint8], kind: TimeKind, gather: Gatherer, *, named: bool
) -> EventBatch:
    """The batch that a scan filled, apart from its columns and its buffer: they may be filled again."""
    rows = int(columns.state[scanner.ROWS])
    number, scale = exact_numbers(columns, buffer)
    start, end, name_at, first, stream = map(np.copy, events_of(columns))
    text = buffer[: int(columns.state[scanner.SPARE])]
    if not named:
        name_at[:] = -1
    kept, places, names = gather(text, columns.ids[:, :rows], columns.places[:, :rows], name_at)
    return EventBatch(
        kept, kind, stream.astype(np.int32), start, end, names, first,
        *_three(columns.ids[:, :rows].copy()), *_three(places), number.copy(), scale.copy(),
    )  # fmt: skip


def _three(rows: NDArray[Column]) -> tuple[NDArray[Column], NDArray[Column], NDArray[Column]]:
    """Of subjects, predicates and objects."""
    return rows[0], rows[1], rows[2]


def exact_numbers(columns: scanner.Columns, buffer: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The objects' numbers, with those that only exact reading decides."""
    rows = columns.state.item(scanner.ROWS)
    number, scale = columns.number[:rows], columns.scale[:rows]
    for row in (scale == UNDECIDED).nonzero()[0].tolist() if rows != 1 or scale[0] == UNDECIDED else ():
        term = scanner.decode_term(buffer, int(columns.places[2, row]))
        if not isinstance(term, Literal):
            raise AssertionError("only literals are numbers")
        number[row], scale[row] = exact_number(term)
    return number, scale


def events_of(columns: scanner.Columns) -> tuple[NDArray[np.int64], ...]:
    """Start, end, name's offset, first row (and one more) and stream of the events, not copied."""
    events, told = columns.state.item(scanner.EVENTS), columns.events
    told[3, events] = columns.state.item(scanner.ROWS)
    start, end, name_at, _, stream = told[:, :events]
    return start, end, name_at, told[3, : events + 1], stream


class NQuadsReader:
    """Reads one N-Quads source. `feed` takes chunks of any size and gives a batch whenever enough events are complete;
    `finish` gives the rest. A batch holds the texts of its terms, and nothing else of what was read.

    `predicates` are the ids of the predicates that are kept (None: all): other triples are checked and left out, their events
    stay. `numbered=False` leaves the line out of dead letters, for text that no person wrote; `named=False` the names out of
    events, for runs that never show them.
    """

    def __init__(
        self,
        key: TermKey,
        stream_index: int,
        source_name: str,
        dead_letter: Callable[[DeadLetter], None],
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        numbered: bool = True,
        named: bool = True,
    ) -> None:
        self._key = key.words()
        self._table = scanner.id_table(predicates or ())
        self._prune = predicates is not None
        self._stream_index = stream_index
        self._source = source_name
        self._dead_letter = dead_letter
        self._run = run if run is not None else ReadState()
        self._time_ids = self._run.times.table(key)
        self._assigner = None if self._run.assign is None else TimeAssigner(self._run.assign, self._run.times)
        self._limits = self._run.limits
        self._batch_bytes = max(1, min(batch_bytes, self._limits.event))
        self._numbered = numbered
        self._named = named
        self._buffer = np.empty(0, np.uint8)
        """Whole lines that wait, with room behind them; the same memory for one batch after the other."""
        self._whole = 0  # the size of these lines
        self._rest: list[bytes] = []
        """The line that is not whole yet."""
        self._columns = scanner.allot(0, 0)
        self._needed = self._batch_bytes - self._batch_bytes // 8  # a chunk of this size ends within a line
        self._line = 1
        self._at_start = True
        self._messages = 0
        """Whether the source is a log of messages, as its version says."""
        self._scratch = scratch_for(0)
        self._gather = Gatherer()
        self._letters = Letters(source_name, dead_letter, self._limits, numbered=numbered)
        self._whole_events = WholeEvents() if stream_index in self._run.whole else None
        self._passing = False
        """Whether the rest of a line is passed over that is too long."""

    def feed(self, chunk: bytes) -> EventBatch | None:
        """Takes more text; a batch if it completes enough events."""
        if self._assigner is not None:
            chunk = self._assigner.feed(chunk)
        if self._passing:
            end = chunk.find(b"\n")
            if end < 0:
                return None
            self._passing, chunk = False, chunk[end:]
        end = chunk.rfind(b"\n") + 1
        if end:
            self._take_lines(chunk, end)
            self._rest = [chunk[end:]]
        else:
            self._rest.append(chunk)
        if len(chunk) - end > self._limits.literal or len(self._rest) > 1:
            self._bound_rest()
        return self._scan(final=False) if self._whole >= self._needed else None

    def _take_lines(self, chunk: bytes, end: int) -> None:
        """Take the whole lines of a chunk, those aside that are too long."""
        longest = self._limits.literal
        if sum(map(len, self._rest)) + end <= longest:
            self._take([*self._rest, memoryview(chunk)[:end]])
            return
        text = b"".join([*self._rest, memoryview(chunk)[:end]])
        at = 0
        for found in re.finditer(rb"^[^\r\n]{%d,}+" % (longest + 1), text, re.MULTILINE):
            self._take([memoryview(text)[at : found.start()]])
            self._too_long(text[found.start() : found.start() + SHOWN], name_at_end(text[found.end() - SHOWN : found.end()]))
            at = found.end()
        self._take([memoryview(text)[at:]])

    def _bound_rest(self) -> None:
        """Let go of a line that is too long before it is whole. Lines may also end in CR alone."""
        size = sum(map(len, self._rest))
        if size <= self._limits.literal:
            return
        text = b"".join(self._rest)
        end = text.rfind(b"\r", 0, -1) + 1
        if end:
            self._rest = []
            self._take_lines(text, end)
            self._rest = [text[end:]]
        else:
            self._too_long(text[:SHOWN])
            self._rest, self._passing = [], True

    def _too_long(self, begins: bytes, name: bytes | None = None) -> None:
        if self._whole_events is not None:
            self._whole_events.left_out(self._whole, name)
        line = self._line + int(np.count_nonzero(self._buffer[: self._whole] == lexing.LF)) if self._numbered else None
        reason = f"a line of more than {self._limits.literal} bytes (limit literal)"
        self._dead_letter(DeadLetter(self._source, line, reason, begins.decode("utf-8", errors="replace") + "…"))

    def settle(self) -> EventBatch | None:
        """The whole lines that have come are whole events: the next line begins another."""
        return self._scan(final=True) if self._whole else None

    def finish(self) -> EventBatch | None:
        """Ends the source: what waited is read as it stands."""
        if self._assigner is not None:
            self._rest.append(self._assigner.finish())
        self._take(self._rest)
        self._rest = []
        return self._scan(final=True)

    def read(self, text: bytes) -> EventBatch | None:
        """A text of whole events, for itself: nothing waits before or behind it, and lines are counted from its first."""
        self._line, self._at_start, self._messages = 1, False, 0
        if self._assigner is not None:
            text = self._assigner.feed(text) + self._assigner.finish()
        self._take_lines(text, len(text))
        return self._scan(final=True)

    def _take(self, parts: Sequence[bytes | memoryview]) -> None:
        whole = self._whole + sum(map(len, parts))
        if len(self._buffer) < whole + _PAD:
            self._grow(2 * whole + _PAD)
        for part in parts:
            self._buffer[self._whole : self._whole + len(part)] = np.frombuffer(part, dtype=np.uint8)
            self._whole += len(part)

    def _grow(self, size: int) -> None:
        grown = np.empty(size, np.uint8)
        grown[: self._whole] = self._buffer[: self._whole]
        self._buffer = grown

    def _scan(self, *, final: bool) -> EventBatch | None:
        buffer, columns = self._prepared()
        state = columns.state
        state[scanner.KIND] = KINDS.index(self._run.kind)
        state[scanner.SALT] = self._run.salt
        state[scanner.LINE] = self._line
        state[scanner.STREAM] = self._stream_index
        state[scanner.BEGIN] = len(_BOM) if self._at_start and buffer[: len(_BOM)].tobytes() == _BOM else 0
        state[scanner.LIMIT] = self._whole
        state[scanner.FINAL] = final
        state[scanner.TIMES] = len(self._time_ids)
        state[scanner.INSIDE] = self._run.times.inside
        state[scanner.MESSAGES] = self._messages
        state[scanner.SPARE] = self._whole + _PAD
        grouping.scan_events(
            buffer, self._table, self._prune, self._scratch, self._key, self._time_ids,
            columns.ids, columns.places, columns.number, columns.scale, columns.events, columns.errors,
            columns.known_ids, state,
        )  # fmt: skip
        self._settle(columns, buffer)
        broken = None if self._whole_events is None else self._broken(self._whole_events, columns, buffer)
        kind = self._run.kind
        batch = (
            gathered_batch(columns, buffer, kind, self._gather, named=self._named and self._run.named)
            if kind and state[scanner.EVENTS]
            else None
        )
        self._keep(int(state[scanner.CONSUMED]))
        if batch is None or broken is None or not broken.any():
            return batch
        batch, letters = without(batch, broken, self._source)
        for each in letters:
            self._dead_letter(each)
        return batch if batch.events else None

    def _broken(self, whole: WholeEvents, columns: scanner.Columns, buffer: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which events of a scan have lines that could not be read."""
        state, starts = columns.state, events_of(columns)[2]
        errors = columns.errors[: int(state[scanner.ERRORS])]
        return whole.broken(errors, starts, buffer, int(state[scanner.CONSUMED]), log=bool(self._messages))

    def _prepared(self) -> tuple[NDArray[np.uint8], scanner.Columns]:
        """The buffer and the columns with room enough for the lines that wait, the columns' state fresh."""
        whole = self._whole
        # to count the lines takes a tenth of a scan: for a text of usual size rather more memory that nobody touches
        lines = whole // 2 + 1 if whole <= _UNCOUNTED else line_bound(self._buffer[:whole])
        rows = row_bound(whole, lines)
        room = whole + _PAD + spare_for(whole, rows)
        if len(self._buffer) < room:
            self._grow(room + room // 4)
        if len(self._columns.number) < rows or len(self._columns.errors) < 2 * lines:
            self._columns = scanner.allot(rows + rows // 4, lines + lines // 4)
        if len(self._scratch) < whole + 64:
            self._scratch = scratch_for(len(self._buffer))
        self._buffer[whole : whole + _PAD] = lexing.LF
        self._columns.state[:] = 0
        self._columns.state[scanner.CAPACITY] = len(self._columns.number)
        return self._buffer, self._columns

    def _settle(self, columns: scanner.Columns, buffer: NDArray[np.uint8]) -> None:
        """Takes over what the scan learnt."""
        state = columns.state
        self._run.kind = KINDS[state[scanner.KIND]]
        self._run.salt = int(state[scanner.SALT])
        self._letters.tell(columns.errors[: int(state[scanner.ERRORS])], buffer, self._whole)
        self._line = int(state[scanner.LINE])
        self._messages = int(state[scanner.MESSAGES])

    def _keep(self, consumed: int) -> None:
        """Keeps the text of the open event, or what stands for it where it is too large."""
        self._at_start = self._at_start and consumed == 0
        rest = self._buffer[consumed : self._whole].copy()
        if len(rest) > self._limits.event:
            start, end = int(self._columns.state[scanner.NAME]), int(self._columns.state[scanner.NAME_END])
            self._line += int(np.count_nonzero(rest == lexing.LF)) - 1
            rules = self._run.times.iris[0].encode()
            rest = np.frombuffer(b"%s <%s> %s .\n" % (self._buffer[start:end].tobytes(), rules, GROWN), np.uint8)
        self._whole = len(rest)
        self._buffer[: self._whole] = rest
        # A long open event is scanned again only once it has grown by half: linear work for any chunk size
        growth = self._whole // 2 if self._whole > _PATIENCE else 0
        self._needed = self._whole + max(self._batch_bytes - self._batch_bytes // 8, growth)
