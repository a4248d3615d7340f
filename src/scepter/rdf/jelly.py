"""Jelly, the binary RDF of streams: each frame is a message, those of a block are read together.

Streams of the flat logical types are one long document of statements: their frames mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf import jelly_terms as jelly
from scepter.rdf import scanner
from scepter.rdf.arena import TextArena
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.faults import TOO_MUCH
from scepter.rdf.hashing import TermKey
from scepter.rdf.jelly_events import end_stream, is_flat, read_frames
from scepter.rdf.jelly_wire import ROWS_AT_ONCE, TOKENS
from scepter.rdf.letters import Letters
from scepter.rdf.lexing import SENTINEL
from scepter.rdf.nquads import KINDS, NQuadsReader, ReadState, events_of, exact_numbers
from scepter.rdf.rdf12 import TRIPLE_TERM
from scepter.rdf.source import DeadLetterTaker

_BLOCK: Final = 384 << 10
"""Bytes read together: they give about one batch."""
_TEXTS: Final = 8 << 20
_ROW: Final = 0x0A
_SMALLEST_STATEMENT: Final = 2  # one that repeats all terms; a row may hold several
_SMALLEST_TERM: Final = 2
_WORD: Final = 8
_HEADER: Final = b'VERSION "1.2-messages"\n'
_SLOTS: Final = (jelly.S_TERM, jelly.P_TERM, jelly.O_TERM, jelly.G_TERM)
_REASONS: Final = {
    jelly.TRUNCATED: "a frame that is cut off or no Jelly; what follows is left",
    jelly.NO_ENTRY: "a frame that uses an entry of a lookup table that is not there",
    jelly.TRIPLE_TERM: f"a frame with {TRIPLE_TERM}",
    jelly.GENERALIZED: "a frame with a generalized statement",
    jelly.BAD_TAG: "a frame with a malformed language tag (one with a base direction is RDF 1.2)",
    jelly.NO_TERM: "a frame whose first statement repeats a term that was never given",
    jelly.TOO_LARGE: "a frame that becomes larger than an event may be (limit event)",
    jelly.TOO_LONG: "a frame with a statement that is larger than a line may be (limit literal)",
    jelly.TOO_NEW: "Jelly of a newer version than 2; it is left",
}


class JellyReader:
    """Reads one stream of frames."""

    def __init__(
        self, key: TermKey, stream_index: int, source: str, dead_letter: DeadLetterTaker,
        *, predicates: frozenset[int] | None, run: ReadState, batch_bytes: int,
    ) -> None:  # fmt: skip
        self._source, self._dead_letter = source, dead_letter
        self._stream_index, self._run = stream_index, run
        self._letters = Letters(source, dead_letter, run.limits)
        self._words = (key.words(), scanner.id_table(predicates or ()), run.times.table(key))
        self._tables = _aligned(jelly.ENTRY * 3 * jelly.ENTRIES)
        self._texts = np.empty(_TEXTS, np.uint8)
        self._memo = np.zeros(jelly.MEMO_ROW * jelly.MEMO, np.uint64)
        self._terms = _aligned(0)
        self._statements, self._tokens = np.empty(0, np.int64), np.empty(TOKENS * ROWS_AT_ONCE, np.int64)
        self._columns = scanner.allot(8, 8)
        self._columns.state[[scanner.TIMES, scanner.INSIDE]] = len(self._words[2]), run.times.inside
        self._enough = max(1, min(batch_bytes, run.limits.event))
        # a frame begins before there is enough, and none is larger than an event may be; untouched memory costs nothing
        self._out = np.empty(2 * self._enough + run.limits.event + _BLOCK, np.uint8)
        self._scratch = np.empty(run.limits.event + _BLOCK, np.uint8)
        self._rest = b""
        self._data, self._faults = np.empty(0, np.uint8), np.empty(0, np.int64)
        self._state: NDArray[np.int64] = _fresh_state(
            run, self._words, prune=predicates is not None, room=len(self._out), enough=self._enough
        )
        # times are assigned to lines of text: such a run reads the frames as a log of messages
        self._lines = None if run.assign is None else NQuadsReader(
            key, stream_index, source, dead_letter, predicates=predicates, run=run, batch_bytes=batch_bytes, numbered=False
        )  # fmt: skip

    def batches(self, file: IO[bytes]) -> Iterator[EventBatch]:
        """The events of an open file."""
        read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        rest, delimited = b"", None
        while more := read(_BLOCK):
            rest += more
            if delimited is None:
                if len(rest) < 3:
                    continue
                delimited = _is_delimited(rest)
            if delimited:
                yield from self._read(rest, delimited=True)
                rest = self._rest
            if self._state[jelly.BAD]:
                break
            if len(rest) > self._run.limits.event:
                reason = f"a frame of more than {self._run.limits.event} bytes (limit event)"
                self._dead_letter(DeadLetter(self._source, None, reason))
                rest = b""
                break
        if rest and not delimited:
            yield from self._read(rest, delimited=False)
        elif rest and not self._state[jelly.BAD]:
            line = int(self._columns.state[scanner.LINE]) + 1
            self._dead_letter(DeadLetter(self._source, line, _REASONS[jelly.TRUNCATED]))
        yield from self._finish()

    def _read(self, data: bytes, *, delimited: bool) -> Iterator[EventBatch]:
        """The events of the whole frames of some bytes; what is left waits in `_rest`."""
        state, done = self._state, 0
        while done < len(data) and not state[jelly.BAD]:
            size = len(data) - done
            self._make_room(size)
            self._data[:size] = np.frombuffer(data, np.uint8)[done:]
            state[jelly.CONSUMED] = state[jelly.FAULTS] = 0
            columns = self._columns
            columns.state[scanner.KIND] = KINDS.index(self._run.kind)
            columns.state[scanner.SALT] = self._run.salt
            more = read_frames(
                self._data, size, delimited, (self._tables, self._texts, self._memo), self._views(),
                self._out, self._scratch, self._words, (self._statements, self._tokens),
                _arrays(columns), self._faults, state,
            )  # fmt: skip
            for code, frame in self._faults[: 2 * int(state[jelly.FAULTS])].reshape(-1, 2).tolist():
                self._dead_letter(DeadLetter(self._source, frame, _REASONS[code]))
            batch = self._cut() if self._lines is None else self._assigned(self._lines)
            if batch is not None:
                yield batch
            done += int(state[jelly.CONSUMED])
            if not more:
                break
        self._rest = data[done:]

    def _finish(self) -> Iterator[EventBatch]:
        """The last event of a flat stream."""
        if self._lines is not None:
            batch = self._lines.finish()
        else:
            end_stream(_arrays(self._columns))
            batch = self._cut()
        if batch is not None:
            yield batch

    def _make_room(self, size: int) -> None:
        """Room for what `size` bytes may give."""
        state = self._state
        if state[jelly.TABLE_SIZE] + size + _WORD > len(self._texts):
            self._texts, state[jelly.TABLE_SIZE] = _compacted(self._tables, self._texts, size)
        if len(self._data) < size + len(SENTINEL):
            # words are read beyond the last byte
            self._data, self._faults = np.zeros(2 * size + len(SENTINEL), np.uint8), np.empty(2 * size + 4, np.int64)
        rows = size // _SMALLEST_STATEMENT + 8
        if len(self._statements) < 4 * rows:
            self._statements = np.empty(4 * rows, np.int64)
        terms = int(state[jelly.TERMS]) + size // _SMALLEST_TERM + 8
        if len(self._terms) < jelly.TERM * terms:
            used, before = jelly.TERM * int(state[jelly.TERMS]), self._terms
            self._terms = _aligned(jelly.TERM * (terms + terms // 4))
            self._terms[:used] = before[:used]
        kept = int(self._columns.state[scanner.ROWS])
        if len(self._columns.number) < kept + rows:
            self._columns = _grown_columns(self._columns, kept, kept + rows)

    def _cut(self) -> EventBatch | None:
        """The events that are complete; the columns are free for the next ones."""
        columns, state = self._columns, self._columns.state
        self._run.kind = KINDS[int(state[scanner.KIND])]
        self._run.salt = int(state[scanner.SALT])
        text = self._out[: int(self._state[jelly.TEXT])]
        errors = int(state[scanner.ERRORS])
        if errors:
            self._letters.tell(columns.errors[:errors], text, len(text))
        whole = int(state[scanner.OPEN_ROWS] if state[scanner.OPEN] else state[scanner.ROWS])
        batch = None
        if self._run.kind is not None and state[scanner.EVENTS]:
            batch = self._batch(whole, text)
        self._carry(whole, text)
        return batch

    def _batch(self, rows: int, text: NDArray[np.uint8]) -> EventBatch:
        columns = self._columns
        assert self._run.kind is not None
        number, scale = exact_numbers(columns, self._out)
        start, end, name_at, first, _ = map(np.copy, events_of(columns))
        first[-1] = rows
        subject, predicate, object = columns.ids[:, :rows].copy()
        subject_at, predicate_at, object_at = columns.places[:, :rows].copy()
        return EventBatch(
            np.concatenate([text, np.frombuffer(SENTINEL, np.uint8)]), self._run.kind,
            np.full(len(start), self._stream_index, np.int32), start, end, name_at, first,
            subject, predicate, object, subject_at, predicate_at, object_at, number[:rows].copy(), scale[:rows].copy(),
        )  # fmt: skip

    def _carry(self, whole: int, text: NDArray[np.uint8]) -> None:
        """Begins anew, with the terms that statements may repeat and the rows of the event that is open."""
        columns, state, scan = self._columns, self._state, self._columns.state
        rows = slice(whole, int(scan[scanner.ROWS]))
        count = rows.stop - rows.start
        held, arena = np.empty(0, np.int64), TextArena()
        if scan[scanner.OPEN]:
            arena.add_buffer(text)
            arena, held = arena.compact(np.append(columns.places[:, rows], scan[scanner.NAME]))
            columns.ids[:, :count] = columns.ids[:, rows].copy()
            columns.number[:count], columns.scale[:count] = columns.number[rows].copy(), columns.scale[rows].copy()
        size = self._carry_terms(text)
        if scan[scanner.OPEN]:
            held += size
            columns.places[:, :count] = held[:-1].reshape(3, count)
            self._out[size : size + arena.size] = arena.buffer()
            size += arena.size
        state[jelly.TEXT] = size
        state[jelly.ERA] += 1
        scan[[scanner.ROWS, scanner.OPEN_ROWS, scanner.EVENTS, scanner.ERRORS]] = count, 0, 0, 0
        used = size + 32 * count
        state[jelly.ENOUGH] = used + self._enough
        if scan[scanner.OPEN]:
            self._keep_open(int(held[-1]), used)

    def _carry_terms(self, text: NDArray[np.uint8]) -> int:
        """Keeps of the table the terms that statements may repeat; gives the bytes of their texts."""
        state = self._state
        kept = [slot for slot in _SLOTS if state[slot] >= 0]
        before, count = state[kept], len(kept)
        terms = self._terms.reshape(-1, jelly.TERM)
        rows = terms[before]
        texts = b"".join([text[begin : end + 1].tobytes() for begin, end, *_ in rows.tolist()])
        sizes = rows[:, jelly.END] + 1 - rows[:, jelly.AT]
        shift = np.cumsum(sizes) - sizes - rows[:, jelly.AT]
        rows[:, jelly.LEXED] += (shift << jelly.QUOTE_AT) * (rows[:, jelly.LEXED] >= 1 << jelly.QUOTE_AT)
        rows[:, jelly.AT] += shift
        rows[:, jelly.END] += shift
        self._out[: len(texts)] = np.frombuffer(texts, np.uint8)
        terms[:count] = rows
        state[kept] = np.arange(count)
        state[jelly.FORMER] += state[jelly.TERMS]
        state[jelly.TERMS] = count
        return len(texts)

    def _keep_open(self, name: int, used: int) -> None:
        """The event that is open goes on behind a cut; one without end is let go, with all that comes of it."""
        scan = self._columns.state
        scan[scanner.NAME_END] += name - scan[scanner.NAME]
        scan[[scanner.NAME, scanner.OPEN_AT, scanner.FAULT_AT]] = name
        if used > self._run.limits.event:
            scan[scanner.ROWS] = 0
            scan[[scanner.FAULT, scanner.FAULT_LINE, scanner.RANK]] = TOO_MUCH, scan[scanner.LINE], -1

    def _assigned(self, lines: NQuadsReader) -> EventBatch | None:
        """The events of a frame whose statements are given times as lines."""
        state = self._state
        text = b"".join(map(self._line, self._statements[: 4 * int(state[jelly.STATEMENTS])].reshape(-1, 4).tolist()))
        state[jelly.STATEMENTS] = 0
        self._carry(0, self._out[: int(state[jelly.TEXT])])
        if is_flat(state[jelly.LOGICAL]):
            return lines.feed(text)
        return lines.read(_HEADER + text) if text else None

    def _views(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
        """The table of terms as integers, ids and numbers."""
        return self._terms, self._terms.view(np.uint64), self._terms.view(np.float64)

    def _line(self, statement: list[int]) -> bytes:
        places = self._terms.reshape(-1, jelly.TERM)[[each for each in statement if each >= 0], :2]
        spelt = [self._out[begin:end].tobytes() for begin, end in places]
        return b" ".join(spelt) + b" .\n"


def _fresh_state(
    run: ReadState,
    words: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]],
    *,
    prune: bool,
    room: int,
    enough: int,
) -> NDArray[np.int64]:
    state = np.zeros(jelly.STATE, np.int64)
    state[list(_SLOTS)] = -1
    state[jelly.ERA] = 1
    state[[jelly.ROOM, jelly.ENOUGH]] = room, enough
    state[jelly.LIMIT], state[jelly.LINE_LIMIT] = run.limits.event, run.limits.literal
    state[jelly.AS_TEXT] = run.assign is not None
    state[jelly.PRUNE] = prune and run.assign is None
    state[jelly.WANTED], state[jelly.TIMES] = len(words[1]), len(words[2])
    return state


def _arrays(columns: scanner.Columns) -> tuple[NDArray[Any], ...]:
    """The columns as the kernels take them."""
    return columns.ids, columns.places, columns.number, columns.scale, columns.events, columns.errors, columns.state


def _aligned(size: int) -> NDArray[np.int64]:
    """So many zeros; rows of eight words are lines of the cache. Memory that is never written costs nothing."""
    room = np.zeros(size + 8, np.int64)
    skipped = -(room.ctypes.data // 8) % 8
    return room[skipped : skipped + size]


def _grown_columns(columns: scanner.Columns, used: int, size: int) -> scanner.Columns:
    grown = scanner.allot(size + size // 4, size + size // 4)
    capacity = int(grown.state[scanner.CAPACITY])
    grown.state[:] = columns.state
    grown.state[scanner.CAPACITY] = capacity
    for before, now in zip(_arrays(columns)[:2], _arrays(grown)[:2], strict=True):
        now[:, :used] = before[:, :used]
    grown.number[:used], grown.scale[:used] = columns.number[:used], columns.scale[:used]
    return grown


def _compacted(tables: NDArray[np.int64], texts: NDArray[np.uint8], more: int) -> tuple[NDArray[np.uint8], int]:
    """The texts of the entries that are in the tables now, with room for as much again and `more`."""
    rows = np.flatnonzero(tables[jelly.SET :: jelly.ENTRY]) * jelly.ENTRY
    size = int(tables[rows + jelly.LENGTH].sum())
    kept = np.empty(_TEXTS + 2 * size + more + _WORD, np.uint8)
    at = 0
    for row in rows.tolist():
        begin, length = int(tables[row]), int(tables[row + jelly.LENGTH])
        kept[at : at + length] = texts[begin : begin + length]
        tables[row] = at
        at += length
    return kept, size


def _is_delimited(head: bytes) -> bool:
    """Whether each frame has its size before it, by the first three bytes: a frame begins with the tag of a row, which may also
    be a size of 10."""
    return head[0] != _ROW or (head[1] == _ROW and head[2] != _ROW)
