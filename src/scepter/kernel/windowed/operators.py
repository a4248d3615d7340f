"""Event patterns as operators that answer with what has changed.

An operator is asked once per evaluation, after its windows have moved. A sequence is followed change by change when its
left side, evaluated before a moment and with some bindings, is simply a part of what it is altogether: that is so for scans and
unrestricted sequences of them, and FIRST and LAST of these can be found in their order. For any other left side the
definition is followed (`dependent.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Protocol

from scepter.algebra.windows import Policy
from scepter.kernel.windowed.items import Delta, EventMapping, Values
from scepter.kernel.windowed.joining import Joining, Key, Ordered


class Operator(Protocol):
    """An event pattern at work."""

    @property
    def variables(self) -> tuple[str, ...]:
        """What its mappings' values are, in order."""
        ...

    @property
    def certain(self) -> frozenset[str]:
        """The variables that every mapping binds."""
        ...

    def update(self) -> Delta:
        """What has changed since the last time."""
        ...

    def mappings(self) -> Iterable[EventMapping]:
        """All there are, as of the last update."""
        ...

    def state(self) -> int:
        """How many mappings it keeps, with those of its operands."""
        ...


class Extreme:
    """FIRST or LAST of an operator whose operand is evaluated over whole windows."""

    def __init__(self, operand: Operator, last: bool) -> None:
        self._operand = operand
        self._last = last
        self._ordered = Ordered()
        self._selected: dict[EventMapping, None] = {}

    @property
    def variables(self) -> tuple[str, ...]:
        """Those of the operand."""
        return self._operand.variables

    @property
    def certain(self) -> frozenset[str]:
        """Those of the operand."""
        return self._operand.certain

    def update(self) -> Delta:
        """What has become, or ceased to be, first or last."""
        delta = self._operand.update()
        if not delta:
            return delta
        for mapping in delta.removed:
            self._ordered.remove(mapping)
        for mapping in delta.added:
            self._ordered.add(mapping)
        old = self._selected
        self._selected = dict.fromkeys(self._ordered.last() if self._last else self._ordered.first())
        return Delta([m for m in self._selected if m not in old], [m for m in old if m not in self._selected])

    def mappings(self) -> Iterable[EventMapping]:
        """Those selected."""
        return self._selected

    def state(self) -> int:
        """What the operand keeps."""
        return self._operand.state()


class _Sequence(ABC):
    """What all sequences share: two operands, their joining, and the mappings made of pairs."""

    def __init__(self, left: Operator, right: Operator) -> None:
        self._left = left
        self._right = right
        self._joining = Joining(left.variables, right.variables, left.certain, right.certain)
        self.variables = self._joining.variables
        self.certain = self._joining.certain
        self._lefts: dict[Key, Ordered] = {}
        self._rights: dict[Key, Ordered] = {}

    def state(self) -> int:
        """Mappings of the sequence and of its operands."""
        return self._left.state() + self._right.state() + sum(1 for _ in self.mappings())

    @abstractmethod
    def mappings(self) -> Iterable[EventMapping]:
        """All there are."""


def _put(side: dict[Key, Ordered], key: Key, mapping: EventMapping) -> None:
    bucket = side.get(key)
    if bucket is None:
        bucket = side[key] = Ordered()
    bucket.add(mapping)


def _drop(side: dict[Key, Ordered], key: Key, mapping: EventMapping) -> None:
    bucket = side[key]
    bucket.remove(mapping)
    if not len(bucket):
        del side[key]


