"""Windows (rule 10), and how far the negations at the ends of a sequence look in them (rule 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from naive.runs import Run, Seen
from scepter.algebra import query as algebra
from scepter.algebra.query import Counting, Sliding, Tumbling


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a query over the events of a partition."""

    window: algebra.Window | None
    events: Sequence[Seen]
    origin: int
    length: int
    """Of a tumbling or sliding window, in ticks."""

    def inside(self, run: Run) -> bool:
        """10. CHOICE: the window judges whole matches, it takes no part in what skip-till-next accepts; a tumbling window
        looks at the times at which events are seen, that is at their ends."""
        match self.window:
            case None:
                return True
            case Tumbling():
                return len({self._bucket(event.time) for event in run.selected}) == 1
            case Sliding():
                return run.time - run.start <= self.length
            case Counting(limit):
                return self._count(run.start, run.time) <= limit
            case unreachable:
                assert_never(unreachable)

    def _bucket(self, time: int) -> int:
        return (time - self.origin) // self.length

    def _count(self, first: int, last: int) -> int:
        return sum(first <= event.time <= last for event in self.events)

    def reaches_forward(self, run: Run, time: int) -> bool:
        match self.window:
            case None:
                raise ValueError("a trailing negation needs a window")
            case Tumbling():
                return self._bucket(time) == self._bucket(run.time)
            case Sliding():
                return time <= run.start + self.length
            case Counting(limit):  # CHOICE: the window of n events goes forward as long as it holds at most n
                return self._count(run.start, time) <= limit
            case unreachable:
                assert_never(unreachable)

    def reaches_back(self, run: Run, end: int, time: int) -> bool:
        match self.window:
            case None:  # CHOICE: without a window it looks back to the start of the query
                return True
            case Tumbling():
                return self._bucket(time) == self._bucket(run.time)
            case Sliding():  # CHOICE: with a trailing negation too, `end` is the match's end, the close of the window
                return time >= end - self.length
            case Counting(limit):  # CHOICE: the window of n events goes back as long as it holds at most n
                return self._count(time, end) <= limit
            case unreachable:
                assert_never(unreachable)

    def close(self, run: Run) -> int:
        match self.window:
            case None:
                raise ValueError("a trailing negation needs a window")
            case Tumbling():
                return self.origin + (self._bucket(run.time) + 1) * self.length
            case Sliding():
                return run.start + self.length
            case Counting(limit):  # CHOICE: it closes with the last event it can hold; so it does at the end of the input
                return max(e.time for e in self.events if e.time >= run.time and self._count(run.start, e.time) <= limit)
            case unreachable:
                assert_never(unreachable)

    def over(self, run: Run, deadline: int | None) -> int:
        """18: when the time of a partial match is over."""
        if self.window is None:
            assert deadline is not None
            return deadline
        if deadline is None:
            return self.close(run)
        if isinstance(
            self.window, Counting
        ):  # CHOICE: a window of events that never fills up does not close before a gap bound
            full = self._count(run.start, max(event.time for event in self.events)) >= self.window.events
            return min(deadline, self.close(run)) if full else deadline
        # a tumbling window is over with its last instant, and says so with its close
        last = self.close(run) - 1 if isinstance(self.window, Tumbling) else self.close(run)
        return deadline if deadline < last else self.close(run)
