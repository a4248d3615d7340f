"""The texts of a batch's terms without the text between them, equal ones once: so that a batch keeps what it needs of the
text it was read from, and the text's memory serves for the next."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inner
from scepter.rdf.lexing import LF, SENTINEL, term_end
from scepter.rdf.words import fresh, zeroed

_SLOTS: Final = 1 << 12
"""Terms whose place is remembered; a power of two. One that is forgotten stands twice, no harm."""


@inner
def _copied(buffer: Any, at: Any, out: Any, size: Any) -> Any:
    for i in range(at, term_end(buffer, at)):
        out[size] = buffer[i]
        size += 1
    out[size] = LF  # a blank node or a language tag ends where something else follows
    return size + 1


@njit(cache=True, nogil=True)
def _gather(buffer: Any, ids: Any, places: Any, names: Any, out: Any, moved: Any, moved_names: Any) -> Any:
    known = zeroed(_SLOTS, np.uint64)
    known_at = fresh(_SLOTS, np.int64)
    size = np.int64(0)  # a literal would compile `_copied` twice
    for column in range(len(ids)):
        for row in range(len(moved[column])):
            id = ids[column, row]
            slot = np.int64(id & np.uint64(_SLOTS - 1))
            if known[slot] != id:
                known[slot] = id
                known_at[slot] = size
                size = _copied(buffer, places[column, row], out, size)
            moved[column, row] = known_at[slot]
    for event in range(len(names)):
        moved_names[event] = names[event]
        if names[event] >= 0:
            moved_names[event] = size
            size = _copied(buffer, names[event], out, size)
    return size


class Gatherer:
    """Gathers the texts of one batch after the other, with room that it keeps."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.uint8)

    def __call__(
        self, buffer: NDArray[np.uint8], ids: NDArray[np.uint64], places: NDArray[np.int64], names: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """A buffer of the terms at `places`, which have these `ids`, and at `names` (-1: none); and where they stand in it."""
        # every term stands in the text or behind it, each occurrence at its own place, and is followed by one more byte here
        most = len(buffer) + places.size + len(names)
        if len(self._room) < most:
            self._room = np.empty(most, np.uint8)
        moved, moved_names = np.empty(places.shape, np.int64), np.empty(len(names), np.int64)
        size = _gather(buffer, ids, places, names, self._room, moved, moved_names)
        kept = np.empty(size + len(SENTINEL), np.uint8)
        kept[:size] = self._room[:size]
        kept[size:] = LF
        return kept, moved, moved_names
