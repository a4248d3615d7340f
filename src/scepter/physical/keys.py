"""By which variables the input of a plan's operators may be divided, so that no answer crosses two buckets.

A scan offers the variables it binds, a join keeps those that both sides bind and share, a group those it groups by, a
projection hides some. What is left at the root is the key; where nothing is left, the first operator that lost it gives the
reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TypeAlias

from scepter.algebra.windows import Earliest, EventPattern, Followed, Latest, Policy
from scepter.physical import nodes
from scepter.physical.cutting import Received
from scepter.physical.event_match import EventMatch
from scepter.physical.nodes import Node
from scepter.physical.star_nodes import AskedNow, MatchedOnce, Occurrences, OccurrenceScan, TripleStar
from scepter.physical.time_nodes import (
    Answers,
    GapJoin,
    Inline,
    Kind,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
)
from scepter.physical.window_nodes import (
    Coalesce,
    CountedWindow,
    Fixed,
    Group,
    LatestOccurrence,
    NotStatic,
    Partners,
    Report,
    ValidityJoin,
    ValidityOuterJoin,
    Window,
)

Origin: TypeAlias = tuple[tuple[int, str], ...]
"""Where a key's values come from: of each exchange that has it, its place and the variable there."""
Keys: TypeAlias = Mapping[str, Origin]
"""The variables of a node by which its input can be divided. One that a projection has hidden keeps its place under a name that
no query has."""


class Found:
    """The keys of a plan's nodes, and the first reason for which there is none."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.merges = False
        self._known: dict[int, Keys | None] = {}

    def keys(self, node: Node) -> Keys | None:
        """By which variables a node's input may be divided; None: any, since it reads nothing but static data."""
        if id(node) not in self._known:
            self._known[id(node)] = self._keys(node)
        return self._known[id(node)]

    def _keys(self, node: Node) -> Keys | None:
        if isinstance(node, (nodes.Filter, nodes.Extend, TimeFilter)) and len(node.inputs) > 1:
            return self._none("EXISTS may look at rows from anywhere")
        match node:
            case Received():
                return _offered(node)
            case nodes.Filter() | nodes.Static() | nodes.Extend() | TimeFilter() | TimeValues() | NotStatic() | Window():
                return self.keys(node.inputs[0])
            case Occurrences(input):
                return self._none("a window of the last n counts every triple") if node.counted else self.keys(input)
            case TripleStar(input):
                return self.keys(input) or self._none("no variable stands at the same place in every triple pattern")
            case AskedNow():
                return self._none("EXISTS may look at rows from anywhere")
            case MatchedOnce(input, occurrences=True):  # matches of the same occurrences are in the same bucket
                return self.keys(input)
            case Once(input) | MatchedOnce(input):
                keys = self.keys(input)
                self.merges = self.merges or any(map(is_hidden, keys or ()))
                return keys
            case Coalesce(input):
                return self._shown(self.keys(input), "DISTINCT compares all rows")
            case LatestOccurrence(input):
                return self._shown(self.keys(input), "timestamp() of one constant triple looks at the whole stream")
            case nodes.Project(input, variables) | Answers(input, variables):
                shown = _projected(self.keys(input), variables)
                if isinstance(node, Answers) and node.once:
                    self.merges = self.merges or any(map(is_hidden, shown or ()))
                return shown
            case Rename(input, names):
                return _renamed(self.keys(input), dict(zip(input.schema.variables, names, strict=True)))
            case nodes.Union(left, right):
                return self._union(left, right)
            case TimeJoin():
                return self._time_join(node)
            case GapJoin():
                of_ends = self._joined(node.left, node.right, frozenset(node.gap_keys), outer=False)
                of_between = self.keys(node.between)
                if not of_ends or not of_between:
                    return of_ends
                return _both(of_ends, of_between) or self._none("what stands between may come from anywhere")
            case ValidityJoin(left, right):
                shared = left.schema.certain & right.schema.certain
                return self._joined(left, right, shared, outer=False)
            case ValidityOuterJoin(left, right, partners):
                shared = left.schema.certain & right.schema.certain
                keys = self._joined(left, right, shared, outer=partners is not Partners.EXISTS)
                # a static row has partners of several values of what only the right binds
                return keys if self.keys(left) is not None else self._shown(keys, _apart(left, right, shared), shared)
            case Group(input, keys):
                why = (
                    "an aggregate without GROUP BY looks at all rows"
                    if not keys
                    else "no variable of GROUP BY is a key below it"
                )
                return self._shown(self.keys(input), why, frozenset(keys))
            case EventMatch():
                return self._event_match(node)
            case Report():
                return self._report(node)
            case CountedWindow():
                return self._none("a window of the last n counts everything in its stream")
            case Inline() | StaticScan() | Fixed():
                return None
            case _:
                return self._none(f"{type(node).__name__} may combine rows from anywhere")

    def _none(self, why: str) -> Keys:
        self.reason = self.reason or why
        return {}

    def _shown(self, keys: Keys | None, why: str, among: frozenset[str] | None = None) -> Keys | None:
        """The keys that are still to be seen: by hidden ones, equal rows would be taken for different ones."""
        if keys is None:
            return None
        kept = {n: origin for n, origin in keys.items() if not is_hidden(n) and (among is None or n in among)}
        return kept or self._none(why)

    def _union(self, left: Node, right: Node) -> Keys | None:
        of_left, of_right = self.keys(left), self.keys(right)
        if of_left is None and of_right is None:
            return None
        if of_left is None or of_right is None:
            return self._none("a static side of UNION would be answered in every bucket")
        return _both(of_left, of_right) or self._none("the sides of UNION share no variable that both bind")

    def _time_join(self, node: TimeJoin) -> Keys | None:
        if node.remembered is not None:
            return self._none("EXISTS may look at rows from anywhere")
        return self._joined(node.left, node.right, frozenset(node.keys), outer=node.kind is not Kind.INNER)

    def _joined(self, left: Node, right: Node, shared: frozenset[str], *, outer: bool) -> Keys | None:
        """Partners agree in the shared variables; static rows are partners in every bucket."""
        of_left, of_right = self.keys(left), self.keys(right)
        if of_left is None and of_right is None:
            return None
        if of_right is None:
            return of_left
        if of_left is None:
            return self._none("a static side would be answered in every bucket") if outer else of_right
        return _both(of_left, of_right, shared) or self._none(_apart(left, right, shared))

    def _event_match(self, node: EventMatch) -> Keys | None:
        if (why := _crosses(node.pattern, node.policy)) is not None:
            return self._none(why)
        shared = frozenset.intersection(*(scan.schema.certain for scan in node.scans))
        every = [self.keys(scan) or {} for scan in node.scans]
        found = reduce(lambda left, right: _both(left, right, shared), every)
        return found or self._none("the labels of MATCH share no variable that all of them bind")

    def _report(self, node: Report) -> Keys | None:
        if node.order or node.offset or node.limit is not None:
            return self._none("ORDER BY and LIMIT look at all rows of an evaluation")
        if any(received.schema.variables for received in _received(node.items)):
            return self._none("its evaluations depend on what the events say")
        return self._shown(self.keys(node.input), "equal rows of different buckets are one row of the answer")


