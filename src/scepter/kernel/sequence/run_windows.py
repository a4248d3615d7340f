"""Windows resolved to ticks: what bounds a run, and what a negation at either end looks at (SPAseq rules 8 and 10)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.query import Counting, Sliding, Tumbling, Window
from scepter.inner import inner
from scepter.kernel.rows import Int64, UInt64, filled
from scepter.kernel.sequence.forward_search import NOTHING
from scepter.rdf.words import fresh
from scepter.timeline import MAX_INSTANT, Duration, TimeKind

_ENDLESS, _TUMBLING, SLIDING = 0, 1, 2


@inner
def limit_of(first, start, window):  # type: ignore[no-untyped-def]
    """The last time at which a run may go on, by the time of its first event and the least start of its events."""
    length = window[1]
    if window[0] == _ENDLESS:
        return np.int64(MAX_INSTANT)
    if window[0] == _TUMBLING:
        return (first - window[2]) // length * length + window[2] + (length - 1)
    return min(start, MAX_INSTANT - max(length, 0)) + length


@njit(cache=True)
def _limits(first, start, window):  # type: ignore[no-untyped-def]
    found = fresh(len(first), np.int64)
    for i in range(len(first)):
        found[i] = limit_of(first[i], start[i], window)
    return found


@dataclass(frozen=True, slots=True)
class Bounds:
    """A window on a timeline: `length` ticks, tumbling from `origin` or sliding; or a count of events; or none of these."""

    length: int | None = None
    tumbling: bool = False
    origin: int = 0
    events: int | None = None
    gaps: tuple[int, ...] = ()
    """The longest times of the gap bounds (SPAseq rule 16)."""
    window: Int64 = field(init=False, repr=False, compare=False)
    """Its kind, length and origin, for kernels."""

    def __post_init__(self) -> None:
        kind = _ENDLESS if self.length is None else _TUMBLING if self.tumbling else SLIDING
        object.__setattr__(self, "window", np.array([kind, self.length or 0, self.origin], np.int64))

    def limit(self, first: Int64, start: Int64) -> Int64:
        """The last time at which runs with these first events may go on."""
        limits: Int64 = _limits(first, start, self.window)
        return limits

    def window_start(self, time: Int64) -> Int64:
        """The start of the tumbling window that a time lies in."""
        assert self.length is not None
        return (time - self.origin) // self.length * self.length + self.origin

    def rank_limit(self, before: Int64) -> Int64:
        """The greatest count of events (up to and including a time) that runs with so many events before them may see."""
        if self.events is None:
            return filled(len(before), MAX_INSTANT)
        return before + self.events

    def close(self, limit: Int64) -> Int64:
        """When the window of runs with these limits closes: the end of a match with a trailing negation."""
        return limit + 1 if self.tumbling else limit

    def leading_is_clear(self, lead: Int64, lead_rank: Int64, first: Int64, end: Int64, rank: Int64) -> NDArray[np.bool_]:
        """Whether the latest refused event before a run lies outside the window of its match."""
        nothing: NDArray[np.bool_] = lead == NOTHING
        outside = np.zeros(len(lead), np.bool_)
        if self.tumbling:
            outside = lead < self.window_start(first)
        elif self.length is not None:
            outside = lead < end - self.length
        elif self.events is not None:
            outside = rank - lead_rank > self.events
        return nothing | outside


def resolve(window: Window | None, kind: TimeKind, time_unit: str, origin: int, gaps: tuple[Duration, ...] = ()) -> Bounds:
    """A window and gap bounds in the ticks of a timeline. Raises ValueError for a duration that is no whole number of ticks."""
    longest = tuple(gap.ticks(kind, time_unit) for gap in gaps)
    match window:
        case None:
            return Bounds(gaps=longest)
        case Tumbling(duration):
            return Bounds(duration.ticks(kind, time_unit), tumbling=True, origin=origin, gaps=longest)
        case Sliding(duration, exclusive=exclusive):
            # below nothing is as good as below any negative time: no run goes on
            return Bounds(max(duration.ticks(kind, time_unit) - exclusive, -1), gaps=longest)
        case Counting(events):
            return Bounds(events=events, gaps=longest)


class Counts:
    """How many events of a group have come, and the times of its last ones: ranks for windows that count events."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._groups: dict[int, tuple[int, Int64]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def columns(self) -> tuple[UInt64, Int64, Int64]:
        """(groups, events of each so far, times of the last ones as [row of the group, time]) for the state's written form."""
        groups = np.array(list(self._groups), np.uint64)
        totals = np.array([total for total, _ in self._groups.values()], np.int64)
        recent = [np.stack([np.full(len(t), i), t], axis=1) for i, (_, t) in enumerate(self._groups.values())]
        return groups, totals, np.concatenate([np.empty((0, 2), np.int64), *recent])

    def load(self, groups: UInt64, totals: Int64, recent: Int64) -> None:
        """Take over what `columns` gave."""
        for i, (group, total) in enumerate(zip(groups.tolist(), totals.tolist(), strict=True)):
            self._groups[group] = (total, recent[recent[:, 0] == i, 1].copy())

    def last(self, groups: UInt64) -> Int64:
        """The time of the last event of each row's group."""
        return np.array([self._groups[group][1][-1] for group in groups.tolist()], np.int64)

    def observe(self, groups: UInt64, times: Int64) -> tuple[Counts, dict[int, tuple[int, Int64]]]:
        """Count events (sorted by time within a group): the counts afterwards, and per group (events before, their times)."""
        after = Counts(self._keep)
        after._groups = dict(self._groups)
        seen: dict[int, tuple[int, Int64]] = {}
        for group in {*map(int, np.unique(groups)), *self._groups}:
            total, recent = self._groups.get(group, (0, np.empty(0, np.int64)))
            new = times[groups == group]
            every = np.concatenate([recent, new])
            seen[group] = (total - len(recent), every)
            kept = every[max(0, len(every) - self._keep - 1) :]
            # all events of the oldest kept instant stay together, so that counting from it is exact
            oldest = kept[0] if len(kept) else 0
            after._groups[group] = (total + len(new), every[every >= oldest] if len(kept) else every)
        return after, seen


def rank_of(seen: dict[int, tuple[int, Int64]], groups: UInt64, times: Int64, side: str) -> Int64:
    """Events of each row's group up to and including (`right`) or before (`left`) its time."""
    ranks = np.zeros(len(times), np.int64)
    for group in np.unique(groups):
        base, every = seen.get(int(group), (0, np.empty(0, np.int64)))
        rows = groups == group
        ranks[rows] = base + np.searchsorted(every, times[rows], side="left" if side == "left" else "right")
    return ranks
