"""GROUP BY on validities: one row per group, constant between changes.

Members enter and leave; each change of a group begins a slot, and a set function is asked about the slots of groups alone that
changed. Groups that did not change are given again with the terms they had. Validities are cut at the closed watermark, as what
comes next may change a group at any later instant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.column_table import ColumnTable
from scepter.kernel.group.extremes import preferred
from scepter.kernel.group.members import Changes, Membership, Slots
from scepter.kernel.group.set_functions import FUNCTIONS, Function, Stretch
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Texted, Until
from scepter.kernel.rows import (
    NO_LINEAGE,
    Int64,
    Mappings,
    Mask,
    Rows,
    UInt64,
    concat,
    empty,
    filled,
    lasting_rows,
    mappings,
    timeless,
)
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Clock, Held, InParts, Part
from scepter.kernel.texts import Texts
from scepter.kernel.validity.coalesce import Coverage
from scepter.kernel.validity.key_index import KeyIndex
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.timeline import MIN_INSTANT

_FEW = 64
"""So many empty groups are kept without a look."""
_Distinct: TypeAlias = tuple[int, ...] | None
"""The columns of which an aggregate takes each combination once; None for one that takes every row."""


@dataclass(frozen=True, slots=True)
class _Keys(ColumnTable):
    """Groups by key."""

    ids: UInt64
    group: Int64


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups by number: their row as it is now, and how many members it has. Never changed in place."""

    rows: Rows
    count: Int64


