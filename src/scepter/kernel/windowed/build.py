"""From an event pattern to the operator that follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy
from scepter.kernel.windowed.definition import build_node
from scepter.kernel.windowed.dependent import Dependent
from scepter.kernel.windowed.operators import AllPairs, Extreme, Naive, Operator, Selective
from scepter.kernel.windowed.scan import Scan

ScanOf: TypeAlias = Callable[[ItemScan, bool], Scan]
"""(the scan, whether its items are consumed) -> the scan at work."""


def build_operator(pattern: EventPattern, policy: Policy, scan_of: ScanOf, consuming: bool = False) -> Operator:
    """The operator of an event pattern evaluated over whole windows; `policy` is that of each SEQ without its own."""
    match pattern:
        case ItemScan():
            return scan_of(pattern, consuming)
        case Earliest(operand) | Latest(operand):
            return Extreme(build_operator(operand, policy, scan_of, consuming), isinstance(pattern, Latest))
        case Followed(left, right, stated):
            own = stated or policy
            under = consuming or own.consumes
            reduced, last = _reduction(left)
            if not _is_part_of_whole(reduced, policy):
                node = build_node(left, policy, scan_of, under)
                return Dependent(node, build_operator(right, policy, scan_of, under), own)
            first_side = build_operator(reduced, policy, scan_of, under)
            return _sequence(first_side, build_operator(right, policy, scan_of, under), own, last)
        case _:
            assert_never(pattern)


def _sequence(left: Operator, right: Operator, policy: Policy, last: bool | None) -> Operator:
    match policy:
        case Policy.NAIVE:
            return Naive(left, right, last is not False)
        case Policy.UNRESTRICTED if last is None:
            return AllPairs(left, right)
        case _:
            return Selective(left, right, policy is Policy.RECENT if last is None else last, policy)


def _reduction(pattern: EventPattern) -> tuple[EventPattern, bool | None]:
    """A left side without FIRST and LAST, and whether the last is meant. Of `FIRST LAST E` the inner one decides: all that
    LAST leaves is equally early."""
    last: bool | None = None
    while isinstance(pattern, Earliest | Latest):
        last = isinstance(pattern, Latest)
        pattern = pattern.operand
    return pattern, last


def _is_part_of_whole(pattern: EventPattern, policy: Policy) -> bool:
    """Whether the pattern's mappings over fewer items, and with bindings given, are some of its mappings over all."""
    match pattern:
        case ItemScan():
            return True
        case Earliest() | Latest():
            return False
        case Followed(left, right, stated):
            unrestricted = (stated or policy) is Policy.UNRESTRICTED
            return unrestricted and _is_part_of_whole(left, policy) and _is_part_of_whole(right, policy)
        case _:
            assert_never(pattern)
