"""An event pattern as arrays for compiled loops, and what can be said of it before any item comes.

A pattern is *steady* if what a right side finds before it can only become less: nothing that comes later, in time or into a
window, gives it another left side. It is so for sequences of labels, whatever their policies, over windows that move
together: an item that is before another one has then entered when the other enters. NAIVE is not steady, nor is a right side
that selects (`E1 SEQ LAST E2`): who is selected there may have no left side, and stands in the way of those that have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

import numpy as np

from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy
from scepter.inner import inner
from scepter.kernel.rows import Int64
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.words import pointer

SCAN, EXTREME, SEQ = range(3)
ANY, FIRST, LAST = -1, 0, 1
"""Which mappings are asked for: all, or those that none is before, or after, in order of end, then start (rule 6)."""
UNRESTRICTED, CHRONOLOGICAL, RECENT, NAIVE = range(4)
_POLICIES = {
    Policy.UNRESTRICTED: UNRESTRICTED,
    Policy.CHRONOLOGICAL: CHRONOLOGICAL,
    Policy.RECENT: RECENT,
    Policy.NAIVE: NAIVE,
}


class Tree(NamedTuple):
    """Nodes by number, operands before what is made of them; the last of each pattern is its root."""

    kind: Int64
    left: Int64
    """Of an extreme its operand."""
    right: Int64
    choice: Int64
    """Of a sequence its policy, of an extreme FIRST or LAST, of a scan its number."""
    columns_from: Int64
    """[node], and one more: where its columns begin in `columns`."""
    columns: Int64
    """Of a scan, the columns that whoever asks has bound, and every row binds: rows are looked up by them. Of a sequence, the
    columns that both sides may bind: right sides that agree on them compete (rule 8)."""


@inner
def pointed_tree(tree):  # type: ignore[no-untyped-def]
    """A tree, given as a tuple, as compiled functions hand it on: pointers, whose references nobody counts."""
    kind, left, right, choice, columns_from, columns = tree
    return Tree(
        pointer(kind, 0), pointer(left, 0), pointer(right, 0), pointer(choice, 0), pointer(columns_from, 0), pointer(columns, 0)
    )


@dataclass(slots=True)
class Shape:
    """An event pattern over scans with known variables, and the patterns that consume beside it."""

    tree: Tree
    roots: Int64
    """The pattern's root, then those of the patterns beside it."""
    own: int
    """How many of the scans are the pattern's, not of those beside it."""
    scans: tuple[ItemScan, ...]
    """From left to right; a label that stands there twice is scanned once and stands in the tree twice."""
    variables: tuple[str, ...]
    """Those of the pattern, then what the patterns beside it have more."""
    consuming: tuple[bool, ...]
    """Of each scan, whether a policy consumes the items it selects (rule 9)."""
    selects: bool
    """Whether it is more than all pairs in order."""
    steady: bool
    """As above, provided that its windows move together. None is that has others beside it."""


@dataclass(slots=True)
class _Flattening:
    schemas: Sequence[Schema]
    variables: tuple[str, ...]
    policy: Policy
    nodes: list[tuple[int, int, int, int]] = field(default_factory=list)
    columns: list[tuple[int, ...]] = field(default_factory=list)
    scans: list[ItemScan] = field(default_factory=list)
    consuming: list[bool] = field(default_factory=list)

    def add(self, pattern: EventPattern, given: frozenset[str], consuming: bool) -> tuple[int, frozenset[str], frozenset[str]]:
        """The node of a pattern whose asker binds some variables, those it may bind, and those it always binds."""
        match pattern:
            case ItemScan():
                schema, number = self.schemas[len(self.scans)], len(self.scans)
                self.scans.append(pattern)
                self.consuming.append(consuming)
                node = self._node(SCAN, -1, -1, number, given & schema.certain)
                return node, frozenset(schema.variables), schema.certain
            case Earliest(operand) | Latest(operand):
                inner, names, certain = self.add(operand, given, consuming)
                last = LAST if isinstance(pattern, Latest) else FIRST
                return self._node(EXTREME, inner, -1, last, frozenset()), names, certain
            case Followed(left, right, stated):
                return self._followed(left, right, stated or self.policy, given, consuming)
            case _:
                assert_never(pattern)

    def _followed(
        self, left: EventPattern, right: EventPattern, policy: Policy, given: frozenset[str], consuming: bool
    ) -> tuple[int, frozenset[str], frozenset[str]]:  # fmt: skip
        under = consuming or policy.consumes
        # scans are numbered from left to right, but the left side is asked with what the right one binds
        always = self._certain(right, len(self.scans) + _labels(left))
        first, names, certain = self.add(left, given | always, under)
        then, others, always = self.add(right, given, under)
        node = self._node(SEQ, first, then, _POLICIES[policy], names & others)
        return node, names | others, certain | always

    def _certain(self, pattern: EventPattern, scan: int) -> frozenset[str]:
        return frozenset().union(*(schema.certain for schema in self.schemas[scan : scan + _labels(pattern)]))

    def _node(self, kind: int, left: int, right: int, choice: int, names: frozenset[str]) -> int:
        self.nodes.append((kind, left, right, choice))
        self.columns.append(tuple(i for i, name in enumerate(self.variables) if name in names))
        return len(self.nodes) - 1


