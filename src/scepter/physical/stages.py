"""Where the plan of a unit is cut for many workers, and by which key: stages.

Below the cut is what looks at one event at a time: scans, what the schema entails, filters, static look-ups, windows. It runs
where events are read. Above it is what compares rows: joins, groups, reports. It runs in buckets of a key, variables in which
all rows of an answer agree, so that no answer crosses two buckets. What has no such key has a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from scepter.algebra.notation import Notation
from scepter.physical import nodes
from scepter.physical.nodes import Leaf, Node, Schema
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
    ItemScan,
    NotStatic,
    Partners,
    Report,
    ValidityJoin,
    ValidityOuterJoin,
    Window,
)

_ONE_BY_ONE = (nodes.Filter, nodes.Static, nodes.Project, TimeFilter, Rename, NotStatic, Window)
"""Operators that look at each row by itself."""
_EVENT_LEAVES = (nodes.TripleScan, ItemScan)

Origin: TypeAlias = tuple[tuple[int, str], ...]
"""Where a key's values come from: of each exchange that has it, its place and the variable there."""
Keys: TypeAlias = Mapping[str, Origin]
"""The variables of a node by which its input can be divided. One that a projection has hidden keeps its place under a name that
no query has."""


@dataclass(frozen=True)
class Received(Leaf):
    """Leaf: rows that other workers have made of events, in buckets of a key."""

    schema: Schema
    place: int
    below: Node
    """What makes them."""

    def line(self, notation: Notation) -> str:
        """Where its rows come from."""
        return f"Received from {self.below.line(notation)}"


@dataclass(frozen=True, slots=True)
class Stages:
    """A plan cut in two, with the key between."""

    below: tuple[Node, ...]
    """What runs where events are read, by exchange."""
    above: Node
    keys: tuple[tuple[str, ...] | None, ...]
    """Per exchange the variables that make the key; None: its rows go to every bucket."""
    variables: tuple[str, ...]
    """The key, as the query calls it."""
    merges: bool = False
    """Whether rows of different buckets may be one row of the answer."""

    @property
    def everywhere(self) -> bool:
        """Whether every bucket hears of every instant."""
        return None in self.keys


@dataclass(frozen=True, slots=True)
class Undivided:
    """Why a plan has no key, as the beginning of a sentence."""

    why: str


def stages(root: Node) -> Stages | Undivided:
    """The plan of a unit in stages, or why it cannot be divided by a key."""
    below, above = _cut(root)
    if not below:
        return Undivided("its operators compare events from anywhere")
    found = _Found()
    keys = found.keys(above)
    if keys is None or not keys:
        return Undivided(found.reason or "no variable is in every row that it compares")
    shown_keys = [name for name in keys if not _is_hidden(name)]
    names = sorted(shown_keys or keys)  # by hidden ones too, equal rows of the answer would have to meet once more
    origins = [dict(keys[name]) for name in names]
    per_exchange: list[tuple[str, ...] | None] = []
    for place, node in enumerate(below):
        if not node.schema.variables:
            per_exchange.append(None)
        elif all(place in origin for origin in origins):
            per_exchange.append(tuple(origin[place] for origin in origins))
        else:
            return Undivided("not all of its scans bind the key")
    shown = tuple(dict.fromkeys(_spelt(keys[name][0][1]) for name in names))
    return Stages(below, above, tuple(per_exchange), shown, found.merges and not shown_keys)


def _cut(root: Node) -> tuple[tuple[Node, ...], Node]:
    """The greatest subtrees that look at one event at a time, and the plan with leaves in their place."""
    below: list[Node] = []
    made: dict[int, Node] = {}

    def cut(node: Node) -> Node:
        if id(node) not in made:
            if _is_one_by_one(node):
                made[id(node)] = Received(node.schema, len(below), node)
                below.append(node)
            elif not node.inputs:
                made[id(node)] = node
            else:
                made[id(node)] = _rebuilt(node, cut)
        return made[id(node)]

    above = cut(root)
    return tuple(below), above


def _is_one_by_one(node: Node) -> bool:
    while isinstance(node, _ONE_BY_ONE) and len(node.inputs) == 1:
        if isinstance(node, Window) and node.timeless:  # its rows could not wait for their time
            return False
        (node,) = node.inputs
    return isinstance(node, _EVENT_LEAVES)


def _rebuilt(node: Any, cut: Callable[[Node], Node]) -> Node:
    inputs = {id(each) for each in node.inputs}
    changed = {f.name: cut(value) for f in fields(node) if id(value := getattr(node, f.name)) in inputs}
    found: Node = replace(node, **changed)
    return found


class _Found:
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
            case Received(schema=schema, place=place):
                return {name: ((place, name),) for name in schema.variables if name in schema.certain}
            case nodes.Filter() | nodes.Static() | nodes.Extend() | TimeFilter() | TimeValues() | NotStatic() | Window():
                return self.keys(node.inputs[0])
            case Once(input):
                keys = self.keys(input)
                self.merges = self.merges or any(map(_is_hidden, keys or ()))
                return keys
            case Coalesce(input):
                return self._shown(self.keys(input), "DISTINCT compares all rows")
            case nodes.Project(input, variables) | Answers(input, variables):
                shown = _projected(self.keys(input), variables)
                if isinstance(node, Answers) and node.once:
                    self.merges = self.merges or any(map(_is_hidden, shown or ()))
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
                return self._joined(left, right, shared, outer=partners is not Partners.EXISTS)
            case Group(input, keys):
                why = (
                    "an aggregate without GROUP BY looks at all rows"
                    if not keys
                    else "no variable of GROUP BY is a key below it"
                )
                return self._shown(self.keys(input), why, frozenset(keys))
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
        kept = {n: origin for n, origin in keys.items() if not _is_hidden(n) and (among is None or n in among)}
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

    def _report(self, node: Report) -> Keys | None:
        if node.order or node.offset or node.limit is not None:
            return self._none("ORDER BY and LIMIT look at all rows of an evaluation")
        if any(received.schema.variables for received in _received(node.items)):
            return self._none("its evaluations depend on what the events say")
        return self._shown(self.keys(node.input), "equal rows of different buckets are one row of the answer")


def _received(node: Node) -> Iterator[Received]:
    return (each for each in nodes.nodes(node) if isinstance(each, Received))


def _projected(keys: Keys | None, variables: tuple[str, ...]) -> Keys | None:
    if keys is None:
        return None
    return {name if name in variables or _is_hidden(name) else f"{_HIDDEN}{name}": origin for name, origin in keys.items()}


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


def _is_hidden(name: str) -> bool:
    return name.startswith(_HIDDEN)


def _spelt(name: str) -> str:
    """A variable as the query calls it."""
    return name.removeprefix(_HIDDEN).removeprefix("_:")


def _apart(left: Node, right: Node, shared: frozenset[str]) -> str:
    if shared:
        return f"{_listed(shared)} comes from different scans on the two sides of a join"
    return "two sides of a join share no variable that both bind"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"?{_spelt(name)}" for name in sorted(names))
