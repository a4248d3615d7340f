"""How the two sides of a sequence find each other: by shared variables, in order of time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from scepter.kernel.windowed.items import EventMapping, Order, Values

Key: TypeAlias = Values
"""The terms that two mappings must share to join."""


class Ordered:
    """Mappings in order of end, then start; equal ones in order of arrival."""

    __slots__ = ("mappings", "orders")

    def __init__(self) -> None:
        self.mappings: list[EventMapping] = []
        self.orders: list[Order] = []

    def __len__(self) -> int:
        return len(self.mappings)

    def add(self, mapping: EventMapping) -> None:
        """Take a mapping; the usual one comes last."""
        order = mapping.order
        if not self.orders or self.orders[-1] <= order:
            self.orders.append(order)
            self.mappings.append(mapping)
            return
        at = bisect_right(self.orders, order)
        self.orders.insert(at, order)
        self.mappings.insert(at, mapping)

    def remove(self, mapping: EventMapping) -> None:
        """Let a mapping go."""
        at = bisect_left(self.orders, mapping.order)
        while self.mappings[at] is not mapping:
            at += 1
        del self.orders[at], self.mappings[at]

    def ended_before(self, time: int) -> int:
        """How many end before a time: they are the first ones."""
        return bisect_left(self.orders, (time,))

    def first(self, until: int | None = None) -> list[EventMapping]:
        """Those with no other one before, among the first `until`."""
        limit = len(self.orders) if until is None else until
        return self.mappings[: bisect_right(self.orders, self.orders[0], 0, limit)] if limit else []

    def last(self, until: int | None = None) -> list[EventMapping]:
        """Those with no other one after, among the first `until`."""
        limit = len(self.orders) if until is None else until
        return self.mappings[bisect_left(self.orders, self.orders[limit - 1], 0, limit) : limit] if limit else []


def earliest(mappings: Iterable[EventMapping]) -> list[EventMapping]:
    """FIRST: those with no other one before (rule 6)."""
    found = list(mappings)
    least = min((m.order for m in found), default=None)
    return [m for m in found if m.order == least]


def latest(mappings: Iterable[EventMapping]) -> list[EventMapping]:
    """LAST: those with no other one after (rule 6)."""
    found = list(mappings)
    greatest = max((m.order for m in found), default=None)
    return [m for m in found if m.order == greatest]


class Joining:
    """The shared variables of two operands: `keys` are bound on both sides for certain, `loose` maybe not."""

    def __init__(
        self, left: Sequence[str], right: Sequence[str], left_certain: frozenset[str], right_certain: frozenset[str]
    ) -> None:
        shared = [name for name in left if name in right]
        keys = [name for name in shared if name in left_certain and name in right_certain]
        loose = [name for name in shared if name not in keys]
        self.variables = (*left, *(name for name in right if name not in left))
        self.certain = left_certain | right_certain
        self.left_key = _picker([left.index(name) for name in keys])
        self.right_key = _picker([right.index(name) for name in keys])
        self.agreement = _picker([right.index(name) for name in loose])
        """The values that decide whether right sides of one key compete."""
        self._loose = [(left.index(name), right.index(name)) for name in loose]
        self._fill = {left.index(name): right.index(name) for name in loose}
        self._rest = _picker([i for i, name in enumerate(right) if name not in left])

    @property
    def exact(self) -> bool:
        """Whether an equal key is all that compatibility asks."""
        return not self._loose

    def compatible(self, left: EventMapping, right: EventMapping) -> bool:
        """Whether two mappings of equal key agree wherever both are bound."""
        for i, j in self._loose:
            a, b = left.values[i], right.values[j]
            if a is not None and b is not None and a != b:
                return False
        return True

    def values(self, left: EventMapping, right: EventMapping) -> Values:
        """The union of two compatible mappings."""
        values = left.values
        if self._fill:
            fill = self._fill
            values = tuple([right.values[fill[i]] if v is None and i in fill else v for i, v in enumerate(values)])
        return values + self._rest(right.values)


def _picker(places: list[int]) -> Callable[[Values], Values]:
    if not places:
        return lambda values: ()
    if len(places) == 1:
        (only,) = places
        return lambda values: (values[only],)
    return lambda values: tuple([values[i] for i in places])
