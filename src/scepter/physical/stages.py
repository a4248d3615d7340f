"""The plan of a unit in stages, for many workers, and by which key.

Below the cut is what looks at one event at a time: scans, what the schema entails, filters, static look-ups, windows. It runs
where events are read. Above it is what compares rows: joins, groups, reports. It runs in buckets of a key, variables in which
all rows of an answer agree, so that no answer crosses two buckets. What has no such key has a reason, and runs in one bucket.
"""

from __future__ import annotations

from dataclasses import dataclass

from scepter.physical.cutting import cut
from scepter.physical.keys import Found, is_hidden, spelt
from scepter.physical.nodes import Node
from scepter.physical.plan import UnitPlan


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
    why: str = ""
    """Why there is no key, as the beginning of a sentence: all that is above the cut then runs in one bucket."""

    @property
    def everywhere(self) -> bool:
        """Whether every bucket hears of every instant."""
        return None in self.keys


@dataclass(frozen=True, slots=True)
class Undivided:
    """Why a plan is not cut at all, as the beginning of a sentence: it runs where all events are at hand."""

    why: str


def unit_stages(unit: UnitPlan) -> Stages | Undivided:
    """A unit that is no sequence in stages, or why its events have to be where it is."""
    if unit.entailed:
        return Undivided("its events come with all that they entail")
    if unit.ranked:
        return Undivided("it orders its rows itself")
    return stages(unit.root)


def stages(root: Node) -> Stages | Undivided:
    """The plan of a unit in stages, with its key or why it has none; or why it is not cut at all."""
    parts = cut(root)
    if isinstance(parts, str):
        return Undivided(parts)
    found = Found()
    keys = found.keys(parts.above)
    if not keys:
        return _together(parts.below, parts.above, found.reason or "no variable is in every row that it compares")
    shown_keys = [name for name in keys if not is_hidden(name)]
    names = sorted(shown_keys or keys)  # by hidden ones too, equal rows of the answer would have to meet once more
    origins = [dict(keys[name]) for name in names]
    per_exchange: list[tuple[str, ...] | None] = []
    for place, node in enumerate(parts.below):
        if not node.schema.variables:
            per_exchange.append(None)
        elif all(place in origin for origin in origins):
            per_exchange.append(tuple(origin[place] for origin in origins))
        else:
            return _together(parts.below, parts.above, "not all of its scans bind the key")
    shown = tuple(dict.fromkeys(spelt(keys[name][0][1]) for name in names))
    return Stages(parts.below, parts.above, tuple(per_exchange), shown, found.merges and not shown_keys)


def _together(below: tuple[Node, ...], above: Node, why: str) -> Stages:
    return Stages(below, above, (None,) * len(below), (), why=why)
