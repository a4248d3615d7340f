"""Event patterns evaluated as they are defined: for left sides whose value depends on what is before each right side.

`(A SEQ CHRONOLOGICAL B) SEQ C` evaluates `A SEQ CHRONOLOGICAL B` once for every C, over the items before it and with its
bindings (Eq. 7), where other mappings win than over the whole window. It is done again when an item has come or gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from scepter.algebra.scope import in_scope
from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy, scans
from scepter.kernel.windowed.items import Delta, EventMapping, Values
from scepter.kernel.windowed.joining import earliest, latest
from scepter.kernel.windowed.scan import Scan
from scepter.rdf.terms import Term

Bound: TypeAlias = dict[str, Term]


@dataclass(slots=True)
class _Found:
    """A mapping by its variables' names, and the mapping to show for it."""

    bound: Bound
    mapping: EventMapping


class Defined:
    """An event pattern evaluated afresh after each change of its scans."""

    def __init__(
        self, pattern: EventPattern, scan_of: Callable[[ItemScan, bool], Scan], policy: Policy, consuming: bool
    ) -> None:
        self._policy = policy
        self._scans: list[Scan] = []
        self._root = self._build(pattern, scan_of, consuming)
        labels = {name for scan in self._scans for name in scan.variables}
        self.variables = tuple(sorted(labels))
        self.certain = frozenset(name for scan in self._scans for name in scan.certain)
        self._mappings: dict[tuple[int, int, Values], EventMapping] = {}

    def _build(self, pattern: EventPattern, scan_of: Callable[[ItemScan, bool], Scan], consuming: bool) -> _Node:
        match pattern:
            case ItemScan():
                scan = scan_of(pattern, consuming)
                self._scans.append(scan)
                return scan
            case Earliest(operand):
                return _Extreme(self._build(operand, scan_of, consuming), earliest)
            case Latest(operand):
                return _Extreme(self._build(operand, scan_of, consuming), latest)
            case Followed(left, right, stated):
                policy = stated or self._policy
                under = consuming or policy.consumes
                shared = _names(left) & _names(right)
                return _Seq(self._build(left, scan_of, under), self._build(right, scan_of, under), policy, shared)
            case _:
                assert_never(pattern)

    def update(self) -> Delta:
        """Evaluate again if a scan has changed; mappings that stay are the same objects."""
        changes = [scan.update() for scan in self._scans]
        if not any(changes):
            return Delta()
        old, self._mappings = self._mappings, {}
        delta = Delta()
        for found in _evaluate(self._root, None, {}):
            values = tuple([found.bound.get(name) for name in self.variables])
            identity = (found.mapping.start, found.mapping.end, values)
            known = self._mappings.get(identity)
            if known is not None:
                known.parts += found.mapping.parts
                continue
            known = old.get(identity)
            if known is None:
                known = EventMapping(values, found.mapping.start, found.mapping.end)
                delta.added.append(known)
            known.parts = list(found.mapping.parts)
            self._mappings[identity] = known
        delta.removed += [mapping for identity, mapping in old.items() if identity not in self._mappings]
        return delta

    def mappings(self) -> Iterable[EventMapping]:
        """All there are."""
        return self._mappings.values()

    def state(self) -> int:
        """Those of the scans, and its own."""
        return sum(scan.state() for scan in self._scans) + len(self._mappings)


@dataclass(frozen=True, slots=True)
class _Extreme:
    operand: _Node
    choose: Callable[[Iterable[EventMapping]], list[EventMapping]]


@dataclass(frozen=True, slots=True)
class _Seq:
    left: _Node
    right: _Node
    policy: Policy
    shared: frozenset[str]


_Node: TypeAlias = Scan | _Extreme | _Seq


def _names(pattern: EventPattern) -> frozenset[str]:
    return frozenset(n for scan in scans(pattern) for n in in_scope(scan.pattern) if not n.startswith("_:"))


def _evaluate(node: _Node, before: int | None, given: Bound) -> list[_Found]:
    """The mappings of a pattern over the items that end before a time, with the given bindings substituted."""
    match node:
        case Scan():
            return _scan(node, before, given)
        case _Extreme(operand, choose):
            return _chosen(_evaluate(operand, before, given), choose)
        case _Seq():
            return _sequence(node, before, given)
        case _:
            assert_never(node)


def _scan(scan: Scan, before: int | None, given: Bound) -> list[_Found]:
    found = []
    for mapping in scan.mappings():
        if before is not None and mapping.end >= before:
            continue
        bound = {name: term for name, term in zip(scan.variables, mapping.values, strict=True) if term is not None}
        if all(given.get(name, term) == term for name, term in bound.items()):
            found.append(_Found(bound, mapping))
    return found


def _chosen(found: list[_Found], choose: Callable[[Iterable[EventMapping]], list[EventMapping]]) -> list[_Found]:
    kept = {id(m) for m in choose(f.mapping for f in found)}
    return [f for f in found if id(f.mapping) in kept]


def _sequence(node: _Seq, before: int | None, given: Bound) -> list[_Found]:
    made: dict[tuple[int, int, frozenset[tuple[str, Term]]], _Found] = {}
    for left, right in _pairs(node, before, given):
        bound = {**left.bound, **right.bound}
        start, end = left.mapping.start, right.mapping.end
        found = made.setdefault((start, end, frozenset(bound.items())), _Found(bound, EventMapping((), start, end)))
        found.mapping.parts.append((left.mapping, right.mapping))
    return list(made.values())


def _pairs(node: _Seq, before: int | None, given: Bound) -> list[tuple[_Found, _Found]]:
    rights = _evaluate(node.right, before, given)
    if node.policy is Policy.NAIVE:
        last = _chosen(rights, latest)
        pairs = [(left, r) for r in last for left in _chosen(_evaluate(node.left, before, {**given, **r.bound}), latest)]
        return [(left, right) for left, right in pairs if left.mapping.order < right.mapping.order]
    partners = [(r, _evaluate(node.left, r.mapping.start, {**given, **r.bound})) for r in rights]
    if node.policy is Policy.UNRESTRICTED:
        return [(left, right) for right, lefts in partners for left in lefts]
    best, choose = (min, earliest) if node.policy is Policy.CHRONOLOGICAL else (max, latest)
    groups: dict[tuple[Term | None, ...], list[tuple[_Found, list[_Found]]]] = {}
    for right, lefts in partners:
        if lefts:
            agreement = tuple(right.bound.get(name) for name in sorted(node.shared))
            groups.setdefault(agreement, []).append((right, lefts))
    selected = []
    for group in groups.values():
        order = best(right.mapping.order for right, _ in group)
        for right, lefts in group:
            if right.mapping.order == order:
                selected += [(left, right) for left in _chosen(lefts, choose)]
    return selected
