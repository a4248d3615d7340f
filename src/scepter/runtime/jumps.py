"""Events that would move time on by too much: held back until a second one confirms the jump.

One event in the far future makes everything after it late. With `--max-advance D` such an event waits: a second one that is
also beyond D, and within D of it, confirms that time has indeed moved; then both are taken. So are events that time reaches by
smaller steps. What nothing confirms takes part in nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.runtime.notices import Notices
from scepter.timeline import TimeKind, format_instant

Token = TypeVar("Token")
LEAP: Final = 100
"""A step of time so many times as wide as the steps before it is a jump."""
_MOST: Final = 10_000
"""So many may wait; more of them confirm nothing but junk."""


@dataclass(frozen=True, slots=True)
class Known:
    """How far the time of a stream is, and the times of the events that wait."""

    greatest: int | None = None
    held: tuple[int, ...] = ()

    def after(self, ends: Iterable[int], limit: int) -> Known:
        """With more events, whose order is not known: the earlier ones first, which is when fewest have to wait.

        >>> Known(5).after([999, 12], 10)
        Known(greatest=12, held=(999,))
        >>> Known(5, (999,)).after([1004], 10)
        Known(greatest=1004, held=())
        """
        jumps: Jumps[None] = Jumps(limit, self.greatest, [(end, None) for end in self.held])
        times = np.sort(np.fromiter(ends, np.int64))
        if not jumps.calm(times):
            for end in times.tolist():
                jumps.admit(end, None)
        return Known(jumps.greatest, tuple(end for end, _ in jumps.held))


class Jumps(Generic[Token]):
    """What one stream holds back.

    >>> jumps = Jumps(10)
    >>> [jumps.admit(end, end) for end in (1, 5, 999, 12, 1005, 1006)]
    [[1], [5], [], [12], [999, 1005], [1006]]
    """

    def __init__(self, limit: int, greatest: int | None = None, held: Iterable[tuple[int, Token]] = ()) -> None:
        self.limit = limit
        self._greatest = greatest
        self._held: list[tuple[int, Token]] = list(held)
        self.dropped: list[tuple[int, Token]] = []
        """Those that nothing can confirm any more; whoever takes them empties the list."""

    @property
    def held(self) -> list[tuple[int, Token]]:
        """The time of each event that waits, and the event."""
        return self._held

    @property
    def greatest(self) -> int | None:
        """How far time is; None before the first event."""
        return self._greatest

    def calm(self, ends: NDArray[np.int64]) -> bool:
        """Whether events can be taken as they are, and none that waits with them; if so, they count as taken."""
        if not len(ends):
            return True
        before = np.maximum.accumulate(ends)[:-1]
        first = int(ends[0]) if self._greatest is None else self._greatest
        peaks = np.maximum(np.concatenate([[first], before]), first)
        greatest = max(first, int(ends.max()))
        # as a difference, which is within 64 bits where a sum is not
        if ((ends > peaks) & ((ends - peaks).view(np.uint64) > self.limit)).any():
            return False
        if any(end - greatest <= self.limit for end, _ in self._held):
            return False
        self._greatest = greatest
        return True

    def admit(self, end: int, token: Token) -> list[Token]:
        """Take one event: those that are to be taken now, in the order they came."""
        if self._greatest is None or end <= self._greatest + self.limit:
            self._greatest = end if self._greatest is None else max(self._greatest, end)
            return [token, *self._reached()]
        confirmed = [entry for entry in self._held if abs(entry[0] - end) <= self.limit]
        if not confirmed:
            self._held.append((end, token))
            if len(self._held) > _MOST:
                self.dropped.append(self._held.pop(0))
            return []
        self._held = [entry for entry in self._held if entry not in confirmed]
        self._greatest = max(end, *(each for each, _ in confirmed))
        return [*(each for _, each in confirmed), token, *self._reached()]

    def pass_to(self, end: int) -> list[Token]:
        """Time has moved on to here by small steps: those of the events held back that are to be taken now."""
        self._greatest = end if self._greatest is None else max(self._greatest, end)
        return self._reached()

    def _reached(self) -> list[Token]:
        """Those of the events held back that time has come near to."""
        found: list[Token] = []
        assert self._greatest is not None
        while near := [entry for entry in self._held if entry[0] <= self._greatest + self.limit]:
            self._held = [entry for entry in self._held if entry not in near]
            self._greatest = max(self._greatest, *(end for end, _ in near))
            found += [token for _, token in near]
        return found


class Stretch(NamedTuple):
    """Events of which none is further than the limit from the one before it."""

    greatest: int
    events: int


def stretches(ends: NDArray[np.int64], limit: int) -> list[Stretch]:
    """Events in the order in which they come, as stretches.

    >>> stretches(np.array([1, 5, 999, 12, 14]), 10)
    [Stretch(greatest=5, events=2), Stretch(greatest=999, events=1), Stretch(greatest=14, events=2)]
    """
    if not len(ends):
        return []
    apart = (np.maximum(ends[1:], ends[:-1]) - np.minimum(ends[1:], ends[:-1])).view(np.uint64) > limit
    first = np.concatenate([[0], np.flatnonzero(apart) + 1])
    events = np.diff(np.append(first, len(ends)))
    return list(map(Stretch, np.maximum.reduceat(ends, first).tolist(), events.tolist()))


def unconfirmed(parts: Iterable[Stretch], limit: int) -> list[int]:
    """The times of the events that nothing confirms, of a stream that is over. The events of a stretch confirm each other,
    wherever time is; one alone is taken as it comes.

    >>> unconfirmed([Stretch(5, 2), Stretch(999, 1), Stretch(14, 2)], 10)
    [999]
    """
    jumps: Jumps[None] = Jumps(limit)
    for part in parts:
        if part.events > 1:
            jumps.pass_to(part.greatest)
        else:
            jumps.admit(part.greatest, None)
    return [end for end, _ in (*jumps.dropped, *jumps.held)]


class Leap:
    """Watches for an event that makes the ones after it late: told once, at once, with the event that caused it."""

    def __init__(self, notices: Notices | None = None) -> None:
        self._notices = notices or Notices()
        self._first: int | None = None
        self._greatest = self._before = 0
        self._events = 0
        self._told = False

    def seen(self, ends: NDArray[np.int64], late: NDArray[np.bool_], stream: str, kind: TimeKind) -> None:
        """Some events have come, of which some are late."""
        if self._told or not len(ends):
            return
        if not late.any():
            self._note(ends)
            return
        first = int(np.flatnonzero(late)[0])
        self._note(ends[:first])
        if self._is_leap():
            self._told = True
            late_at, far, before = (format_instant(t, kind) for t in (int(ends[first]), self._greatest, self._before))
            self._notices.tell(
                f"<{stream}>: the event at {late_at} is late because one at {far} has moved time on from {before}; "
                "so are all others before that. --max-advance D holds such an event back until a second one confirms it"
            )
        self._note(ends[first:])

    def step(self, end: int, late: bool, stream: str, kind: TimeKind) -> None:
        """As `seen`, of one event."""
        if self._told:
            return
        if late:
            self.seen(np.array([end]), np.array([True]), stream, kind)
            return
        if self._first is None:
            self._first = self._greatest = self._before = end
        elif end > self._greatest:
            self._before, self._greatest = self._greatest, end
        self._events += 1

    def _note(self, ends: NDArray[np.int64]) -> None:
        if not len(ends):
            return
        if self._first is None:
            self._first = self._greatest = self._before = int(ends[0])
        top = int(ends.max())
        if top > self._greatest:
            at = int(ends.argmax())
            self._before = max(self._greatest, int(ends[:at].max())) if at else self._greatest
            self._greatest = top
        self._events += len(ends)

    def _is_leap(self) -> bool:
        """Whether the last step of time was a hundred times as wide as the steps before it."""
        if self._first is None or self._events < 3:
            return False
        usual = max(1, (self._before - self._first) // max(1, self._events - 2))
        return self._greatest - self._before > LEAP * usual
