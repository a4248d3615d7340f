"""Lines of text put together as bytes: each row's line is made of texts that columns point at, by one compiled loop.

A text is spelt once however many rows have it, and its bytes are copied once for each of them, straight to where they are
written from: no row is a Python object, and no text is encoded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inlined
from scepter.rdf.packed import Packed
from scepter.rdf.words import load_word, store_word

Int64: TypeAlias = NDArray[np.int64]
_PIECE = 1 << 18
"""Bytes that are handed on at once: that nobody reads a pipe any more is told by the next write, not by the one under way."""
_NO_TEXT = Packed(np.zeros(2, np.int64), np.empty(0, np.uint8))
_SLACK = np.zeros(8, np.uint8)
"""Behind texts that are read and written by words: the last word reaches beyond the last text."""
_TENS = np.array([10**figures for figures in range(1, 20)], np.uint64)


class Column(NamedTuple):
    """A text for each row."""

    texts: Packed
    place: Int64
    """Per row: which of the texts; -1: none."""

    @classmethod
    def of(cls, texts: Sequence[str], place: Int64) -> Column:
        """Some of few texts."""
        return cls(Packed.of(texts), place)

    def take(self, rows: Int64) -> Column:
        """The texts of some rows."""
        return Column(self.texts, self.place[rows])


Part: TypeAlias = str | Column | Int64
"""What stands in every line: a text that all have, one for each row, or a number for each row."""


def own(texts: Packed) -> Column:
    """A text of its own for each row."""
    return Column(texts, np.arange(len(texts)))


def either(condition: NDArray[np.bool_], yes: Column, no: Column) -> Column:
    """A text where a condition holds, and another where it does not; each has one for every row."""
    return Column(Packed.together([yes.texts, no.texts]), np.where(condition, yes.place, no.place + len(yes.texts)))


def listed(columns: Sequence[tuple[str, Column]], between: str) -> list[Part]:
    """The texts of each row that are there, each behind a text of its column, with something between them."""
    parts: list[Part] = []
    some: NDArray[np.bool_] = np.zeros(0, np.bool_)
    for before, column in columns:
        there = column.place >= 0
        some = some if len(some) else np.zeros_like(there)
        if there.all() and (some.all() or not some.any()):
            parts.append(between + before if some.any() else before)
        else:
            parts.append(Column.of([before, between + before], np.where(there, some, -1)))
        parts.append(column)
        some = there | some
    return parts


def joined(parts: Sequence[Part], rows: int) -> Column:
    """The lines of so many rows, as texts."""
    lines = Lines(parts, rows)
    size = int(lines.starts[-1])
    room = np.empty(size + len(_SLACK), np.uint8)
    lines.write(0, rows, room)
    return own(Packed(lines.starts, room[:size]))


def grouped(parts: Sequence[Part], first: Int64) -> Column:
    """Of several lines per row, where the first of each is known (and the end of the last), the text that they are together:
    they stand side by side, so that their bytes are the row's."""
    lines = joined(parts, int(first[-1])).texts
    return own(Packed(lines.starts[first], lines.data))


class _Laid(NamedTuple):
    """The parts of lines, in one table of texts."""

    data: NDArray[np.uint8]
    starts: Int64
    places: Int64
    """[part, row]: which text, -1 for none; or the number itself."""
    numeric: NDArray[np.bool_]
    """Per part: whether it is a number."""
    before: NDArray[np.uint8]
    before_starts: Int64
    """Per part: what stands before it in every line."""


