"""Parcels that leave a place and reach one, an item per millisecond, and plain loops for selection and consumption policies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from scepter.rdf.terms import XSD

STREAM: Final = "http://example.org/parcels"
NS: Final = "http://example.org/parcel#"
PROV: Final = "http://www.w3.org/ns/prov#"


@dataclass(frozen=True)
class Items:
    """One item per millisecond: a parcel that left a place (even) or reached one (odd)."""

    parcel: list[int]
    reached: list[bool]

    @classmethod
    def drawn(cls, items: int, parcels: int, seed: int = 7) -> Items:
        """The same for the same seed."""
        random = np.random.default_rng(seed)
        return cls(random.integers(0, parcels, items).tolist(), (random.random(items) < 0.5).tolist())

    def write(self, path: Path) -> None:
        """As N-Quads: a triple and a time per item."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (parcel, reached) in enumerate(zip(self.parcel, self.reached, strict=True)):
                name, what = f"<http://example.org/scan/{i}>", "reached" if reached else "left"
                out.write(
                    f"<http://example.org/parcel/{parcel}> <{NS}{what}> <http://example.org/place/{i % 97}> {name} .\n"
                    f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n'
                )

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        return zip(range(len(self.parcel)), self.parcel, self.reached, strict=True)


# What each pattern gives, item by item: `left` are the times at which each parcel left, within the window.

Left = dict[int, deque[int]]


def _live(left: Left, parcel: int, after: int) -> deque[int]:
    times = left.setdefault(parcel, deque())
    while times and times[0] <= after:
        times.popleft()
    return times


def every(items: Items, width: int) -> int:
    """E1 SEQ E2: each time it left, with each time it is reached later."""
    left: Left = {}
    found = 0
    for t, parcel, reached in items:
        times = _live(left, parcel, t - width)
        if reached:
            found += len(times)
        else:
            times.append(t)
    return found


def last(items: Items, width: int) -> int:
    """LAST E1 SEQ E2, and NAIVE where every item is evaluated: one row per item reached after one left."""
    left: Left = {}
    found = 0
    for t, parcel, reached in items:
        times = _live(left, parcel, t - width)
        if reached:
            found += bool(times)
        else:
            times.append(t)
    return found


def first(items: Items, width: int) -> int:
    """FIRST E1 SEQ E2: also a new row for each time reached whose first departure has gone out of the window."""
    left: Left = {}
    reached_at: Left = {}
    going: dict[int, int] = {}
    found = 0
    for t, parcel, reached in items:
        gone = going.pop(t - width, None)  # the parcel that left when the window now begins
        if gone is not None:
            times, arrivals = _live(left, gone, t - width), _live(reached_at, gone, t - width)
            found += sum(1 for arrival in arrivals if times and times[0] < arrival)
        times = _live(left, parcel, t - width)
        if reached:
            found += bool(times)
            reached_at.setdefault(parcel, deque()).append(t)
        else:
            times.append(t)
            going[t] = parcel
    return found


def consuming(newest: bool) -> Callable[[Items, int], int]:
    """CHRONOLOGICAL and RECENT: the first or last time it left goes with the item that is reached, and both are gone."""

    def count(items: Items, width: int) -> int:
        left: Left = {}
        found = 0
        for t, parcel, reached in items:
            times = _live(left, parcel, t - width)
            if not reached:
                times.append(t)
            elif times:
                _ = times.pop() if newest else times.popleft()
                found += 1
        return found

    return count


def chained(items: Items, width: int) -> int:
    """E1 SEQ RECENT E2 SEQ RECENT E3, E3 as E1: left, last reached after it, and now left again; all three are gone."""
    left: Left = {}
    reached_at: Left = {}
    found = 0
    for t, parcel, reached in items:
        times, arrivals = _live(left, parcel, t - width), _live(reached_at, parcel, t - width)
        if reached:
            arrivals.append(t)
        elif times and arrivals and times[0] < arrivals[-1]:
            arrival = arrivals.pop()
            times.remove(max(time for time in times if time < arrival))
            found += 1
        else:
            times.append(t)
    return found


PATTERNS: Final[dict[str, Callable[[Items, int], int]]] = {
    "E1 SEQ CHRONOLOGICAL E2": consuming(False),
    "E1 SEQ RECENT E2": consuming(True),
    "LAST E1 SEQ E2": last,
    "FIRST E1 SEQ E2": first,
    "E1 SEQ NAIVE E2": last,
    "E1 SEQ UNRESTRICTED E2": every,
}
