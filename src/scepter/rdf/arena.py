"""The texts of terms that live on after their batch: one int64 `ref` each, in memory that holds nothing else once compacted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.lexing import LF, QUOTE, term_end
from scepter.rdf.packed import Packed
from scepter.rdf.rekeying import TermColumns, read_terms
from scepter.rdf.scanner import term_text
from scepter.rdf.terms import Term, parse_term

NO_REF: Final = -1
"""The ref of no text: an unbound variable, an event without a name."""
_PADDING: Final = b"\n" * 8
"""Behind texts that are read by words: the last word may reach beyond the last text."""
_MAGIC: Final = b"SCA1"
_CACHED: Final = 1 << 16


@njit(cache=True, nogil=True)
def _measure(buffer: Any, offsets: Any, sizes: Any) -> Any:
    total = 0
    for i in range(len(offsets)):
        sizes[i] = term_end(buffer, offsets[i]) - offsets[i]
        total += sizes[i] + 1
    return total


@njit(cache=True, nogil=True)
def _copy(buffer: Any, offsets: Any, sizes: Any, out: Any, at: Any, new_refs: Any) -> Any:
    for i in range(len(offsets)):
        new_refs[i] = at
        for j in range(sizes[i]):
            out[at + j] = buffer[offsets[i] + j]
        at += sizes[i]
        out[at] = LF  # a blank node or a language tag ends where something else follows
        at += 1
    return at


@njit(cache=True, nogil=True)
def _pack(buffer: Any, places: Any, starts: Any, out: Any) -> Any:
    for i in range(len(places)):
        for j in range(starts[i + 1] - starts[i]):
            out[starts[i] + j] = buffer[places[i] + j]


@njit(cache=True, nogil=True)
def _mark_ending(buffer: Any, offsets: Any, name: Any, number: Any, found: Any, rows: Any) -> Any:
    for i in range(len(offsets)):
        at = offsets[i] + 1
        while at < len(buffer) and buffer[at] != QUOTE and buffer[at] != LF:
            at += 1
        same = at + len(name) <= len(buffer)
        j = 0
        while same and j < len(name):
            same = buffer[at + j] == name[j]
            j += 1
        if same:
            found[rows[i]] = number


def gather(buffer: NDArray[np.uint8], places: NDArray[np.int64]) -> Packed:
    """The texts of the terms at some offsets, one behind the other."""
    sizes = np.empty(len(places), dtype=np.int64)
    _measure(buffer, places, sizes)
    starts = np.zeros(len(places) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    out = np.empty(int(starts[-1]), dtype=np.uint8)
    _pack(buffer, places, starts, out)
    return Packed(starts, out)


class TextArena:
    """Buffers of term texts behind one space of refs: `ref = base + offset`.

    >>> arena = TextArena()
    >>> refs = arena.append_terms(["<http://example/a>", '"x"@en'])
    >>> arena.text(int(refs[1]))
    '"x"@en'
    """

    def __init__(self) -> None:
        self._buffers: list[NDArray[np.uint8]] = []
        self._bases: list[int] = []
        self._end = 0
        self._terms: dict[int, Term] = {}

    @property
    def size(self) -> int:
        """Bytes of text held."""
        return self._end

    def add_buffer(self, buffer: NDArray[np.uint8]) -> int:
        """Takes in a batch's buffer (no copy); gives its base."""
        base = self._end
        self._buffers.append(buffer)
        self._bases.append(base)
        self._end += len(buffer)
        return base

    def snapshot(self) -> TextArena:
        """The same texts (no copy), whatever is added here later."""
        arena = TextArena()
        arena._buffers, arena._bases, arena._end = [*self._buffers], [*self._bases], self._end
        return arena

    def add_buffers(self, other: TextArena) -> int:
        """Takes in another arena's buffers (no copy); gives the base of its refs."""
        base = self._end
        for buffer in other._buffers:
            self.add_buffer(buffer)
        return base

    def append_terms(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Takes in the N-Triples texts of terms; gives their refs."""
        encoded = [text.encode() for text in texts]
        lengths = np.array([len(text) + 1 for text in encoded], dtype=np.int64)
        data = b"\n".join([*encoded, _PADDING])
        base = self.add_buffer(np.frombuffer(data, dtype=np.uint8)[: -len(_PADDING)])
        return base + np.cumsum(lengths) - lengths

    def text(self, ref: int) -> str:
        """The text of a term, as it was spelt."""
        index = bisect_right(self._bases, ref) - 1
        if ref < 0 or ref >= self._end:
            raise IndexError(f"no term has the ref {ref}")
        return term_text(self._buffers[index], ref - self._bases[index])

    def term(self, ref: int) -> Term:
        """The term; asked for again, it is not parsed again."""
        found = self._terms.get(ref)
        if found is None:
            if len(self._terms) >= _CACHED:
                self._terms.clear()
            found = self._terms[ref] = parse_term(self.text(ref))
        return found

    def compact(self, refs: NDArray[np.int64]) -> tuple[TextArena, NDArray[np.int64]]:
        """A new arena of exactly the terms referred to, each ref's text once, and the refs into it; NO_REF stays."""
        given = refs[refs >= 0]
        first, inverse = distinct(given[:, None])
        order = np.argsort(given[first])
        kept = given[first][order]
        if len(kept) and kept[-1] >= self._end:
            raise IndexError(f"no term has the ref {kept[-1]}")
        sizes = np.empty(len(kept), dtype=np.int64)
        parts = [
            (self._buffers[i], kept[low:high] - self._bases[i], sizes[low:high], low, high)
            for i, low, high in self._stretches(kept)
        ]
        total = sum(_measure(buffer, offsets, part_sizes) for buffer, offsets, part_sizes, _, _ in parts)
        out = np.empty(total, dtype=np.uint8)
        moved = np.empty(len(kept), dtype=np.int64)
        at = 0
        for buffer, offsets, part_sizes, low, high in parts:
            at = _copy(buffer, offsets, part_sizes, out, at, moved[low:high])
        placed = np.empty(len(kept), dtype=np.int64)
        placed[order] = moved
        arena = TextArena()
        arena.add_buffer(out)
        new_refs = np.full(refs.shape, NO_REF, dtype=np.int64)
        new_refs[refs >= 0] = placed[inverse]
        return arena, new_refs

    def read(self, refs: NDArray[np.int64], key: TermKey, *, numbers: bool = True) -> TermColumns:
        """What terms are told by in columns, under a key; for texts that were appended, or mapped from a store. Without
        `numbers`, those of long numbers are left out."""
        order = np.argsort(refs, kind="stable")
        kept, found = refs[order], TermColumns.room(len(refs))
        for i, low, high in self._stretches(kept):
            read_terms(self._buffers[i], kept[low:high] - self._bases[i], key, found.part(low, high), numbers=numbers)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return found.take(back)

    def endings(self, refs: NDArray[np.int64], names: Sequence[bytes]) -> NDArray[np.int64]:
        """Of literals without escapes, which of some endings each has, counted from its closing quotation mark; the number of
        endings where it has none of them."""
        order = np.argsort(refs, kind="stable")
        kept, found = refs[order], np.full(len(refs), len(names), np.int64)
        wanted = [np.frombuffer(name, np.uint8) for name in names]
        for i, low, high in self._stretches(kept):
            for number, name in enumerate(wanted):
                _mark_ending(self._buffers[i], kept[low:high] - self._bases[i], name, number, found, order[low:high])
        return found

    def initials(self, refs: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The first byte of each text."""
        order = np.argsort(refs, kind="stable")
        kept, found = refs[order], np.empty(len(refs), np.uint8)
        for i, low, high in self._stretches(kept):
            found[order[low:high]] = self._buffers[i][kept[low:high] - self._bases[i]]
        return found

    def _stretches(self, kept: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """(buffer, from, to) of the refs in order that point into each buffer, without a look at the buffers between."""
        found, low = [], 0
        while low < len(kept):
            index = bisect_right(self._bases, int(kept[low])) - 1
            end = self._bases[index + 1] if index + 1 < len(self._bases) else self._end
            high = int(np.searchsorted(kept, end))
            found.append((index, low, high))
            low = high
        return found

    def buffer(self) -> NDArray[np.uint8]:
        """All texts as one buffer; offsets into it are the refs."""
        return self._buffers[0] if len(self._buffers) == 1 else np.concatenate([np.empty(0, np.uint8), *self._buffers])

    def to_bytes(self) -> bytes:
        """The arena as bytes; refs keep their meaning."""
        return _MAGIC + b"".join(buffer.tobytes() for buffer in self._buffers)

    @classmethod
    def from_bytes(cls, data: bytes) -> TextArena:
        """The arena that `to_bytes` wrote."""
        if not data.startswith(_MAGIC):
            raise ValueError("these bytes are no text arena of this version")
        arena = cls()
        arena.add_buffer(np.frombuffer(data, dtype=np.uint8, offset=len(_MAGIC)))
        return arena