class Group(InParts):
    """Rows grouped by the variables `keys` (unbound is a key like any other), with an aggregate for each further variable.

    Without keys there is one group, also of no rows."""

    _replaced = ("_groups", "_inside")

    def __init__(
        self,
        input: Schema,
        keys: Sequence[str],
        aggregates: Sequence[tuple[str, Aggregate]],
        key: TermKey,
        texts: Texts,
        grid: Grid | None = None,
        *,
        lineage: Lineage | None = None,
        apart: bool = False,
    ) -> None:
        """With `lineage`, a group happens in the hull of its members' occurrences and was made of what they were made of; else
        it happens when it changes. `apart`: rows that happened at different times are in different groups."""
        counts = frozenset(name for name, each in aggregates if each.function == "COUNT")
        self.schema = Schema((*keys, *(name for name, _ in aggregates)), (input.certain & frozenset(keys)) | counts)
        self._keys = input.columns(keys)
        self._clock = Clock(grid)
        self._lineage = lineage
        self._apart = apart
        self._held = Held(len(input.variables))
        self._index: KeyIndex[_Keys] = KeyIndex()
        self._groups = _Groups(empty(len(self.schema.variables)), np.empty(0, np.int64))
        self._functions: list[Function] = []
        self._takes: list[_Distinct] = []
        for _, aggregate in aggregates:
            operand = aggregate.operand
            column = input.column(operand.name) if isinstance(operand, Variable) else -1
            self._functions.append(
                FUNCTIONS[aggregate.function](replace(aggregate, distinct=False), input.variables, key, texts)
            )
            self._takes.append(_combination(aggregate, column, input))
        nobody = Membership(empty(len(input.variables)), np.empty(0, np.int64))
        self._inside: dict[_Distinct, Membership] = dict.fromkeys((None, *self._takes), nobody)
        self._covered = {columns: Coverage(len(columns) + 1) for columns in self._inside if columns is not None}
        self._parts: dict[str, Part] = {"closed": self._clock, "held": self._held, "index": self._index}
        self._parts |= {f"covered{i}": each for i, each in enumerate(self._covered.values(), 1)}
        self._parts |= {f"function{i}": each for i, each in enumerate(self._functions)}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows of all groups for the stretch that is certain now."""
        width = len(self.schema.variables)
        start = self._clock.closed + 1
        stop = self._clock.advance(until) + 1
        entering = self._held.due(inputs[0], stop - 1)
        if stop <= start:
            return empty(width)
        stretches = self._stretches(entering, start, stop)
        slots = stretches[None].slots
        before = self._unchanged(slots, start, stop)
        count, wanted, values = self._evaluated(stretches)
        ends = np.append(slots.time[1:], stop) if len(slots) else slots.time
        ends[slots.last] = stop
        now = _with_replaced(self._groups.rows.take(slots.group[wanted]), values, len(self._keys))
        if self._lineage is not None:
            made = _made_of(stretches[None], wanted, self._lineage)
            now = replace(now.during(*_hulls(stretches[None], wanted)), lineage=made)
        given = self._during(now, slots.time[wanted], ends[wanted])
        self._settle(stretches, count, wanted, now, stop)
        return concat([before, given], width)

    # ---- members

    def _stretches(self, entering: Rows, start: int, stop: int) -> dict[_Distinct, Stretch]:
        """Who is inside, who comes and goes, and the slots between; for DISTINCT aggregates each term once."""
        number = self._numbered(entering)
        members, changes = {}, {}
        for columns, inside in self._inside.items():
            rows, group = (entering, number) if columns is None else self._once(entering, number, columns)
            members[columns] = inside.joined(rows, group)
            changes[columns] = Changes.of(members[columns], start, stop - 1)
        # the group without keys is there before any member: its first slot begins with time
        initial = np.zeros(1 if not self._keys and start == MIN_INSTANT else 0, np.int64)
        group = np.concatenate([initial, *(each.group for each in changes.values())])
        slots = Slots(group, np.concatenate([initial + start, *(each.time for each in changes.values())]))
        wanted, groups = np.ones(len(slots), np.bool_), len(self._groups.count)
        return {columns: Stretch(slots, members[columns], changes[columns], start, wanted, groups) for columns in self._inside}

    def _once(self, rows: Rows, group: Int64, columns: tuple[int, ...]) -> tuple[Rows, Int64]:
        """Each combination of some columns once in a group."""
        keys = np.concatenate([group.astype(np.uint64)[:, None], rows.ids[:, columns]], axis=1)
        since = self._covered[columns].cover(keys, rows.since, rows.until)
        kept = np.flatnonzero(since < rows.until)
        return rows.valid(since, rows.until).take(kept), group[kept]

    def _numbered(self, rows: Rows) -> Int64:
        """The number of each row's group; new groups are added."""
        if not self._keys:
            if not len(self._groups.count):
                self._add_groups(_nobody(len(self.schema.variables)))
            return np.zeros(len(rows), np.int64)
        ids = self._identity(rows, self._keys)
        first, of = distinct(ids)
        different, words = ids[first], key_of(ids[first], range(ids.shape[1]))
        number = np.full(len(first), -1, np.int64)
        for place, table, row in self._index.probe(words):
            same = np.flatnonzero((table.ids[row] == different[place]).all(axis=1))
            number[place[same]] = table.group[row[same]]
        new = np.flatnonzero(number < 0)
        if len(new):
            number[new] = np.arange(len(self._groups.count), len(self._groups.count) + len(new))
            self._index.add(_Keys(different[new], number[new]), words[new])
            values = [-1] * len(self._functions)
            self._add_groups(rows.take(first[new]).columns((*self._keys, *values)))
        return number[of]

    def _identity(self, rows: Rows, keys: Sequence[int]) -> UInt64:
        """What tells groups apart."""
        ids = np.ascontiguousarray(rows.ids[:, keys])
        if not self._apart:
            return ids
        return np.concatenate([ids, np.stack([rows.start, rows.end], axis=1).view(np.uint64)], axis=1)

    def _add_groups(self, rows: Rows) -> None:
        known = self._groups
        count = np.concatenate([known.count, np.zeros(len(rows), np.int64)])
        self._groups = _Groups(concat([known.rows, rows], rows.width), count)

    # ---- answers

    def _unchanged(self, slots: Slots, start: int, stop: int) -> Rows:
        """Groups as they were, up to their first change."""
        groups = self._groups
        end = np.full(len(groups.count), stop, np.int64)
        end[slots.group[slots.first]] = slots.time[slots.first]
        there = end > start
        if self._keys:
            there &= groups.count > 0
        kept = np.flatnonzero(there)
        return self._during(groups.rows.take(kept), np.full(len(kept), start, np.int64), end[kept])

    def _during(self, rows: Rows, since: Int64, until: Int64) -> Rows:
        """Rows of groups, which are there for a stretch."""
        if self._lineage is not None:
            return rows.valid(since, until)
        return Rows(*rows.mappings, since, since, since, until, filled(len(rows), NO_LINEAGE))

    def _evaluated(self, stretches: dict[_Distinct, Stretch]) -> tuple[Int64, Mask, list[Mappings]]:
        """How many members groups have in each slot, in which slots they are there, and then the term of each function."""
        slots, changes = stretches[None].slots, stretches[None].changes
        count = slots.summed(slots.at(changes.group, changes.time), changes.sign, self._groups.count)
        wanted = count > 0 if self._keys else np.ones(len(slots), np.bool_)
        asked = {columns: replace(stretch, wanted=wanted) for columns, stretch in stretches.items()}
        return count, wanted, [each.values(asked[of]) for each, of in zip(self._functions, self._takes, strict=True)]

    def _settle(self, stretches: dict[_Distinct, Stretch], count: Int64, wanted: Mask, now: Rows, stop: int) -> None:
        """Groups are what their last slots say; who has left is forgotten, and so are groups of nobody."""
        slots = stretches[None].slots
        members = self._groups.count.copy()
        members[slots.group[slots.last]] = count[slots.last]
        latest = np.flatnonzero(slots.last[wanted])
        changed = slots.group[slots.last & wanted]
        places = np.arange(len(members), dtype=np.int64)
        places[changed] = len(members) + latest
        rows = concat([self._groups.rows, now], now.width).take(places) if len(changed) else self._groups.rows
        self._groups = _Groups(rows, members)
        inside = {columns: stretch.members for columns, stretch in stretches.items()}
        self._inside = {columns: each.take(each.rows.until >= stop) for columns, each in inside.items()}
        if self._keys and len(members) > _FEW and 2 * np.count_nonzero(members) < len(members):
            self._renumber(np.flatnonzero(members))

    def _renumber(self, kept: Int64) -> None:
        """Only these groups are left."""
        number = np.full(len(self._groups.count), -1, np.int64)
        number[kept] = np.arange(len(kept))
        self._groups = _Groups(self._groups.rows.take(kept), self._groups.count[kept])
        for function in self._functions:
            function.keep(kept)
        for coverage in self._covered.values():
            coverage.renumber(number)
        self._inside = {c: Membership(inside.rows, number[inside.group]) for c, inside in self._inside.items()}
        self._index.value = ()
        self._index_groups()

    def _index_groups(self) -> None:
        ids = self._identity(self._groups.rows, range(len(self._keys)))
        if self._keys and len(ids):
            self._index.add(_Keys(ids, np.arange(len(ids), dtype=np.int64)), key_of(ids, range(ids.shape[1])))

    # ---- state

    def evict(self, time: int) -> None:
        """Members go when they have left; what DISTINCT has seen goes here."""
        for coverage in self._covered.values():
            coverage.evict(min(time, self._clock.closed))

    def dump(self) -> Arrays:
        """Groups, members and what functions keep."""
        found = super().dump() | {"count": self._groups.count} | self._groups.rows.dump("groups")
        for i, inside in enumerate(self._inside.values()):
            found |= inside.rows.dump(f"inside{i}") | {f"inside{i}.group": inside.group}
        return found

    def load(self, arrays: Arrays) -> None:
        super().load(arrays)
        self._groups = _Groups(Rows.load(arrays, "groups"), arrays["count"])
        self._index_groups()
        self._inside = {
            columns: Membership(Rows.load(arrays, f"inside{i}"), arrays[f"inside{i}.group"])
            for i, columns in enumerate(self._inside)
        }

    def _kept_rows(self) -> Iterator[Texted]:
        yield from super()._kept_rows()
        yield self._groups.rows
        yield from (inside.rows for inside in self._inside.values())

    def state_rows(self) -> Mapping[str, int]:
        members = sum(len(inside.group) for inside in self._inside.values())
        return {"groups": len(self._groups.count), "members": members, "waiting": len(self._held)}


