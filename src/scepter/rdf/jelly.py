"""Jelly, the binary RDF of streams: each frame is a message, some hundreds are read together.

Streams of the flat logical types are one long document of statements: their frames mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf import jelly_frames as frames
from scepter.rdf import scanner
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.rdf12 import TRIPLE_TERM
from scepter.rdf.source import DeadLetterTaker

_BLOCK: Final = 256 << 10
_LONGEST_ESCAPE: Final = 6
_TEXTS: Final = 1 << 19
_ROW: Final = 0x0A
_HEADER: Final = b'VERSION "1.2-messages"\n'
_REASONS: Final = {
    frames.TRUNCATED: "a frame that is cut off or no Jelly; what follows is left",
    frames.NO_ENTRY: "a frame that uses an entry of a lookup table that is not there",
    frames.TRIPLE_TERM: f"a frame with {TRIPLE_TERM}",
    frames.GENERALIZED: "a frame with a generalized statement",
    frames.BAD_TAG: "a frame with a malformed language tag (one with a base direction is RDF 1.2)",
    frames.NO_TERM: "a frame whose first statement repeats a term that was never given",
    frames.TOO_LARGE: "a frame that becomes larger than an event may be (limit event)",
    frames.TOO_NEW: "Jelly of a newer version than 2; it is left",
}


class JellyReader:
    """Reads one stream of frames."""

    def __init__(
        self, key: TermKey, stream_index: int, source: str, dead_letter: DeadLetterTaker,
        *, predicates: frozenset[int] | None, run: ReadState, batch_bytes: int,
    ) -> None:  # fmt: skip
        self._source = source
        self._dead_letter = dead_letter
        self._limit = run.limits.event
        self._key = key.words()
        self._table = scanner.id_table(predicates or ())
        self._prune = predicates is not None
        self._times = run.times.table(key)
        self._reader = NQuadsReader(
            key, stream_index, source, self._placed, predicates=predicates, run=run, batch_bytes=batch_bytes
        )
        self._tables = np.zeros(4 * 3 * frames.ENTRIES, np.int64)
        self._texts = np.zeros(_TEXTS, np.uint8)
        self._slots = np.zeros((4, 0), np.uint8)
        self._sizes = np.zeros(4, np.int64)
        self._asked = np.zeros(3 * frames.ENTRIES, np.int64)
        self._state = np.zeros(frames.STATE, np.int64)
        self._enough = batch_bytes
        # a frame begins before enough is written, and none is larger than an event may be; untouched memory costs nothing
        self._out = np.empty(batch_bytes + run.limits.event, np.uint8)
        self._rest = b""
        self._lines = np.zeros(0, np.int64)
        """The line that each frame of the block begins on."""
        self._before = 0
        """Frames of the blocks before."""

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
            if self._state[frames.BAD]:
                return
            if len(rest) > self._limit:
                self._dead_letter(DeadLetter(self._source, None, f"a frame of more than {self._limit} bytes (limit event)"))
                return
        if rest and not delimited:
            yield from self._read(rest, delimited=False)
        elif rest:
            self._dead_letter(DeadLetter(self._source, self._before + 1, _REASONS[frames.TRUNCATED]))
        if (batch := self._reader.finish()) is not None:
            yield batch

    def _read(self, data: bytes, *, delimited: bool) -> Iterator[EventBatch]:
        """The events of the whole frames of some bytes; what is left waits in `_rest`."""
        state, done = self._state, 0
        while done < len(data) and not state[frames.BAD]:
            part = np.frombuffer(data, np.uint8)[done:]
            self._make_room(len(part))
            lines, faults = np.empty(len(part) + 2, np.int64), np.empty(2 * len(part) + 4, np.int64)
            state[[frames.SIZE, frames.LINES, frames.FRAMES, frames.FAULTS]] = 0
            frames.lay_out(
                part, len(part), delimited, self._tables, self._texts, self._slots, self._sizes, self._asked, self._key,
                self._table, self._prune, self._times, self._out, self._enough, lines, faults, state,
            )  # fmt: skip
            self._lines = lines[: int(state[frames.FRAMES])]
            for code, frame in faults[: 2 * int(state[frames.FAULTS])].reshape(-1, 2).tolist():
                self._dead_letter(DeadLetter(self._source, self._before + frame + 1, _REASONS[code]))
            if (batch := self._events()) is not None:
                yield batch
            self._before += int(state[frames.FRAMES])
            if not state[frames.CONSUMED]:
                break
            done += int(state[frames.CONSUMED])
        self._rest = data[done:]

    def _events(self) -> EventBatch | None:
        text = self._out[: int(self._state[frames.SIZE])].tobytes()
        if frames.is_flat(self._state[frames.LOGICAL]):
            return self._reader.feed(text)
        return self._reader.read(_HEADER + text) if text else None

    def _make_room(self, size: int) -> None:
        """Room for what `size` bytes may give: entries of the tables, and terms made of them."""
        state = self._state
        if state[frames.TABLE_SIZE] + size > len(self._texts):
            self._texts, state[frames.TABLE_SIZE] = _compacted(self._tables, self._texts, size)
        longest = _LONGEST_ESCAPE * (len(self._texts) + size) + 64
        if self._slots.shape[1] < longest:
            slots = np.empty((4, 2 * longest), np.uint8)
            slots[:, : self._slots.shape[1]] = self._slots
            self._slots = slots

    def _placed(self, letter: DeadLetter) -> None:
        """A letter with the number of its frame in place of the line that the frame was laid out in."""
        frame = None
        if letter.line is not None and not frames.is_flat(self._state[frames.LOGICAL]):
            frame = self._before + int(np.searchsorted(self._lines, letter.line - 2, side="right"))
        self._dead_letter(replace(letter, line=frame))


def _compacted(tables: NDArray[np.int64], texts: NDArray[np.uint8], more: int) -> tuple[NDArray[np.uint8], int]:
    """The texts of the entries that are in the tables now, with room for as much again and `more`."""
    rows = np.flatnonzero(tables[2::4]) * 4
    size = int(tables[rows + 1].sum())
    kept = np.empty(_TEXTS + 2 * size + more, np.uint8)
    at = 0
    for row in rows.tolist():
        begin, length = int(tables[row]), int(tables[row + 1])
        kept[at : at + length] = texts[begin : begin + length]
        tables[row] = at
        at += length
    return kept, size


def _is_delimited(head: bytes) -> bool:
    """Whether each frame has its size before it, by the first three bytes: a frame begins with the tag of a row, which may also
    be a size of 10."""
    return head[0] != _ROW or (head[1] == _ROW and head[2] != _ROW)
