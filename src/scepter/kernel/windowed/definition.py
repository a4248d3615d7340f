"""Event patterns evaluated as they are defined: over the items before a time, with bindings given (Eq. 7).

Each value comes with the mappings it rests on: as long as those are there, and nothing earlier comes, it stays what it is.
For a policy these are the mappings it selected, since what loses makes no difference by going; for NAIVE, which asks for
the last ones whether they fit or not, also those that stood in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from scepter.algebra.scope import in_scope
from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy, scans
from scepter.kernel.windowed.items import EventMapping
from scepter.kernel.windowed.joining import earliest, latest
from scepter.kernel.windowed.lookup import Bound, Lookup
from scepter.kernel.windowed.scan import Scan
from scepter.rdf.terms import Term

Rests: TypeAlias = list[EventMapping]
"""The mappings of scans that a value rests on."""


@dataclass(slots=True)
class Found:
    """A mapping by its variables' names, and the mapping to show for it."""

    bound: Bound
    mapping: EventMapping


@dataclass(frozen=True, slots=True)
class _Extreme:
    operand: Node
    last: bool


@dataclass(frozen=True, slots=True)
class _Seq:
    left: Node
    right: Node
    policy: Policy
    shared: tuple[str, ...]


Node: TypeAlias = Lookup | _Extreme | _Seq
"""An event pattern with its scans at work."""


def build_node(pattern: EventPattern, policy: Policy, scan_of: Callable[[ItemScan, bool], Scan], consuming: bool) -> Node:
    """A pattern ready to be evaluated; `policy` is that of each SEQ without its own."""
    match pattern:
        case ItemScan():
            return Lookup(scan_of(pattern, consuming))
        case Earliest(operand) | Latest(operand):
            return _Extreme(build_node(operand, policy, scan_of, consuming), isinstance(pattern, Latest))
        case Followed(left, right, stated):
            own = stated or policy
            under = consuming or own.consumes
            first, then = build_node(left, policy, scan_of, under), build_node(right, policy, scan_of, under)
            return _Seq(first, then, own, tuple(sorted(_names(left) & _names(right))))
        case _:
            assert_never(pattern)


def lookups(node: Node) -> list[Lookup]:
    """The scans of a pattern, from left to right."""
    match node:
        case Lookup():
            return [node]
        case _Extreme(operand):
            return lookups(operand)
        case _Seq(left, right):
            return lookups(left) + lookups(right)
        case _:
            assert_never(node)


def _names(pattern: EventPattern) -> frozenset[str]:
    return frozenset(n for scan in scans(pattern) for n in in_scope(scan.pattern) if not n.startswith("_:"))


def evaluate(node: Node, before: int | None, given: Bound, last: bool | None, rests: Rests) -> list[Found]:
    """The mappings of a pattern over the items that end before a time, with the given bindings substituted; of them only the
    first or the last, if `last` says so. What the value rests on is added to `rests`."""
    match node:
        case Lookup():
            found = node.find(before, given, last)
            rests += found
            return [Found(node.bound[mapping], mapping) for mapping in found]
        case _Extreme(operand, own):
            return extreme(evaluate(operand, before, given, own, rests), own)
        case _Seq(policy=Policy.NAIVE):
            return extreme(_joined(_naive(node, before, given, rests)), last)
        case _Seq():
            return extreme(_joined(_sequence(node, before, given, rests)), last)
        case _:
            assert_never(node)


def extreme(found: list[Found], last: bool | None) -> list[Found]:
    """FIRST or LAST of some mappings; all of them if it is neither."""
    if last is None or len(found) < 2:
        return found
    chosen = (latest if last else earliest)(each.mapping for each in found)
    kept = {id(mapping) for mapping in chosen}
    return [each for each in found if id(each.mapping) in kept]


def _joined(pairs: Iterable[tuple[Found, Found]]) -> list[Found]:
    made: dict[tuple[int, int, frozenset[tuple[str, Term]]], Found] = {}
    for left, right in pairs:
        bound = {**left.bound, **right.bound}
        start, end = left.mapping.start, right.mapping.end
        found = made.setdefault((start, end, frozenset(bound.items())), Found(bound, EventMapping((), start, end)))
        found.mapping.parts.append((left.mapping, right.mapping))
    return list(made.values())


def _naive(node: _Seq, before: int | None, given: Bound, rests: Rests) -> list[tuple[Found, Found]]:
    pairs = []
    for right in evaluate(node.right, before, given, True, rests):
        for left in evaluate(node.left, before, {**given, **right.bound}, True, rests):
            if left.mapping.order < right.mapping.order:
                pairs.append((left, right))
    return pairs


def _sequence(node: _Seq, before: int | None, given: Bound, rests: Rests) -> list[tuple[Found, Found]]:
    if isinstance(node.right, Lookup):
        right_side = node.right
        rights = [Found(right_side.bound[m], m) for m in right_side.find(before, given, None)]
        own = rests  # of these the value rests only on those that have a part in it
    else:
        rights, own = evaluate(node.right, before, given, None, rests), []
    last = left_extreme(node.policy)

    def lefts(right: Found) -> list[Found]:
        return evaluate(node.left, right.mapping.start, {**given, **right.bound}, last, rests)

    pairs = select(rights, lefts, node.policy, lambda right: tuple([right.bound.get(name) for name in node.shared]))
    own += {id(right.mapping): right.mapping for _, right in pairs}.values()
    return pairs


def left_extreme(policy: Policy) -> bool | None:
    """Which left sides a right side takes (rules 5 and 8): the last, the first, or all."""
    return {Policy.RECENT: True, Policy.CHRONOLOGICAL: False}.get(policy)


def select(
    rights: Sequence[Found], lefts: Callable[[Found], list[Found]], policy: Policy, agreement: Callable[[Found], object]
) -> list[tuple[Found, Found]]:
    """The pairs that a policy selects. Left sides are asked for only where a right side may win."""
    if policy is Policy.UNRESTRICTED:
        return [(left, right) for right in rights for left in lefts(right)]
    won: dict[object, tuple[int, int]] = {}
    pairs = []
    for right in sorted(rights, key=lambda each: each.mapping.order, reverse=policy is Policy.RECENT):
        order = won.get(agreed := agreement(right))
        if order is not None and order != right.mapping.order:
            continue
        partners = lefts(right)
        if partners:
            won[agreed] = right.mapping.order
        pairs += [(left, right) for left in partners]
    return pairs
