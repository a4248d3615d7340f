"""What the items of MATCH may be divided by (`keys`): a variable that all labels bind.

Where a pattern takes the last (or first) of all items, whatever their key, those of the labels it chooses from go to every
bucket: there they are chosen as in one process, and have partners in the bucket of their key alone (spec/30-rsep-ql rules 5 to
9). A policy that consumes has no key: an item is consumed as a whole, for every key that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy
from scepter.physical.event_match import EventMatch
from scepter.physical.nodes import Node

if TYPE_CHECKING:
    from scepter.physical.keys import Found, Keys, Origin


def match_keys(node: EventMatch, found: Found) -> Keys:
    """By what the input of an event pattern may be divided."""
    if (consuming := _consuming(node.pattern, node.policy)) is not None:
        return found.none(f"SEQ {consuming.value.upper()} consumes whole items, whatever key they are of")
    every = [found.keys(scan) or {} for scan in node.scans]
    names = dict.fromkeys(name for keys in every for name in keys)
    keys = found.combined((name, _sides(node, [of.get(name, ()) for of in every])) for name in names)
    whole = {name: at for name, at in keys.items() if found.is_whole(at, *node.scans)}
    if not whole:
        found.none("the labels of MATCH share no variable that all of them bind")
    chosen = _chosen(node.pattern, node.policy)
    if not chosen:
        return keys if _pairs(node.pattern) else whole
    found.none(_takes(node.pattern, node.policy))
    divided = found.combined(
        (name, _sides(node, [() if place in chosen else of[name] for place, of in enumerate(every)])) for name in whole
    )
    return {name: at for name, at in divided.items() if at}


def _sides(node: EventMatch, origins: Sequence[Origin]) -> list[tuple[Node, Origin]]:
    return [(node.items, ()), *zip(node.scans, origins, strict=True)]


def _consuming(pattern: EventPattern, policy: Policy) -> Policy | None:
    """The first policy that consumes items."""
    match pattern:
        case Followed(left, right, stated):
            own = stated or policy
            return own if own.consumes else _consuming(left, policy) or _consuming(right, policy)
        case Earliest(operand) | Latest(operand):
            return _consuming(operand, policy)
        case ItemScan():
            return None


def _chosen(pattern: EventPattern, policy: Policy, first: int = 0, *, alone: bool = True) -> frozenset[int]:
    """The labels among whose items the pattern chooses whatever their key, by their places from left to right. FIRST and LAST
    on the left of SEQ choose among partners of one mapping, which have its key."""
    match pattern:
        case Earliest(operand) | Latest(operand):
            return _places(operand, first) if alone else _chosen(operand, policy, first)
        case Followed(left, right, stated):
            behind = first + _count(left)
            if (stated or policy) is Policy.NAIVE:
                return _chosen(left, policy, first) | _places(right, behind)
            return _chosen(left, policy, first, alone=False) | _chosen(right, policy, behind)
        case ItemScan():
            return frozenset()


def _takes(pattern: EventPattern, policy: Policy, *, alone: bool = True) -> str:
    """What chooses whatever the key, in words; empty if nothing does."""
    match pattern:
        case Earliest(operand) | Latest(operand):
            word = "LAST" if isinstance(pattern, Latest) else "FIRST"
            return f"{word} looks at all items of its window" if alone else _takes(operand, policy)
        case Followed(left, right, stated):
            if (stated or policy) is Policy.NAIVE:
                return "SEQ NAIVE takes the last of all items"
            return _takes(left, policy, alone=False) or _takes(right, policy)
        case ItemScan():
            return ""


def _count(pattern: EventPattern) -> int:
    match pattern:
        case Followed(left, right):
            return _count(left) + _count(right)
        case Earliest(operand) | Latest(operand):
            return _count(operand)
        case ItemScan():
            return 1


def _places(pattern: EventPattern, first: int) -> frozenset[int]:
    return frozenset(range(first, first + _count(pattern)))


def _pairs(pattern: EventPattern) -> bool:
    """Whether every combination of items that follow each other is an answer."""
    match pattern:
        case Followed(left, right):
            return _pairs(left) and _pairs(right)
        case _:
            return not isinstance(pattern, Earliest | Latest)
