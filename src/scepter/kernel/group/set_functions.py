"""The set functions over slots, each with its members: COUNT, SUM and AVG by totals, MIN, MAX and SAMPLE by preference, and
what neither can tell by SPARQL's own definition over the members of a slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.encoding import encoded
from scepter.kernel.group.extremes import preferred, ranked
from scepter.kernel.group.members import Changes, Membership, Slots
from scepter.kernel.group.total_texts import encoded_quotients
from scepter.kernel.group.totals import (
    DOUBLES,
    ERRORS,
    FRACTIONS,
    MEMBERS,
    OTHERS,
    UNITS,
    Amounts,
    Scale,
    Total,
    may_overflow,
    rescaled,
)
from scepter.kernel.rows import Int64, Mappings, Mask, Rows, mappings
from scepter.kernel.sparql.aggregates import SetFunction, compile_aggregate
from scepter.kernel.sparql.context import Context
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import Kept
from scepter.kernel.texts import Texts
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term
from scepter.rdf.values import ExpressionError, to_literal


class Asked(Protocol):
    """What a set function is asked about."""

    @property
    def rows(self) -> Rows:
        """The members of any slot."""
        ...

    @property
    def entered(self) -> Int64:
        """By what members are in the order in which they came."""
        ...

    @property
    def wanted(self) -> Mask:
        """Which slots' groups are there at all."""
        ...

    def bounds(self) -> tuple[Int64, Int64]:
        """From which to which slot each member is inside."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a set function is asked about: the slots, the members inside at any of them, and how they change."""

    slots: Slots
    members: Membership
    changes: Changes
    start: int
    wanted: Mask
    """Which slots' groups are there at all."""
    groups: int
    """How many groups there are."""

    @property
    def rows(self) -> Rows:
        """The members."""
        return self.members.rows

    @property
    def entered(self) -> Int64:
        """When members came."""
        return self.rows.since

    def bounds(self) -> tuple[Int64, Int64]:
        """From which to which slot each member is inside."""
        rows, group = self.members.rows, self.members.group
        return self.slots.at(group, np.maximum(rows.since, self.start)), self.slots.at(group, rows.until)


class Listing:
    """A set function over the members of each slot, by its definition: slow, exact, for any function.

    `names` are the variables that it may ask for. Without DISTINCT, members are distinct already where that matters."""

    def __init__(self, aggregate: Aggregate, names: Sequence[str], texts: Texts) -> None:
        self._function: SetFunction = compile_aggregate(aggregate)
        whole = aggregate.operand is None and aggregate.distinct
        at = range(len(names)) if whole else [column] if (column := _column(aggregate, names)) >= 0 else []
        self._columns = [(names[column], column) for column in at]
        self._texts = texts

    def values(self, asked: Asked, wanted: Mask) -> list[Term | None]:
        """A term for each wanted slot, None where it is an error."""
        if not wanted.any():
            return []
        low, high = asked.bounds()
        inside: dict[int, list[int]] = {slot: [] for slot in np.flatnonzero(wanted).tolist()}
        for member, (first, last) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            for slot in range(first, last):
                if slot in inside:
                    inside[slot].append(member)
        return [self._value(asked.rows, members) for members in inside.values()]

    def _value(self, rows: Rows, members: list[int]) -> Term | None:
        found: list[dict[str, Term]] = [{} for _ in members]
        for name, column in self._columns:
            for mapping, id, ref in zip(
                found, rows.ids[members, column].tolist(), rows.refs[members, column].tolist(), strict=True
            ):
                if id:
                    mapping[name] = self._texts.known(ref, id)
        try:
            return self._function(found, _CONTEXT)
        except ExpressionError:
            return None


_CONTEXT = Context()