class AllPairs(_Sequence):
    """The unrestricted sequence: every pair in order (rule 5), found when its second half arrives."""

    def __init__(self, left: Operator, right: Operator) -> None:
        super().__init__(left, right)
        self._mappings: dict[tuple[int, int, Values], EventMapping] = {}
        self._made_of: dict[EventMapping, dict[EventMapping, None]] = {}

    def update(self) -> Delta:
        """Pairs that have lost a half, then those that got one."""
        left, right = self._left.update(), self._right.update()
        removed: dict[EventMapping, None] = {}
        added: dict[EventMapping, None] = {}
        for mapping in left.removed:
            _drop(self._lefts, self._joining.left_key(mapping.values), mapping)
            self._unmake(mapping, removed)
        for mapping in right.removed:
            _drop(self._rights, self._joining.right_key(mapping.values), mapping)
            self._unmake(mapping, removed)
        for mapping in left.added:
            key = self._joining.left_key(mapping.values)
            for other in self._after(mapping, self._rights.get(key)):
                self._make(mapping, other, added)
            _put(self._lefts, key, mapping)
        for mapping in right.added:
            key = self._joining.right_key(mapping.values)
            for other in self._before(mapping, self._lefts.get(key)):
                self._make(other, mapping, added)
            _put(self._rights, key, mapping)
        return Delta(list(added), list(removed))

    def _before(self, right: EventMapping, lefts: Ordered | None) -> list[EventMapping]:
        if lefts is None:
            return []
        found = lefts.mappings[: lefts.ended_before(right.start)]
        return found if self._joining.exact else [m for m in found if self._joining.compatible(m, right)]

    def _after(self, left: EventMapping, rights: Ordered | None) -> list[EventMapping]:
        if rights is None:
            return []
        later = rights.mappings[rights.ended_before(left.end + 1) :]
        return [m for m in later if m.start > left.end and self._joining.compatible(left, m)]

    def _make(self, left: EventMapping, right: EventMapping, added: dict[EventMapping, None]) -> None:
        values = self._joining.values(left, right)
        key = (left.start, right.end, values)
        mapping = self._mappings.get(key)
        if mapping is None:
            mapping = self._mappings[key] = EventMapping(values, left.start, right.end)
            added[mapping] = None
        mapping.parts.append((left, right))
        self._made_of.setdefault(left, {})[mapping] = None
        self._made_of.setdefault(right, {})[mapping] = None

    def _unmake(self, half: EventMapping, removed: dict[EventMapping, None]) -> None:
        for mapping in self._made_of.pop(half, ()):
            lost = [pair for pair in mapping.parts if half in pair]
            mapping.parts = [pair for pair in mapping.parts if half not in pair]
            for left, right in lost:
                self._forget(mapping, right if left is half else left)
            if not mapping.parts:
                del self._mappings[mapping.start, mapping.end, mapping.values]
                removed[mapping] = None

    def _forget(self, mapping: EventMapping, half: EventMapping) -> None:
        """A half that stays need not know a mapping that it has no part in any more."""
        if any(half in pair for pair in mapping.parts):
            return
        made = self._made_of.get(half)
        if made is not None:
            made.pop(mapping, None)
            if not made:
                del self._made_of[half]

    def mappings(self) -> Iterable[EventMapping]:
        """All pairs."""
        return self._mappings.values()


class _Reselecting(_Sequence):
    """A sequence that selects anew among the mappings of those keys that have changed."""

    def __init__(self, left: Operator, right: Operator) -> None:
        super().__init__(left, right)
        self._selected: dict[Key, dict[tuple[int, int, Values], EventMapping]] = {}

    def mappings(self) -> Iterable[EventMapping]:
        """All those selected."""
        return (mapping for selected in self._selected.values() for mapping in selected.values())

    def _change(self, key: Key, pairs: Iterable[tuple[EventMapping, EventMapping]], delta: Delta) -> None:
        """Replace what is selected for a key; a mapping that stays is the same object, with its parts renewed."""
        old = self._selected.pop(key, {})
        new: dict[tuple[int, int, Values], EventMapping] = {}
        for left, right in pairs:
            values = self._joining.values(left, right)
            identity = (left.start, right.end, values)
            mapping = new.get(identity)
            if mapping is None:
                mapping = old.get(identity)
                if mapping is None:
                    mapping = EventMapping(values, left.start, right.end)
                    delta.added.append(mapping)
                mapping.parts = []
                new[identity] = mapping
            mapping.parts.append((left, right))
        delta.removed += [mapping for identity, mapping in old.items() if identity not in new]
        if new:
            self._selected[key] = new


