"""The node of MATCH: an event pattern over the items of windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from scepter.algebra.windows import Earliest, EventPattern, Followed, ItemScan, Latest, Policy
from scepter.physical.nodes import window_nodes
from scepter.physical.nodes.keys import KeyAnalysis, Keys, Origin, Ways
from scepter.physical.nodes.nodes import Node, Schema
from scepter.physical.nodes.window_nodes import When
from scepter.rdf.terms import IRI


@dataclass(frozen=True)
class EventMatch(Node):
    """The mappings of an event pattern, and when they are there (spec/30-rsep-ql rules 4 to 9). A policy that consumes looks at
    each evaluation; the others need not know when somebody looks."""

    says = "EventMatch {written}"

    pattern: EventPattern
    policy: Policy
    """Of each SEQ without its own."""
    scans: tuple[Node, ...]
    """Its labels in their windows, from left to right; then those of the patterns beside it."""
    windows: tuple[IRI, ...]
    """Which window each scan reads: an item is consumed for all that read the same."""
    items: Node
    when: When
    step: window_nodes.Step
    instants: tuple[int, ...]
    grid: window_nodes.Step | None
    together: bool
    """Whether the windows move at the same instants: then what is before an item has entered when the item enters."""
    beside: tuple[EventPattern, ...] = ()
    """The patterns of other MATCH that consume what this one would see. They are evaluated here too, in step with it: what any
    of them selects at an evaluation, none sees at a later one (rule 9)."""

    def _schema(self) -> Schema:
        return reduce(Schema.joined, (scan.schema for scan in self.scans[: _count(self.pattern)]))

    @property
    def written(self) -> str:
        """The pattern, with its policies; and who consumes what it would see."""
        others = " and ".join(_text(each, self.policy) for each in self.beside)
        return _text(self.pattern, self.policy) + (f", without what {others} consumed before" if others else "")

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """A variable that all labels bind. Where a pattern takes the last (or first) of all items, whatever their key, those of
        the labels it chooses from go to every bucket: there they are chosen as in one process, and have partners in the bucket
        of their key alone (rules 5 to 9). A policy that consumes has no key: an item is consumed as a whole, for every key that
        it holds."""
        consuming = next((own for each in (self.pattern, *self.beside) if (own := _consuming(each, self.policy))), None)
        if consuming is not None:
            return found.none(f"SEQ {consuming.value.upper()} consumes whole items, whatever key they are of")
        every = [found.keys(scan) or {} for scan in self.scans]
        names = dict.fromkeys(name for keys in every for name in keys)
        keys = found.combined((name, self._sides([of.get(name, ()) for of in every])) for name in names)
        whole = {name: at for name, at in keys.items() if found.is_whole(at, *self.scans)}
        if not whole:
            found.none("the labels of MATCH share no variable that all of them bind")
        chosen = _chosen(self.pattern, self.policy)
        if not chosen:
            return keys if _pairs(self.pattern) else whole
        found.none(_takes(self.pattern, self.policy))
        divided = found.combined(
            (name, self._sides([() if place in chosen else of[name] for place, of in enumerate(every)])) for name in whole
        )
        return {name: at for name, at in divided.items() if at}

    def _sides(self, origins: Iterable[Origin]) -> Ways:
        return [(self.items, ()), *zip(self.scans, origins, strict=True)]


def _text(pattern: EventPattern, policy: Policy, *, inside: bool = False) -> str:
    match pattern:
        case ItemScan(label):
            return label
        case Earliest(operand) | Latest(operand):
            word = "LAST" if isinstance(pattern, Latest) else "FIRST"
            return f"{word} {_text(operand, policy, inside=True)}"
        case Followed(left, right, stated):
            own = stated or policy
            word = "SEQ" if own is Policy.UNRESTRICTED else f"SEQ {own.value.upper()}"
            text = f"{_text(left, policy)} {word} {_text(right, policy, inside=True)}"
            return f"({text})" if inside else text


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
