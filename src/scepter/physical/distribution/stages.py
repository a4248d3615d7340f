"""The plan of a unit in stages, for many workers, and by which key.

Below the cut is what looks at one event at a time: scans, what the schema entails, filters, static look-ups, windows. It runs
where events are read. Above it is what compares rows: joins, groups, reports. It runs in buckets of a key, variables in which
all rows of an answer agree, so that no answer crosses two buckets. Without a key it runs in a grid of buckets: along each
dimension, rows that bind its variables go to one bucket and all others to every one, so that the rows of an answer meet in just
one. What has neither has a reason, and runs in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from scepter.physical.distribution.cutting import Cut, Owned, cut
from scepter.physical.nodes.event_nodes import Returned
from scepter.physical.nodes.keys import OWNED, KeyAnalysis, Keys, Origin, Place, is_hidden, owns, spelt
from scepter.physical.nodes.nodes import Node, nodes
from scepter.physical.plan import UnitPlan


@dataclass(frozen=True, slots=True)
class Dimension:
    """What rows are divided by along one side of a grid of buckets."""

    keys: tuple[tuple[tuple[str, ...], ...], ...]
    """Per exchange the columns whose values decide; none: its rows go everywhere. Several where the exchange sends occurrences
    of triples that the patterns of a star bind differently: then one for each pattern."""
    variables: tuple[str, ...]
    """As the query calls them."""

    def divides(self, exchange: int) -> bool:
        """Whether it tells apart any rows of an exchange."""
        return any(self.keys[exchange])


@dataclass(frozen=True)
class Stages:
    """A plan cut in two, with the key between."""

    below: tuple[Node, ...]
    """What runs where events are read, by exchange."""
    above: Node
    dimensions: tuple[Dimension, ...] = ()
    """One of a key, several of a grid; none where all that is above runs in one bucket."""
    merges: bool = False
    """Whether rows of different buckets may be one row of the answer."""
    why: str = ""
    """Why there is no key, as the beginning of a sentence."""
    told: tuple[Node, ...] = ()
    """What also runs where events are read, and is told there: events that cannot be used."""

    @property
    def variables(self) -> tuple[str, ...]:
        """What rows are divided by, as the query calls it."""
        return tuple(dict.fromkeys(name for each in self.dimensions for name in each.variables))

    @cached_property
    def everywhere(self) -> bool:
        """Whether every bucket hears of every instant."""
        return not all(any(each.divides(place) for each in self.dimensions) for place in range(len(self.below)))

    @cached_property
    def plain(self) -> bool:
        """Whether it has a key that is the same column of all rows of a scan, and no rows that are in every bucket."""
        same = not self.why and all(len(columns) == 1 for columns in self.dimensions[0].keys)
        return same and not any(isinstance(node, Owned) for node in nodes(self.above))

    def sides(self, buckets: int) -> tuple[int, ...]:
        """How many of at most so many buckets a grid has along each dimension, so that each has as few rows as may be: all
        scans are taken to give as many. None at all where even so each would have most of all rows."""
        best = min(_shapes(len(self.dimensions), buckets), key=lambda sides: (self._load(sides), prod(sides)))
        return best if self._load(best) <= _WORTH_IT * self._load((1,) * len(best)) else ()

    def _load(self, sides: tuple[int, ...]) -> float:
        """The rows of a bucket, in those of a scan."""
        return sum(
            1 / prod(side for each, side in zip(self.dimensions, sides, strict=True) if _of_pattern(each.keys[place], pattern))
            for place, node in enumerate(self.below)
            if node.schema.variables
            for pattern in range(node.sent_as)
        )


def _shapes(dimensions: int, buckets: int) -> Iterator[tuple[int, ...]]:
    """The grids of at most so many buckets."""
    if not dimensions:
        yield ()
        return
    for side in range(1, buckets + 1):
        for rest in _shapes(dimensions - 1, buckets // side):
            yield side, *rest


def _of_pattern(keys: tuple[tuple[str, ...], ...], pattern: int) -> tuple[str, ...]:
    return keys[pattern if len(keys) > 1 else 0]


@dataclass(frozen=True, slots=True)
class Undivided:
    """Why a plan is not cut at all, as the beginning of a sentence: it runs where all events are at hand."""

    why: str


def unit_stages(unit: UnitPlan) -> Stages | Undivided:
    """A unit that is no sequence in stages, or why its events have to be where it is."""
    return stages(unit.root)


def stages(root: Node) -> Stages | Undivided:
    """The plan of a unit in stages, with its key, its grid, or why it has none; or why it is not cut at all."""
    parts = cut(root)
    if isinstance(parts, str):
        return Undivided(parts)
    made = divided_by(parts)
    if not made.dimensions and isinstance(root, Returned):  # one event may stand at both ends of answers
        apart = cut(root, apart=True)
        assert not isinstance(apart, str)
        return by if (by := divided_by(apart)).dimensions else made
    return made


def divided_by(parts: Cut, *, strictly: bool = False) -> Stages:
    """What is above a cut, with its key, its grid, or why it has none. `strictly`: rows that may be one row of the answer are
    in one bucket, and are not to meet once more."""
    found = KeyAnalysis(strictly=strictly)
    keys = found.keys(parts.above) or {}
    whole = {name: at for name, at in keys.items() if found.is_whole(at, parts.above)}
    if whole:
        names = {name: at for name, at in whole.items() if not owns(at)} or whole
        shown = [name for name in names if not is_hidden(name)]
        chosen = sorted(shown or names)  # by hidden ones too, equal rows of the answer would have to meet once more
        above = _owning(parts.above, keys, [chosen])
        return Stages(parts.below, above, (_dimension(parts, keys, chosen),), found.merges and not shown, told=parts.told)
    return _grid(parts, keys, found)


_MOST_DIMENSIONS = 3
_WORTH_IT = 3 / 4
"""So much of all rows may be in one bucket of a grid."""
_USUAL = 8
"""Buckets of a grid, with which it has to be worth it: dimensions of no use then are left out."""


def _grid(parts: Cut, keys: Keys, found: KeyAnalysis) -> Stages:
    """The dimensions of a grid: variables that divide the same places make one; those that divide most come first."""
    why = found.reason or "no variable is in every row that it compares"
    together: dict[frozenset[Place], list[str]] = {}
    for name, at in keys.items():
        together.setdefault(frozenset(dict(at)), []).append(name)
    chosen: list[list[str]] = []
    for names in sorted(together.values(), key=lambda names: (-_count(keys[names[0]]), names)):
        chosen.append(sorted([name for name in names if not is_hidden(name)] or names))
    chosen = chosen[:_MOST_DIMENSIONS]
    every = Stages(parts.below, parts.above, tuple(_dimension(parts, keys, names) for names in chosen), why=why)
    sides = every.sides(_USUAL)
    used = [place for place, side in enumerate(sides) if side > 1]
    chosen = [chosen[place] for place in used]
    above = _owning(parts.above, keys, chosen)
    merges = found.merges and any(map(is_hidden, (name for names in chosen for name in names)))
    return Stages(parts.below, above, tuple(every.dimensions[place] for place in used), merges, why, parts.told)


def _count(origin: Origin) -> int:
    return sum(exchange != OWNED for (exchange, _), _ in origin)


def _dimension(parts: Cut, keys: Keys, names: Sequence[str]) -> Dimension:
    origins = [dict(keys[name]) for name in names]
    columns: list[tuple[tuple[str, ...], ...]] = []
    for exchange, node in enumerate(parts.below):
        each = [tuple(o[exchange, p] for o in origins if (exchange, p) in o) for p in range(node.sent_as)]
        columns.append(tuple(each[:1]) if len(set(each)) == 1 else tuple(each))
    return Dimension(tuple(columns), tuple(dict.fromkeys(spelt(_called(keys[name])) for name in names)))


def _called(origin: Origin) -> str:
    """What a query calls a variable: a star's columns have names of their own."""
    return next((name for (exchange, _), name in origin if exchange == OWNED), origin[0][1])


def _owning(root: Node, keys: Keys, chosen: Sequence[Sequence[str]]) -> Node:
    """The plan, with rows that are in every bucket cut down to the bucket's own wherever a dimension asks for that."""
    by: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    for dimension, names in enumerate(chosen):
        for node in {node for name in names for (exchange, node), _ in keys[name] if exchange == OWNED}:
            columns = tuple(dict(keys[name])[OWNED, node] for name in names)
            by.setdefault(node, []).append((dimension, columns))
    made: dict[int, Node] = {}

    def owned(node: Node) -> Node:
        if id(node) not in made:
            again = node.over(owned)
            made[id(node)] = Owned(again, tuple(by[id(node)])) if id(node) in by else again
        return made[id(node)]

    assert by.keys() <= {id(node) for node in nodes(root)}
    return owned(root)