def _labels(pattern: EventPattern) -> int:
    match pattern:
        case ItemScan():
            return 1
        case Earliest(operand) | Latest(operand):
            return _labels(operand)
        case Followed(left, right):
            return _labels(left) + _labels(right)
        case _:
            assert_never(pattern)


def shape_of(patterns: Sequence[EventPattern], policy: Policy, schemas: Sequence[Schema]) -> Shape:
    """The shape of a pattern, and of those that consume beside it, whose scans, from left to right, have some schemas; `policy`
    is that of SEQ without its own.

    >>> from scepter.rdf.terms import IRI
    >>> from scepter.algebra.patterns import BGP
    >>> a, b = (ItemScan(label, IRI("http://e/w"), BGP(())) for label in "ab")
    >>> two = [Schema(("x", "y"), frozenset("xy")), Schema(("y", "z"), frozenset("yz"))]
    >>> made = shape_of([Followed(a, b)], Policy.RECENT, two)
    >>> made.variables, made.tree.columns.tolist(), made.steady, made.consuming
    (('x', 'y', 'z'), [1, 1], True, (True, True))
    """
    variables = tuple(dict.fromkeys(name for schema in schemas for name in schema.variables))
    made = _Flattening(schemas, variables, policy)
    roots = np.array([made.add(pattern, frozenset(), False)[0] for pattern in patterns], np.int64)
    kind, left, right, choice = (np.array(column, np.int64) for column in zip(*made.nodes, strict=True))
    starts = np.cumsum([0, *map(len, made.columns)]).astype(np.int64)
    columns = np.array([column for some in made.columns for column in some], np.int64)
    tree = Tree(kind, left, right, choice, starts, columns)
    selects = bool(np.any((kind == EXTREME) | ((kind == SEQ) & (choice != UNRESTRICTED))))
    steady, own = len(patterns) == 1 and _is_steady(patterns[0], policy), _labels(patterns[0])
    return Shape(tree, roots, own, tuple(made.scans), variables, tuple(made.consuming), selects, steady)


def _is_steady(pattern: EventPattern, policy: Policy) -> bool:
    """Whether a root: its right side is one label, and its left side can only lose mappings."""
    match pattern:
        case ItemScan():
            return True
        case Followed(left, ItemScan(), stated):
            return (stated or policy) is not Policy.NAIVE and _only_loses(left, policy)
        case _:
            return False


def _only_loses(pattern: EventPattern, policy: Policy) -> bool:
    match pattern:
        case ItemScan():
            return True
        case Earliest(operand) | Latest(operand):
            return _only_loses(operand, policy)
        case Followed(left, right, stated):
            own = stated or policy
            return own is not Policy.NAIVE and _only_loses(left, policy) and _is_every(right, policy)
        case _:
            assert_never(pattern)


def _is_every(pattern: EventPattern, policy: Policy) -> bool:
    """Whether it is all pairs of its labels in order."""
    if isinstance(pattern, Followed):
        every = (pattern.policy or policy) is Policy.UNRESTRICTED
        return every and _is_every(pattern.left, policy) and _is_every(pattern.right, policy)
    return isinstance(pattern, ItemScan)
