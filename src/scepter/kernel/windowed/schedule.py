"""When a query is evaluated (spec/30-rsep-ql rule 2)."""

from __future__ import annotations

from typing import Protocol

from scepter.algebra.windows import RelationToStream


class Watched(Protocol):
    """What a schedule may ask of the query it schedules."""

    def next_change(self, after: int) -> int | None:
        """The next instant at which the answer may be another; None if it stays."""
        ...

    @property
    def idle(self) -> bool:
        """Whether the answer has no rows."""
        ...


class Schedule(Protocol):
    """A sequence of evaluation instants."""

    def next(self, ahead: int | None, closed: int, watched: Watched) -> int | None:
        """The next instant up to `closed`, when the next item that has not arrived yet is at `ahead`; None if there is none."""
        ...

    def seen(self, time: int) -> None:
        """An item has arrived."""
        ...

    def final(self) -> int | None:
        """The next instant after the end of the input; None when there is no more."""
        ...


class AtInstants:
    """The instants given."""

    def __init__(self, instants: list[int]) -> None:
        self._left = instants[::-1]

    def next(self, ahead: int | None, closed: int, watched: Watched) -> int | None:
        """The next one."""
        return self._left.pop() if self._left and self._left[-1] <= closed else None

    def seen(self, time: int) -> None:
        """Items change nothing."""

    def final(self) -> int | None:
        """Those after the last item."""
        return self._left.pop() if self._left else None


class AtChanges:
    """Every instant at which there is an item."""

    def next(self, ahead: int | None, closed: int, watched: Watched) -> int | None:
        """The time of the next item."""
        return ahead if ahead is not None and ahead <= closed else None

    def seen(self, time: int) -> None:
        """What has arrived has been evaluated."""

    def final(self) -> int | None:
        """None: without an item there is no change."""
        return None


class AtMultiples:
    """Every multiple of a step, from the first item on.

    Evaluations that would find what the one before found, and say nothing, are left out: a step of a millisecond
    over a silent hour costs nothing.
    """

    def __init__(self, step: int, output: RelationToStream) -> None:
        self._step = step
        self._repeats = output is RelationToStream.RSTREAM
        self._due: int | None = None
        self._last_item: int | None = None

    def next(self, ahead: int | None, closed: int, watched: Watched) -> int | None:
        """The next multiple at which something may have changed."""
        if self._due is None:
            if ahead is None or ahead > closed:
                return None
            self._due = self._round_up(ahead)
        due = self._due
        if not self._repeats or watched.idle:
            changes = [watched.next_change(due - 1), ahead]
            change = min((c for c in changes if c is not None), default=None)
            due = closed + 1 if change is None else max(due, self._round_up(change))
        if due > closed:
            self._due = max(self._due, min(due, self._round_up(closed + 1)))
            return None
        self._due = due + self._step
        return due

    def _round_up(self, time: int) -> int:
        return -(-time // self._step) * self._step

    def seen(self, time: int) -> None:
        """Remember the last item's time."""
        self._last_item = time

    def final(self) -> int | None:
        """The multiples up to the first one at or after the last item."""
        if self._due is None or self._last_item is None or self._due > self._round_up(self._last_item):
            return None
        due, self._due = self._due, self._due + self._step
        return due