class Totals:
    """COUNT, SUM or AVG as terms, of what members amount to."""

    def __init__(self, aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> None:
        self._name = aggregate.function
        self._column, self._key, self._texts = _column(aggregate, names), key, texts
        self._listing = Listing(aggregate, names, texts)
        self._amounts = Amounts(texts)
        self._scale = Scale()

    def _written(self, totals: Int64, asked: Asked) -> Mappings:
        """The terms of the wanted slots."""
        rows = totals[asked.wanted]
        if self._name == "COUNT":
            column = rows[:, MEMBERS] if self._column < 0 else rows[:, MEMBERS] - rows[:, ERRORS]
            counts, where = np.unique(column, return_inverse=True)
            ones, none = np.ones(len(counts), np.int64), np.zeros(len(counts), np.bool_)
            return encoded_quotients(counts, 0, ones, none, self._key, self._texts).take(where)
        first, where = distinct(rows)
        different = rows[first]
        plain = (different[:, DOUBLES] == 0) & (different[:, OTHERS] == 0)
        if bool(plain.all()):
            means = (self._name == "AVG") & (different[:, MEMBERS] > 0)  # the average of nothing is an integer, 0
            by = np.where(different[:, ERRORS] > 0, 0, np.where(means, different[:, MEMBERS], 1))
            decimal = means | (different[:, FRACTIONS] > 0)
            amounts = different[:, UNITS], self._scale.decimals, by, decimal
            return encoded_quotients(*amounts, self._key, self._texts).take(where)
        made = [self._term(tuple(row)) for row in different.tolist()]
        others = np.flatnonzero(different[:, OTHERS] > 0)
        terms = [made[i] for i in where.tolist()]
        places = np.flatnonzero(np.isin(where, others))
        listed = np.zeros(len(totals), np.bool_)
        listed[np.flatnonzero(asked.wanted)[places]] = True
        for place, term in zip(places.tolist(), self._listing.values(asked, listed), strict=True):
            terms[place] = term
        return encoded(terms, self._key, self._texts)

    def _term(self, columns: tuple[int, ...]) -> Term | None:
        if columns[ERRORS]:
            return None
        total = Total(columns, self._scale)
        try:
            return to_literal(total.sum() if self._name == "SUM" else total.mean())
        except ExpressionError:
            return None

    def _amount(self, rows: Rows) -> Int64:
        if self._column >= 0 and self._name != "COUNT":
            return self._amounts.of(*rows.mappings.column(self._column))
        found = np.zeros((len(rows), self._scale.width), np.int64)
        found[:, MEMBERS] = 1
        if self._column >= 0:
            found[:, ERRORS] = rows.ids[:, self._column] == 0
        return found


class Totalling(Totals):
    """Totals kept by what changes. `base` is what groups amount to at the end of the last stretch."""

    def __init__(self, aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> None:
        super().__init__(aggregate, names, key, texts)
        self._base = np.zeros((0, Scale().width), np.int64)
        self._exactly = False
        """Whether sums have come near the end of 64 bits: from then on every slot is listed."""
        self.save()

    def values(self, stretch: Stretch) -> Mappings:
        """The terms of the wanted slots."""
        totals = None if self._exactly else self._totals(stretch)
        if totals is None:
            self._exactly = True
            return encoded(self._listing.values(stretch, stretch.wanted), self._key, self._texts)
        return self._written(totals, stretch)

    def _totals(self, stretch: Stretch) -> Int64 | None:
        """What groups amount to in each slot; None where 64 bits may not be enough."""
        changes, rows = stretch.changes, stretch.members.rows
        changed = rows.take(changes.member)
        amounts = self._amount(changed) * changes.sign[:, None]
        base = np.zeros((stretch.groups, self._base.shape[1]), np.int64)
        base[: len(self._base)] = self._base
        wide = rescaled(base, self._scale, self._amounts.scale)
        self._scale = self._amounts.scale
        if wide is None or may_overflow(wide, amounts):
            return None
        slots = stretch.slots
        totals = slots.summed(slots.at(changes.group, changes.time), amounts, wide)
        wide = wide.copy()
        wide[slots.group[slots.last]] = totals[slots.last]
        self._base = wide
        return totals

    # ---- state

    def keep(self, groups: Int64) -> None:
        """Only these groups are left, numbered anew in this order."""
        wide = np.zeros((max(len(self._base), int(groups.max(initial=-1)) + 1), self._base.shape[1]), np.int64)
        wide[: len(self._base)] = self._base
        self._base = wide[groups]

    def save(self) -> None:
        self._saved = self._base, self._scale, self._exactly

    def undo(self) -> None:
        self._base, self._scale, self._exactly = self._saved
        self._amounts.scale = self._scale

    def dump(self, prefix: str) -> Arrays:
        scale = np.array([self._exactly, self._scale.decimals, *self._scale.digits], np.int64)
        return {f"{prefix}.base": self._base, f"{prefix}.scale": scale}

    def load(self, prefix: str, arrays: Arrays) -> None:
        exactly, decimals, *digits = arrays[f"{prefix}.scale"].tolist()
        self._saved = arrays[f"{prefix}.base"], Scale(decimals, tuple(digits)), bool(exactly)
        self.undo()

    def tables(self) -> Sequence[Rows]:
        return ()


class Choosing(Kept[None]):
    """MIN, MAX or SAMPLE: one of the members of a slot. Nothing is kept but the members."""

    def __init__(self, aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> None:
        super().__init__(None)
        self._name, self._column, self._texts = aggregate.function, _column(aggregate, names), texts

    def values(self, asked: Asked) -> Mappings:
        """The terms of the wanted slots."""
        terms, slots = asked.rows.mappings.column(self._column), len(asked.wanted)
        low, high = asked.bounds()
        bound = np.flatnonzero((low < high) & (terms.ids != 0))
        if self._name == "SAMPLE":
            order = bound[np.argsort(asked.entered[bound], kind="stable")]
        else:
            order = bound[ranked(*terms.take(bound), self._texts, descending=self._name == "MAX")]
        best = preferred(order, low, high, slots)
        if self._name != "SAMPLE":  # one error makes the minimum an error
            failing = np.flatnonzero((low < high) & (terms.ids == 0))
            best[preferred(failing, low, high, slots) >= 0] = -1
        best = best[asked.wanted]
        found = mappings(len(best), 1)
        there = np.flatnonzero(best >= 0)
        found.put(0, terms.take(best[there]), there)
        return found.column(0)

    def keep(self, groups: Int64) -> None:
        """Nothing is kept by group."""


class Concatenating(Choosing):
    """GROUP_CONCAT, and any other function that only its definition tells: over the members of each slot."""

    def __init__(self, aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> None:
        super().__init__(aggregate, names, key, texts)
        self._key = key
        self._listing = Listing(aggregate, names, texts)

    def values(self, asked: Asked) -> Mappings:
        return encoded(self._listing.values(asked, asked.wanted), self._key, self._texts)


def _column(aggregate: Aggregate, names: Sequence[str]) -> int:
    """The column of the operand; -1 for COUNT(*)."""
    operand = aggregate.operand
    return names.index(operand.name) if isinstance(operand, Variable) and operand.name in names else -1


Function: TypeAlias = Totalling | Choosing | Concatenating

FUNCTIONS: dict[str, type[Function]] = {
    "COUNT": Totalling,
    "SUM": Totalling,
    "AVG": Totalling,
    "MIN": Choosing,
    "MAX": Choosing,
    "SAMPLE": Choosing,
    "GROUP_CONCAT": Concatenating,
}
