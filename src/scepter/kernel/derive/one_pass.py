"""A rule that carries on what it derived, in one pass in order of end (`physical.linear_rules`).

State: as of a gap join, whose left rows are those that were given and those that were derived. Terms that are copied are
written as rows are found; what is computed follows for all rows of a stretch together, and then the names of new nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scepter.kernel.condition.calculation import TENTHS, Amounts, given
from scepter.kernel.condition.numerals import Column, Numerals
from scepter.kernel.derive.deriving import between as part_between
from scepter.kernel.derive.deriving import endless
from scepter.kernel.derive.expression_steps import program_of
from scepter.kernel.derive.one_pass_search import (
    Arriving,
    Carrying,
    Figures,
    Mappings,
    Recipe,
    Told,
    carry_on,
    figure,
    levels,
    name_nodes,
)
from scepter.kernel.derive.template import named
from scepter.kernel.encoding import encoded
from scepter.kernel.gap_join.gap_join import GapJoined, visits
from scepter.kernel.gap_join.gap_search import Lefts
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, Rows, concat, empty, lasting, mappings, merged
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.join_table import chains_of
from scepter.kernel.time_join.sweep import enter
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes.derive_nodes import Derive
from scepter.physical.nodes.nodes import Extend, Node, Project
from scepter.physical.nodes.time_nodes import Once
from scepter.physical.planning.linear_rules import CONSTANT, LEFT, NODE, VALUE, Linear, Source
from scepter.rdf.hashing import TermKey

_TOGETHER = 1 << 15
"""About so many rows are derived together: what belongs to them should stay near the processor."""
_FIRST, _LEAST = 64, 64
_UNTIL = Until(np.iinfo(np.int64).max - 1)


class OnePass(GapJoined):
    """Such a rule at work."""

    def __init__(
        self, node: Derive, rule: Linear, operator_of: Callable[[Node], Operator], key: TermKey, texts: Texts, most: int,
        lineage: Lineage,
    ) -> None:  # fmt: skip
        super().__init__(rule.join, lineage)
        self.schema = node.schema
        self._rule, self._whole, self._derived = rule, bool(node.whole), node.rules[0]
        self._texts, self._most, self._numerals = texts, most, Numerals(key, texts)
        places = {id(each): place for place, each in enumerate(node.inputs)}
        self._given_at, self._right_at = places[id(rule.given)], places[id(rule.join.right)]
        self._between_at = places.get(id(rule.join.between))
        self._once = isinstance(rule.join.left, Once)
        self._columns = rule.given.schema.columns(rule.join.left.schema.variables)
        ids, refs, number, scale = encoded(rule.constants, key, texts)
        self._constants = Mappings(ids[None, :], refs[None, :], number[None, :], scale[None, :])
        self._recipe = self._recipe_of(rule.carried, rule.join.left.schema.columns(rule.join.keys))
        self._solution = self._recipe_of(rule.solution, ())
        self._nodes = np.array([j for j, (kind, _) in enumerate(rule.carried) if kind == NODE], np.int64)
        self._program = program_of(rule)
        self._steps = [operator_of(each) for each in _steps(node.rules[0].root)]
        self._repeated, self._each = False, 0

    def _recipe_of(self, sources: Sequence[Source], keys: Sequence[int]) -> Recipe:
        gapped = self._between_at is not None
        kinds, places = (np.array([source[i] for source in sources], np.int64) for i in (0, 1))
        return Recipe(kinds, places, np.array(keys, np.int64), self._constants, self._bound, self._whole, gapped)

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """What is derived, in order of end."""
        left, right = inputs[self._given_at].columns(self._columns), inputs[self._right_at]
        between = empty(0) if self._between_at is None else inputs[self._between_at]
        left = each_once(left) if self._once else left
        instants = np.unique(np.concatenate([rows.end for rows in (left, right, between)]))
        found = list[Rows]()
        low = 0
        while low < len(instants):  # what the first few bring tells how much room many need
            some = instants[low : low + (max(1, _TOGETHER // self._each) if self._each else _FIRST)]
            last = int(some[-1])
            found.append(self._derive(*(part_between(rows, int(some[0]), last) for rows in (left, right, between))))
            low += len(some)
            if low < len(instants):
                self.evict(last - 1)
        return concat(found, len(self.schema.variables))

    def _derive(self, left: Rows, right: Rows, between: Rows) -> Rows:
        base = self._lefts.size
        parents = self._carried_on(left, right, between)
        rows = base + np.flatnonzero(parents[base : self._lefts.size, 0] >= 0)
        if not len(rows):
            return empty(len(self.schema.variables))
        self._count(rows)
        values, bound = self._values(rows, parents, right)
        self._put(rows, values)
        if self._whole:
            table = Mappings(*self._lefts.mappings)
            ids = np.column_stack([column[0] for column in values]) if values else np.empty((len(rows), 0), np.uint64)
            number = self._derived.number * 64 + 1
            name_nodes(rows, parents, self._solution, table, _mappings(right), ids, self._lefts.side, number, self._nodes)
            table.refs[rows, self._nodes[0]] = named(table.ids[rows, self._nodes[0]], self._texts)
        made = self._made(rows, parents, right, values)
        if bound is not None:
            made = self._without_unbound(made, rows, parents, bound)
        return made

    def _carried_on(self, left: Rows, right: Rows, between: Rows) -> Int64:
        """Write what is given and what is derived; of each row, what it was derived from."""
        known = self._betweens.size
        betweens = self._add_between(between)
        rights = self._looking(right)
        kinds, rows = visits(left, between, right, (0, known))
        arriving = Arriving(_mappings(left), left.start, left.end, kinds, rows)
        carrying = Carrying(rights, _mappings(right))
        place = np.array([0, -2, 0, self._lefts.size], np.int64)
        repeated = self._repeated or rights.repeated
        width = 2 if self._whole else left.width + 2
        told = Told(chains_of(0, width), np.empty((1, width), np.uint64), np.array([repeated]))
        parents = np.empty((0, 2), np.int64)
        more = len(left) + max(_LEAST, (self._each + self._each // 4 + 1) * len(right))
        first = self._lefts.size
        while True:
            lefts = self._room(more)
            room = len(lefts.side.start)
            parents, told = _longer(parents, room), _wider(told, room - self._lefts.size)
            table = Mappings(*self._lefts.mappings)
            done = carry_on(arriving, place, lefts, betweens, table, carrying, self._recipe, told, parents)
            self._lefts.accept(int(place[3]))
            if done:
                self._repeated = bool(told.needed[0])
                self._each = (self._lefts.size - first) // max(1, len(right))
                return parents
            more = room

    def _room(self, more: int) -> Lefts:
        """Room for so many rows more, at least; what is told of left rows beside their table stays as it is."""
        self._lefts.reserve(self._lefts.size + more)
        side, size = self._lefts.side, self._lefts.size
        room = len(side.start)
        if room > len(self._first_end):
            marks, ends, firsts = np.empty((room, 1), np.uint64), np.empty(room, np.int64), chains_of(room, 1)
            marks[:size], ends[:size] = self._marks[:size], self._first_end[:size]
            entries = int(self._firsts.sizes[0])
            enter(firsts, self._firsts.keys[:entries], np.empty(entries, np.bool_))
            firsts.heads[:entries] = self._firsts.heads[:entries]
            self._marks, self._first_end, self._firsts = marks, ends, firsts
        return Lefts(side, self._marks, self._firsts, self._first_end)

    def _count(self, rows: Int64) -> None:
        """No more than so many triples at an instant."""
        ends = self._lefts.end[rows]
        first = np.concatenate([[0], np.flatnonzero(np.diff(ends)) + 1])
        triples = max(1, len(self.schema.variables) - 1) if self._whole else 1
        many = np.flatnonzero(np.diff(np.append(first, len(ends))) * triples > self._most)
        if len(many):
            where = f"at {ends[first[many[0]]]}: more than {self._most} triples at one instant"
            raise endless(self._derived, where)

    def _put(self, rows: Int64, values: Sequence[Column]) -> None:
        """Values that are carried on stand in their rows."""
        table = self._lefts.mappings
        for j, (kind, which) in enumerate(self._rule.carried):
            if kind == VALUE:
                _write(table, rows, j, values[which])

    def _made(self, rows: Int64, parents: Int64, right: Rows, values: Sequence[Column]) -> Rows:
        """Derived rows as what they are to all others."""
        if len(self._rule.recalled) == len(self._rule.made):  # all of it is carried on
            order = [self._rule.recalled.index(column) for column in range(len(self._rule.made))]
            return self._lefts.take(rows).columns(order)
        columns, every = mappings(len(rows), len(self._rule.made)), np.arange(len(rows))
        table = self._lefts.mappings
        for column, (kind, which) in enumerate(self._rule.made):
            if column in self._rule.recalled:
                terms = _read(table, rows, self._rule.recalled.index(column))
            elif kind == VALUE:
                terms = values[which]
            elif kind == CONSTANT:
                terms = _read(self._constants, np.zeros(len(rows), np.int64), which)
            elif kind == LEFT:
                terms = _read(table, parents[rows, 0], which)
            else:
                terms = _read(_mappings(right), parents[rows, 1], which)
            _write(columns, every, column, terms)
        start, end = self._lefts.start[rows], self._lefts.end[rows]
        return Rows(*columns, start, end, *lasting(len(rows)), np.full(len(rows), NO_LINEAGE))

    # ---- values

    def _values(self, rows: Int64, parents: Int64, right: Rows) -> tuple[list[Column], Mask | None]:
        """What is computed, and of all rows which may be carried on, where some may not."""
        program, count = self._program, len(self._rule.values)
        if program is None:
            return [], None
        lefts, rights = _figures(self._lefts.size, len(program.lefts)), _figures(len(right), len(program.rights))
        asked = np.zeros(self._lefts.size, np.bool_)
        asked[parents[rows, 0]] = True
        asked[rows] = False
        there = np.flatnonzero(asked)
        _fill(lefts, there, self._lefts.take(there), program.lefts, self._texts)
        _fill(rights, np.arange(len(right)), right, program.rights, self._texts)
        values = _figures(len(rows), count)
        if not figure(rows, parents, program.compiled, lefts, rights, program.numbers, values, TENTHS):
            return self._by_operators(rows, parents, right)
        amounts = [Amounts(*(np.ascontiguousarray(part[:, k]) for part in values)) for k in range(count)]
        return [self._numerals.terms(each) for each in amounts], None

    def _by_operators(self, rows: Int64, parents: Int64, right: Rows) -> tuple[list[Column], Mask | None]:
        """Values that columns do not tell, from what was there to what rests on it. One that has an error is unbound: the row
        is there, and is not carried on."""
        found = [mappings(len(rows), 1) for _ in self._rule.values]
        schema = self._rule.join.schema
        places = [schema.column(name) for name in self._rule.join.right.schema.variables]
        made_by, names = self._steps[-1].schema, [value.variable for value in self._rule.values]
        level = np.zeros(self._lefts.size, np.int64)
        levels(rows, parents, level)
        bound: Mask = np.ones(self._lefts.size, np.bool_)
        for number in range(1, int(level.max()) + 1):
            at = np.flatnonzero(level[rows] == number)
            some = rows[at]
            left, other = self._lefts.take(parents[some, 0]), right.take(parents[some, 1])
            made = Rows(
                *merged(left, other, places, len(schema.variables)),
                left.start, other.end, left.since, left.until, left.lineage,
            )  # fmt: skip
            for step in self._steps:
                made = step.process([made], _UNTIL)
            bound[some] = bound[parents[some, 0]]
            terms = [_read(_mappings(made), np.arange(len(made)), made_by.column(name)) for name in names]
            for to, of in zip(found, terms, strict=True):
                _write(to, at, 0, of)
            self._put(some, terms)
            for j, (kind, _) in enumerate(self._rule.carried):
                if kind == VALUE:
                    bound[some] &= self._lefts.mappings[0][some, j] != 0
        return [_read(each, np.arange(len(rows)), 0) for each in found], bound

    def _without_unbound(self, made: Rows, rows: Int64, parents: Int64, bound: Mask) -> Rows:
        """Without what rests on a row that may not be carried on, and without rows that say nothing."""
        stays = bound[parents[rows, 0]] & (made.ids[:, 1:] != 0).any(axis=1)
        if not bool(bound.all()):
            self._keep(self._lefts, bound)
        return made if bool(stays.all()) else made.take(stays)


def _steps(root: Node) -> list[Node]:
    found = list[Node]()
    while root.inputs and len(root.inputs) == 1:
        if isinstance(root, Extend | Project):
            found.insert(0, root)
        root = root.inputs[0]
    return found


def _mappings(rows: Rows) -> Mappings:
    whole = np.ascontiguousarray
    return Mappings(whole(rows.ids), whole(rows.refs), whole(rows.number), whole(rows.scale))


def _read(columns: Column, rows: Int64, column: int) -> Column:
    ids, refs, number, scale = columns
    return ids[rows, column], refs[rows, column], number[rows, column], scale[rows, column]


def _write(columns: Column, rows: Int64, column: int, terms: Column) -> None:
    ids, refs, number, scale = columns
    ids[rows, column], refs[rows, column], number[rows, column], scale[rows, column] = terms


def _figures(rows: int, columns: int) -> Figures:
    units, digits, kind = (np.empty((rows, columns), np.int64) for _ in range(3))
    return Figures(units, digits, kind)


def _fill(figures: Figures, places: Int64, rows: Rows, columns: Sequence[int], texts: Texts) -> None:
    for number, column in enumerate(columns):
        amounts = given(rows, column, texts)
        for to, of in zip(figures, (amounts.units, amounts.digits, amounts.kind), strict=True):
            to[places, number] = of


def _longer(parents: Int64, room: int) -> Int64:
    longer = np.empty((room, 2), np.int64)
    longer[: len(parents)] = parents
    return longer


def _wider(told: Told, more: int) -> Told:
    known = int(told.chains.sizes[0])
    chains = chains_of(known + more, told.key.shape[1])
    enter(chains, told.chains.keys[:known], np.empty(known, np.bool_))
    return told._replace(chains=chains)