class Selective(_Reselecting):
    """A sequence in which a right side takes the first or last of its left sides (rules 5, 6 and 8).

    `last` is the extreme that the left side is reduced to; under a policy that competes, right sides that agree on the shared
    variables compete with each other.
    """

    def __init__(self, left: Operator, right: Operator, last: bool, policy: Policy) -> None:
        super().__init__(left, right)
        self._last = last
        self._policy = policy

    def update(self) -> Delta:
        """Select anew where something has come or gone."""
        left, right = self._left.update(), self._right.update()
        changed: dict[Key, None] = {}
        sides = (
            (left, self._lefts, self._joining.left_key),
            (right, self._rights, self._joining.right_key),
        )
        for delta, side, key_of in sides:
            for mapping in delta.removed:
                key = key_of(mapping.values)
                _drop(side, key, mapping)
                changed[key] = None
            for mapping in delta.added:
                key = key_of(mapping.values)
                _put(side, key, mapping)
                changed[key] = None
        result = Delta()
        for key in changed:
            self._change(key, self._select(self._lefts.get(key), self._rights.get(key)), result)
        return result

    def _select(self, lefts: Ordered | None, rights: Ordered | None) -> Iterator[tuple[EventMapping, EventMapping]]:
        if lefts is None or rights is None:
            return
        # Whatever ends no later than the first left side has none before it.
        candidates = rights.mappings[rights.ended_before(lefts.orders[0][0] + 1) :]
        if not self._policy.consumes:
            for right in candidates:
                for left in self._partners(right, lefts):
                    yield left, right
            return
        if self._policy is Policy.RECENT:
            candidates.reverse()
        won: dict[Values, tuple[int, int]] = {}
        for right in candidates:
            agreement = self._joining.agreement(right.values)
            order = won.get(agreement)
            if order is not None and order != right.order:
                if self._joining.exact:
                    return  # all of one key agree: nobody after the first winner takes part
                continue
            partners = self._partners(right, lefts)
            if partners:
                won[agreement] = right.order
            for left in partners:
                yield left, right

    def _partners(self, right: EventMapping, lefts: Ordered) -> list[EventMapping]:
        until = lefts.ended_before(right.start)
        if self._joining.exact:
            return lefts.last(until) if self._last else lefts.first(until)
        fitting = [m for m in lefts.mappings[:until] if self._joining.compatible(m, right)]
        extreme = fitting[-1 if self._last else 0].order if fitting else None
        return [m for m in fitting if m.order == extreme]


class Naive(_Reselecting):
    """C-SPARQL's sequence: the last right sides, each with the last left side that fits, if that one is before it (rule 7)."""

    def __init__(self, left: Operator, right: Operator, last: bool) -> None:
        super().__init__(left, right)
        self._last = last
        self._every_right = Ordered()

    def update(self) -> Delta:
        """Select anew if anything has changed."""
        left, right = self._left.update(), self._right.update()
        if not left and not right:
            return Delta()
        for mapping in left.removed:
            _drop(self._lefts, self._joining.left_key(mapping.values), mapping)
        for mapping in left.added:
            _put(self._lefts, self._joining.left_key(mapping.values), mapping)
        for mapping in right.removed:
            self._every_right.remove(mapping)
        for mapping in right.added:
            self._every_right.add(mapping)
        delta = Delta()
        self._change((), self._select(), delta)
        return delta

    def _select(self) -> Iterator[tuple[EventMapping, EventMapping]]:
        for right in self._every_right.last():
            lefts = self._lefts.get(self._joining.right_key(right.values))
            if lefts is None:
                continue
            for left in self._partners(right, lefts):
                if left.order < right.order:
                    yield left, right

    def _partners(self, right: EventMapping, lefts: Ordered) -> list[EventMapping]:
        if self._joining.exact:
            return lefts.last() if self._last else lefts.first()
        fitting = [m for m in lefts.mappings if self._joining.compatible(m, right)]
        extreme = fitting[-1 if self._last else 0].order if fitting else None
        return [m for m in fitting if m.order == extreme]
