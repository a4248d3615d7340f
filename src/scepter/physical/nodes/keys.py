"""By which variables the input of a plan's operators may be divided, so that no answer crosses two buckets.

Each node tells it of itself (`Node.partition_keys`). A scan offers the variables it binds, a group keeps those it groups by, a
projection hides some. A join keeps what both sides bind and share; and what one side binds, where the rows of the other can go
to every bucket. What is left at the root and bound by all scans is a key; what only some of them bind is a side of a grid
(`stages`). Where there is no key, the first operator that lost it gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from scepter.physical.nodes.nodes import ASSERTIONS, END, START, Node

Place: TypeAlias = tuple[int, int]
"""An exchange and, of one that sends occurrences of triples, the pattern that they match; or OWNED and a node (`Owned`)."""
Origin: TypeAlias = tuple[tuple[Place, str], ...]
"""Where a key's values come from: the places that have it, and the variable there. The rows of all others below the node that
offers it go to every bucket."""
Keys: TypeAlias = Mapping[str, Origin]
"""The variables of a node by which its input can be divided. One that a projection has hidden keeps its place under a name that
no query has."""
Ways: TypeAlias = Sequence[tuple[Node, Origin]]
"""Of each side of a node, where its key comes from; nothing: its rows go to every bucket."""
OWNED = -1
"""The exchange of rows that every bucket has, and keeps its own of."""
RECALLED = -2
"""The exchange that derived triples come back by, which is none: they are in the bucket that derived them."""
EQUAL = "equal rows of different buckets are one row of the answer"
NO_GROUPS = "an aggregate without GROUP BY looks at all rows"
NOT_GROUPED = "no variable of GROUP BY is a key below it"
ANYWHERE = "EXISTS may look at rows from anywhere"
"""Reasons that several operators have."""


class KeyAnalysis:
    """The keys of a plan's nodes, and the first reason for which there is none."""

    def __init__(self, recalled: str | None = None, *, strictly: bool = False) -> None:
        """`recalled`: the column of derived triples that rules are divided by. `strictly`: equal rows are to be in one bucket,
        and not to be merged behind them."""
        self.reason: str | None = None
        self.strictly = strictly
        self.recalled = recalled
        self.merges = False
        self._known: dict[int, Keys | None] = {}
        self._places: dict[int, frozenset[Place]] = {}

    def assuming(self, column: str) -> KeyAnalysis:
        """The keys of nodes inside rules, if those are divided by a column of what they derive."""
        return KeyAnalysis(column, strictly=self.strictly)

    def keys(self, node: Node) -> Keys | None:
        """By which variables a node's input may be divided; None: any, since it reads nothing but static data."""
        if id(node) not in self._known:
            self._known[id(node)] = node.partition_keys(self)
        return self._known[id(node)]

    def none(self, why: str) -> Keys:
        """No key; the first reason is told."""
        self.reason = self.reason or why
        return {}

    # ---- one side

    def shown(self, keys: Keys | None, why: str, among: Iterable[str] | None = None) -> Keys | None:
        """The keys that are still to be seen: by hidden ones, equal rows would be taken for different ones."""
        if keys is None:
            return None
        names = None if among is None else frozenset(among)
        kept = {n: origin for n, origin in keys.items() if not is_hidden(n) and (names is None or n in names)}
        return kept or self.none(why)

    def visible(self, keys: Keys, why: str) -> Keys:
        """The keys that no projection has hidden; where there are others, it is told why they are none."""
        if any(map(is_hidden, keys)):
            self.none(why)
        return {name: origin for name, origin in keys.items() if not is_hidden(name)}

    def once(self, keys: Keys | None, among: Iterable[str] | None = None) -> Keys | None:
        """Of rows of which equal ones are one, in some variables or in all: those of different buckets are merged behind them,
        unless they may not be."""
        if self.strictly:
            return self.shown(keys, EQUAL, among)
        apart = set(keys or ()) - set(among) if among is not None else any(map(is_hidden, keys or ()))
        self.merges = self.merges or bool(apart)
        return keys

    def projected(self, keys: Keys | None, variables: tuple[str, ...]) -> Keys | None:
        """The keys of rows of which only some variables are seen."""
        if keys is None:
            return None
        seen = {*variables, START, END}
        return {name if name in seen or is_hidden(name) else f"{_HIDDEN}{name}": origin for name, origin in keys.items()}

    def asking(self, keys: Keys | None, node: Node, asked: Sequence[Node]) -> Keys | None:
        """With EXISTS: what it looks at has to be in every bucket."""
        self.none(ANYWHERE)
        return keys and self.combined((name, [(other, ()) for other in asked] + [(node, at)]) for name, at in keys.items())

    def owned(self, node: Node) -> Keys:
        """What rows that are in every bucket can be divided by once they are there."""
        return {name: (((OWNED, id(node)), name),) for name in node.schema.variables if name in node.schema.certain}

    # ---- two sides

    def joined(self, left: Node, right: Node, shared: Iterable[str], *, outer: bool) -> Keys | None:
        """Partners agree in the shared variables; rows that are in every bucket are partners in each of them."""
        of_left, of_right, shared = self.keys(left), self.keys(right), frozenset(shared)
        if of_left is None and of_right is None:
            return None
        if of_right is None:
            return of_left
        if of_left is None:
            if not outer:
                return of_right
            self.none("a static side would be answered in every bucket")
            of_left = self.owned(left)
        else:
            self.agree(left, right, shared, apart(shared))
        ways: list[tuple[str, Ways]] = []
        if not outer:
            ways += [(name, [(left, ()), (right, at)]) for name, at in of_right.items()]
        ways += [(name, [(left, at), (right, ())]) for name, at in of_left.items()]
        ways += [(n, [(left, of_left[n]), (right, of_right[n])]) for n in of_left if n in of_right and n in shared]
        return self.combined(ways)

    def agree(self, left: Node, right: Node, shared: frozenset[str] | None, why: str) -> None:
        """Tell why two sides have no key together, if they have none."""
        of_left, of_right = self.keys(left) or {}, self.keys(right) or {}
        both = (n for n in of_left if n in of_right and (shared is None or n in shared))
        found = self.combined((n, [(left, of_left[n]), (right, of_right[n])]) for n in both)
        if not any(self.is_whole(at, left, right) for at in found.values()):
            self.none(why)

    def is_whole(self, origin: Origin, *sides: Node) -> bool:
        """Whether all scans below some nodes bind a key."""
        places = frozenset[Place]().union(*map(self.places, sides))
        return dict(origin).keys() >= {place for place in places if place[0] != OWNED}

    def combined(self, ways: Iterable[tuple[str, Ways]]) -> Keys:
        """By name the last of the ways that can be gone: no place has two variables, or one for one side and none for the
        other. A row would belong to several buckets."""
        found: dict[str, Origin] = {}
        for name, sides in ways:
            merged = tuple(dict.fromkeys(entry for _, origin in sides for entry in origin))
            every = dict(merged)
            fits = all(every.keys() & self.places(side) <= dict(origin).keys() for side, origin in sides)
            if fits and len(every) == len(merged):
                found[name] = merged
        return found

    def places(self, node: Node) -> frozenset[Place]:
        """The places that a node reads: those of its scans that bind variables, and the nodes whose rows can be owned."""
        if id(node) not in self._places:
            below = frozenset({(OWNED, id(node))}).union(*map(self.places, node.inputs))
            self._places[id(node)] = node.partition_places(below)
        return self._places[id(node)]


def owns(origin: Origin) -> bool:
    """Whether it needs rows that are in every bucket to be cut down to its own."""
    return any(exchange == OWNED for (exchange, _), _ in origin)


_HIDDEN = "\0"
_SAID = {START: "the start", END: "the end", ASSERTIONS: "the assertions"}


def is_hidden(name: str) -> bool:
    """Whether a projection has hidden a key."""
    return name.startswith(_HIDDEN)


def spelt(name: str) -> str:
    """A variable as the query calls it; what is none in words."""
    if name in _SAID:
        return _SAID[name]
    return name.removeprefix(_HIDDEN).removeprefix("_:")


def apart(shared: frozenset[str]) -> str:
    """Why the sides of a join have no key together."""
    if not shared:
        return "two sides of a join share no variable that both bind"
    names = ", ".join(f"?{spelt(name)}" for name in sorted(shared))
    return f"{names} comes from different scans on the two sides of a join"
