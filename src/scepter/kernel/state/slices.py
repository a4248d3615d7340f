"""History cut into overlapping stretches of time, so that several workers share what no key divides.

An answer belongs to the slice of its start, or of its end. A slice is given the events that its answers need beyond it, so
that each answer is found whole in the slice that owns it; others drop it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.rows import Int64, UInt64

NOWHERE: Final = np.uint64(2**64 - 1)
"""The bucket of rows that no bucket gets."""
_OVERLAP: Final = 16
"""A place is given several slices where each is so many times as long as what answers look back: what stands in two slices
then costs little, and stretches with more events than others are spread."""
_MOST: Final = 4
"""Slices of a place."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices, given to places in turn."""

    length: int
    """Without overlaps; slices of one place are further apart than answers look back, so that no answer spans two."""
    places: int
    before: int
    """A slice is given the events from so far ahead of it."""
    after: int
    """And to so far behind it."""
    first: int = 0
    """The first place."""
    origin: int = 0
    """The time at which a slice of the first place begins."""

    def of(self, times: Int64) -> Iterator[UInt64]:
        """The places of events with these times, several arrays in turn, NOWHERE where there is no further one."""
        since = times - self.origin
        first, last = (since - self.after) // self.length, (since + self.before) // self.length
        for more in range(1 + -(-(self.before + self.after) // self.length)):
            found = (self.first + (first + more) % self.places).astype(np.uint64)
            found[first + more > last] = NOWHERE
            yield found

    def owns(self, place: int, times: Int64) -> NDArray[np.bool_]:
        """Whether answers of these times are those of a place."""
        mine: NDArray[np.bool_] = self.first + (times - self.origin) // self.length % self.places == place
        return mine


def cut(back: int, places: int, before: int, after: int, span: tuple[int, int] | None) -> Slices:
    """How history is cut for answers that look back so far at most. With its `span`, the first time and the last, all places
    have as much of it; whatever is said, answers are the same."""
    if span is None:
        return Slices(4 * back, places, before, after)
    whole = span[1] - span[0] + 1
    # shorter than what is looked back, slices would read most events twice: a short history has fewer places
    places = max(2, min(places, whole // back))
    turns = max(1, min(_MOST, whole // (places * _OVERLAP * back)))
    apart = (before + after + back) // (places - 1) + 1
    return Slices(max(apart, -(-whole // (places * turns))), places, before, after, origin=span[0])