class Lines:
    """A line for each row."""

    def __init__(self, parts: Sequence[Part], rows: int) -> None:
        before, given = _with_texts_before(parts)
        # the columns of one table share it
        tables = {id(part.texts.starts): part.texts for part in given if isinstance(part, Column)}
        base = dict(zip(tables, np.cumsum([1, *map(len, tables.values())]).tolist(), strict=False))
        texts = Packed.together([_NO_TEXT, *tables.values()])
        places = np.empty((len(given), rows), np.int64)
        for at, part in enumerate(given):
            match part:
                case None:
                    places[at] = 0
                case Column(table, place):
                    np.add(place, base[id(table.starts)], out=places[at])
                    places[at][place < 0] = -1
                case numbers:
                    places[at] = numbers
        numeric = np.array([isinstance(part, np.ndarray) for part in given], np.bool_)
        fixed = Packed.of(before)
        data, text_before = (np.concatenate([each.data, _SLACK]) for each in (texts, fixed))
        self._laid = _Laid(data, texts.starts, places, numeric, text_before, fixed.starts)
        self.starts = np.zeros(rows + 1, np.int64)
        """Where each line begins, and the end of the last one."""
        _measure(self._laid, self.starts)

    def write(self, low: int, high: int, room: NDArray[np.uint8]) -> None:
        """Some of the lines, one behind the other. The room ends a word behind them."""
        _write(self._laid, low, high, room)

    def pieces(self) -> Iterator[memoryview]:
        """All lines, some at a time; a piece is good until the next one is asked for."""
        most, low, rows = min(_PIECE, int(self.starts[-1])), 0, len(self.starts) - 1
        room = np.empty(most + len(_SLACK), np.uint8)
        while low < rows:
            high = max(int(np.searchsorted(self.starts, self.starts[low] + _PIECE, "right")) - 1, low + 1)
            size = int(self.starts[high] - self.starts[low])
            if size > most:  # one line that is longer
                room = np.empty(size + len(_SLACK), np.uint8)
            self.write(low, high, room)
            yield room.data[:size]
            low = high


def _with_texts_before(parts: Sequence[Part]) -> tuple[list[str], list[Column | Int64 | None]]:
    """What stands before each part in every line, and the parts. A text before a column that may have none stands alone."""
    before, found, text = list[str](), list[Column | Int64 | None](), ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text and isinstance(part, Column) and bool((part.place < 0).any()):
            before.append(text)
            found.append(None)
            text = ""
        before.append(text)
        found.append(part)
        text = ""
    return ([*before, text], [*found, None]) if text else (before, found)


@inlined
def _figures(number: Any) -> Any:
    """How many characters a number has."""
    rest = np.uint64(number)
    count = 1
    if number < 0:
        rest = ~rest + np.uint64(1)  # also of the least one, which has no opposite
        count = 2
    for ten in _TENS:
        if rest < ten:
            break
        count += 1
    return count


@inlined
def _copied(data: Any, low: Any, high: Any, room: Any, at: Any) -> Any:
    """A text behind what is written; what the last word writes beyond it, the next text overwrites."""
    for i in range(0, high - low, 8):
        store_word(room, at + i, load_word(data, low + i))
    return at + high - low


@njit(cache=True, nogil=True)
def _measure(laid: Any, starts: Any) -> Any:
    _, texts, places, numeric, _, before_starts = laid
    parts, rows = places.shape
    fixed = before_starts[parts]
    for row in range(rows):
        size = fixed
        for part in range(parts):
            place = places[part, row]
            if numeric[part]:
                size += _figures(place)
            elif place >= 0:
                size += texts[place + 1] - texts[place]
            else:
                size -= before_starts[part + 1] - before_starts[part]
        starts[row + 1] = starts[row] + size


@njit(cache=True, nogil=True)
def _write(laid: Any, low: Any, high: Any, room: Any) -> Any:
    data, texts, places, numeric, before, before_starts = laid
    parts = len(places)
    at = np.int64(0)
    for row in range(low, high):
        for part in range(parts):
            place = places[part, row]
            if place < 0 and not numeric[part]:
                continue
            at = _copied(before, before_starts[part], before_starts[part + 1], room, at)
            if not numeric[part]:
                at = _copied(data, texts[place], texts[place + 1], room, at)
                continue
            count = _figures(place)
            rest = np.uint64(place)
            if place < 0:
                room[at] = 45
                rest = ~rest + np.uint64(1)
            for i in range(count - 1, 0 if place < 0 else -1, -1):
                room[at + i] = 48 + np.int64(rest % np.uint64(10))
                rest //= np.uint64(10)
            at += count