def _offered(node: Received) -> Keys:
    """What rows can be divided by: any variable that all of them bind; of occurrences, which match several patterns, the
    one that stands at the same place in all."""
    scan, schema = node.below, node.schema
    if isinstance(scan, OccurrenceScan):
        hub = scan.hub if not scan.counted else None
        return {} if hub is None else {hub: ((node.place, hub),)}
    return {name: ((node.place, name),) for name in schema.variables if name in schema.certain}


def _crosses(pattern: EventPattern, policy: Policy, *, alone: bool = True) -> str | None:
    """Why what an event pattern selects for one key depends on items of others (spec/30-rsep-ql rules 5 to 9). FIRST and LAST
    on the left of SEQ look for partners of one mapping, which have its key."""
    match pattern:
        case Earliest(operand) | Latest(operand):
            word = "LAST" if isinstance(pattern, Latest) else "FIRST"
            return f"{word} looks at all items of its window" if alone else _crosses(operand, policy)
        case Followed(left, right, stated):
            own = stated or policy
            if own is Policy.NAIVE:
                return "SEQ NAIVE takes the last of all items"
            if own is not Policy.UNRESTRICTED:
                return f"SEQ {own.value.upper()} consumes whole items, whatever key they are of"
            return _crosses(left, policy, alone=False) or _crosses(right, policy)
        case _:
            return None


def _received(node: Node) -> Iterator[Received]:
    return (each for each in nodes.nodes(node) if isinstance(each, Received))


def _projected(keys: Keys | None, variables: tuple[str, ...]) -> Keys | None:
    if keys is None:
        return None
    return {name if name in variables or is_hidden(name) else f"{_HIDDEN}{name}": origin for name, origin in keys.items()}


def _renamed(keys: Keys | None, names: Mapping[str, str]) -> Keys | None:
    return None if keys is None else {names.get(name, name): origin for name, origin in keys.items()}


def _both(left: Keys, right: Keys, shared: frozenset[str] | None = None) -> Keys:
    """The keys of two sides, which agree in them. A scan that both sides read under different names is none: one row of it
    would belong to two buckets."""
    found = {}
    for name in left:
        if name in right and (shared is None or name in shared):
            origin = tuple(dict.fromkeys((*left[name], *right[name])))
            if len(dict(origin)) == len(origin):
                found[name] = origin
    return found


_HIDDEN = "\0"


def is_hidden(name: str) -> bool:
    """Whether a projection has hidden a key."""
    return name.startswith(_HIDDEN)


def spelt(name: str) -> str:
    """A variable as the query calls it."""
    return name.removeprefix(_HIDDEN).removeprefix("_:")


def _apart(left: Node, right: Node, shared: frozenset[str]) -> str:
    if shared:
        return f"{_listed(shared)} comes from different scans on the two sides of a join"
    return "two sides of a join share no variable that both bind"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"?{spelt(name)}" for name in sorted(names))
