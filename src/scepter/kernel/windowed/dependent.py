"""Sequences whose left side has, before each right side, other mappings than over the whole window.

`(A SEQ CHRONOLOGICAL B) SEQ C` evaluates `A SEQ CHRONOLOGICAL B` once for every C, over the items before it and with its
bindings (Eq. 7). The value is kept, and found anew when something it rests on has gone.
"""

from __future__ import annotations

from collections.abc import Iterable

from scepter.algebra.windows import Policy
from scepter.kernel.windowed.definition import Found, Node, Rests, evaluate, extreme, left_extreme, lookups, select
from scepter.kernel.windowed.items import Delta, EventMapping, Values
from scepter.kernel.windowed.joining import Ordered
from scepter.kernel.windowed.lookup import Bound
from scepter.kernel.windowed.operators import Operator


class Dependent:
    """A sequence whose left side follows its definition; the right one is an operator."""

    def __init__(self, left: Node, right: Operator, policy: Policy) -> None:
        self._left = left
        self._right = right
        self._policy = policy
        self._lookups = lookups(left)
        names = {name for each in self._lookups for name in each.scan.variables}
        self.variables = tuple(sorted(names.union(right.variables)))
        self.certain = right.certain.union(*(each.scan.certain for each in self._lookups))
        shared = [i for i, name in enumerate(right.variables) if name in names]
        self._shared = shared
        # equal mappings have right sides that agree on what those always bind
        self._keys = [i for i in shared if right.variables[i] in right.certain] if policy is not Policy.NAIVE else []
        self._rights: dict[Values, Ordered] = {}
        self._in_order = Ordered()
        self._values: dict[EventMapping, tuple[list[Found], Rests]] = {}
        self._resting: dict[EventMapping, dict[EventMapping, None]] = {}
        """What rests on a mapping of the left side's scans."""
        self._selected: dict[Values, dict[tuple[int, int, Values], EventMapping]] = {}

    def update(self) -> Delta:
        """Select anew where a right side, or what its left sides rest on, has come or gone."""
        changed: dict[Values, None] = {}
        moved = self._update_left(changed)
        right = self._right.update()
        for mapping in right.removed:
            self._forget(mapping)
            self._in_order.remove(mapping)
            bucket = self._rights[key := self._key(mapping)]
            bucket.remove(mapping)
            if not len(bucket):
                del self._rights[key]
            changed[key] = None
        for mapping in right.added:
            self._in_order.add(mapping)
            self._rights.setdefault(key := self._key(mapping), Ordered()).add(mapping)
            changed[key] = None
        if self._policy is Policy.NAIVE and moved:
            changed[()] = None
        delta = Delta()
        for key in changed:
            self._change(key, delta)
        return delta

    def _update_left(self, changed: dict[Values, None]) -> bool:
        """Let go of the values that a change of the left side's scans may alter; whether there was one."""
        moved = False
        for lookup in self._lookups:
            delta = lookup.update()
            moved |= bool(delta)
            altered = [right for mapping in delta.removed for right in self._resting.pop(mapping, ())]
            if delta.added:
                # only where windows move by different steps is there a right side later than what comes
                soonest = min(mapping.end for mapping in delta.added)
                altered += self._in_order.mappings[self._in_order.ended_before(soonest + 1) :]
            for right in altered:
                self._forget(right)
                changed[self._key(right)] = None
        return moved

    def _key(self, right: EventMapping) -> Values:
        return tuple([right.values[i] for i in self._keys])

    def _forget(self, right: EventMapping) -> None:
        _, rests = self._values.pop(right, ((), ()))
        for mapping in rests:
            resting = self._resting.get(mapping)
            if resting is not None:
                resting.pop(right, None)
                if not resting:
                    del self._resting[mapping]

    def _lefts(self, right: Found) -> list[Found]:
        """The left sides of a right side, as they were found or anew."""
        known = self._values.get(right.mapping)
        if known is None:
            rests: Rests = []
            last = left_extreme(self._policy)
            found = evaluate(self._left, right.mapping.start, right.bound, last, rests)
            known = self._values[right.mapping] = (found, rests)
            for mapping in rests:
                self._resting.setdefault(mapping, {})[right.mapping] = None
        return known[0]

    def _pairs(self, key: Values) -> Iterable[tuple[Found, Found]]:
        if self._policy is Policy.NAIVE:
            rights = [Found(self._bound(m), m) for m in self._in_order.last()]
            pairs = [
                (left, right) for right in rights for left in extreme(evaluate(self._left, None, right.bound, True, []), True)
            ]
            return [(left, right) for left, right in pairs if left.mapping.order < right.mapping.order]
        bucket = self._rights.get(key)
        rights = [] if bucket is None else [Found(self._bound(m), m) for m in bucket.mappings]
        return select(rights, self._lefts, self._policy, lambda right: tuple([right.mapping.values[i] for i in self._shared]))

    def _bound(self, right: EventMapping) -> Bound:
        pairs = zip(self._right.variables, right.values, strict=True)
        return {name: term for name, term in pairs if term is not None}

    def _change(self, key: Values, delta: Delta) -> None:
        """Replace what is selected for a key; a mapping that stays is the same object, with its parts renewed."""
        old = self._selected.pop(key, {})
        new: dict[tuple[int, int, Values], EventMapping] = {}
        for left, right in self._pairs(key):
            bound = {**left.bound, **right.bound}
            values = tuple([bound.get(name) for name in self.variables])
            identity = (left.mapping.start, right.mapping.end, values)
            mapping = new.get(identity)
            if mapping is None:
                mapping = old.get(identity)
                if mapping is None:
                    mapping = EventMapping(values, left.mapping.start, right.mapping.end)
                    delta.added.append(mapping)
                mapping.parts = []
                new[identity] = mapping
            mapping.parts.append((left.mapping, right.mapping))
        delta.removed += [mapping for identity, mapping in old.items() if identity not in new]
        if new:
            self._selected[key] = new

    def mappings(self) -> Iterable[EventMapping]:
        """All those selected."""
        return (mapping for selected in self._selected.values() for mapping in selected.values())

    def state(self) -> int:
        """Those of the scans and of the right side, the values kept, and its own."""
        scans = sum(each.scan.state() for each in self._lookups)
        return scans + self._right.state() + len(self._values) + sum(1 for _ in self.mappings())