def _combination(aggregate: Aggregate, column: int, input: Schema) -> _Distinct:
    if not aggregate.distinct or (aggregate.operand is not None and aggregate.function in ("MIN", "MAX", "SAMPLE")):
        return None  # the least of all is the least of all different ones
    if aggregate.operand is None:  # blank nodes of the pattern are no part of a solution
        return tuple(i for i, name in enumerate(input.variables) if not name.startswith("_:"))
    return (column,)


def _nobody(width: int) -> Rows:
    """The row of a group that nobody is in."""
    first = filled(1, MIN_INSTANT)
    return lasting_rows(mappings(1, width), *timeless(1)).valid(first, first)


def _with_replaced(rows: Rows, values: Sequence[Mappings], first: int) -> Rows:
    """Rows of groups with new terms from a column on."""
    for column, terms in enumerate(values, first):
        rows.mappings.put(column, terms)
    return rows


def _made_of(stretch: Stretch, wanted: Mask, lineage: Lineage) -> Int64:
    """The lineage of all members of each slot."""
    low, high = stretch.bounds()
    found, node = np.full(len(stretch.slots), NO_LINEAGE, np.int64), stretch.members.rows.lineage
    left = np.flatnonzero((low < high) & (node != NO_LINEAGE))
    while len(left):  # in each round every slot takes one member more, all slots at once
        slot, first = np.unique(low[left], return_index=True)
        some = left[first]
        found[slot] = lineage.joined(found[slot], node[some])
        low[some] += 1
        left = left[low[left] < high[left]]
    return found[wanted]


def _hulls(stretch: Stretch, wanted: Mask) -> tuple[Int64, Int64]:
    """From the first start to the last end of the members inside; of members without a time, or of nobody, no time."""
    rows, (low, high), slots = stretch.members.rows, stretch.bounds(), len(stretch.slots)
    first = preferred(np.argsort(rows.start, kind="stable"), low, high, slots)[wanted]
    last = preferred(np.argsort(rows.end, kind="stable")[::-1], low, high, slots)[wanted]
    start, end = timeless(len(first))
    start[first >= 0], end[last >= 0] = rows.start[first[first >= 0]], rows.end[last[last >= 0]]
    return start, end
