"""A rule that carries on what it derived, in one pass in order of end (`physical.linear_rules`).

State: as of a gap join, whose left rows are those that were given and those that were derived. Terms that are copied are
written as rows are found; numbers are computed for all rows of a stretch together. A derived row has the terms of what is
computed, and the text of its node, only when somebody asks for them: readers, operators that compute what figures cannot tell,
and whoever writes the state down. Until then a computed term of the table is unbound and its figure is told, and a node has an
id and no ref. Where the one reader needs rows of some length with what stands right before them, it is given no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scepter.kernel.condition.calculation import OPEN, TENTHS, Amounts, given
from scepter.kernel.condition.numerals import Numerals
from scepter.kernel.derive.deriving import between as part_between
from scepter.kernel.derive.deriving import endless
from scepter.kernel.derive.expression_steps import program_of
from scepter.kernel.derive.one_pass_search import (
    Arriving,
    Carrying,
    Figures,
    Recipe,
    Told,
    Written,
    carry_on,
    figure,
    levels,
    long_enough,
)
from scepter.kernel.derive.template import named
from scepter.kernel.encoding import encoded_rows
from scepter.kernel.gap_join.gap_join import GapJoined, visits
from scepter.kernel.gap_join.gap_search import Lefts
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import Int64, Mappings, Mask, Rows, concat, empty, lasting_rows, mappings, merged
from scepter.kernel.rows import each_once as in_order
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.join_table import Table, chains_of, grown, moved
from scepter.kernel.time_join.sweep import enter
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes.derive_nodes import Derive
from scepter.physical.nodes.nodes import Extend, Node, Project
from scepter.physical.nodes.time_nodes import Once
from scepter.physical.planning.linear_rules import CONSTANT, LEFT, NODE, VALUE, Linear
from scepter.rdf.arena import NO_REF
from scepter.rdf.hashing import TermKey
from scepter.timeline import MIN_INSTANT

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
        self._constants = encoded_rows([rule.constants], len(rule.constants), key, texts)
        self._asked = node.shortest
        self._recipe = self._recipe_of(rule, node.rules[0].number * 64 + 1)
        self._program = program_of(rule)
        self._computed = {} if self._program is None else {j: self._program.columns.index(j) for j in rule.holding(VALUE)}
        self._named = rule.holding(NODE)
        self._steps = [operator_of(each) for each in _steps(node.rules[0].root)]
        self._repeated, self._each = False, 0
        self._figures = _figures(0, 0 if self._program is None else len(self._program.columns))
        self._reach: Int64 = np.empty(0, np.int64)
        self._gone: int | None = MIN_INSTANT

    def _recipe_of(self, rule: Linear, number: int) -> Recipe:
        kinds, places = (np.array([source[i] for source in rule.carried], np.int64) for i in (0, 1))
        keys = np.array(rule.join.left.schema.columns(rule.join.keys), np.int64)
        gapped, asked = self._between_at is not None, self._asked is not None
        return Recipe(kinds, places, keys, self._constants, self._bound, self._whole, gapped, number, asked)

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        left, right = inputs[self._given_at].columns(self._columns), inputs[self._right_at]
        between = empty(0) if self._between_at is None else inputs[self._between_at]
        left = each_once(left) if self._once else left
        instants = in_order(np.concatenate([rows.end for rows in (left, right, between)]))
        found = list[Rows]()
        low = 0
        if self._gone is None and len(instants):  # whatever was let go ended before
            self._gone = max(int(instants[0]) - 1, MIN_INSTANT)
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
        is_given = parents[base : self._lefts.size, 0] < 0
        self._tell(base + np.flatnonzero(is_given))
        rows = base + np.flatnonzero(~is_given)
        if not len(rows):
            return empty(len(self.schema.variables))
        self._count(rows)
        values, bound = self._values(rows, parents, right)
        asked = np.arange(len(rows))
        if self._asked is not None:
            asked = long_enough(rows, self._reach, self._lefts.end, self._asked)
        made = self._made(rows, asked, parents, right, values)
        return made if bound is None else self._without_unbound(made, rows[asked], parents, bound)

    def _carried_on(self, left: Rows, right: Rows, between: Rows) -> Int64:
        """Write what is given and what is derived; of each row, what it was derived from."""
        known = self._betweens.size
        betweens = self._add_between(between)
        rights = self._looking(right)
        kinds, rows = visits(left, between, right, (0, known))
        arriving = Arriving(_mappings(left), left.start, left.end, kinds, rows)
        carrying = Carrying(rights, _mappings(right))
        place = np.array([0, -2, 0, self._lefts.size, self._gone], np.int64)
        repeated = self._repeated or rights.repeated
        width = 2 if self._whole else left.width + 2
        told = Told(chains_of(0, width), np.empty((1, width), np.uint64), np.array([repeated]))
        parents = np.empty((0, 2), np.int64)
        more = len(left) + max(_LEAST, (self._each + self._each // 4 + 1) * len(right))
        first = self._lefts.size
        while True:
            self._lefts.reserve(self._lefts.size + more)
            self._make_room(self._lefts.size)
            lefts = Lefts(self._lefts.side, self._marks, self._firsts, self._first_end)
            room = len(lefts.side.start)
            parents, told = grown(parents, len(parents), room), _wider(told, room - self._lefts.size)
            table, written = self._lefts.mappings, Written(parents, self._reach)
            done = carry_on(arriving, place, lefts, betweens, table, carrying, self._recipe, told, written)
            self._lefts.accept(int(place[3]))
            if done:
                self._repeated = bool(told.needed[0])
                self._each = (self._lefts.size - first) // max(1, len(right))
                return parents
            more = room

    def _make_room(self, known: int) -> None:
        super()._make_room(known)
        room = len(self._first_end)
        if room > len(self._reach):
            self._reach = grown(self._reach, known, room)
            self._figures = Figures(*(grown(part, known, room) for part in self._figures))

    def _count(self, rows: Int64) -> None:
        """No more than so many triples at an instant."""
        ends = self._lefts.end[rows]
        first = np.concatenate([[0], np.flatnonzero(np.diff(ends)) + 1])
        triples = max(1, len(self.schema.variables) - 1) if self._whole else 1
        many = np.flatnonzero(np.diff(np.append(first, len(ends))) * triples > self._most)
        if len(many):
            where = f"at {ends[first[many[0]]]}: more than {self._most} triples at one instant"
            raise endless(self._derived, where)

    def _made(self, derived: Int64, asked: Int64, parents: Int64, right: Rows, values: Sequence[Mappings] | None) -> Rows:
        """Derived rows as what they are to all others: those at some places among them."""
        rows, rule = derived[asked], self._rule
        columns = mappings(len(rows), len(rule.made))
        for column, (kind, which) in enumerate(rule.made):
            if column in rule.recalled:
                terms = self._terms(rows, rule.recalled.index(column))
            elif kind == VALUE:
                terms = self._numerals.terms(self._amounts(rows, which)) if values is None else values[which].take(asked)
            elif kind == CONSTANT:
                terms = self._constants.column(which).take(np.zeros(len(rows), np.int64))
            elif kind == LEFT:
                terms = self._terms(parents[rows, 0], which)
            else:
                terms = right.mappings.column(which).take(parents[rows, 1])
            columns.put(column, terms)
        return lasting_rows(columns, self._lefts.start[rows], self._lefts.end[rows])

    def _terms(self, rows: Int64, column: int) -> Mappings:
        """The terms of a column of the table, also those that nobody has asked for yet."""
        ids, refs, number, scale = terms = self._lefts.mappings.column(column).take(rows)
        if column in self._computed:
            figures = self._computed[column]
            at = np.flatnonzero((ids == 0) & (self._figures.kind[rows, figures] != OPEN))
            ids[at], refs[at], number[at], scale[at] = self._numerals.terms(self._amounts(rows[at], figures))
        if column in self._named:
            at = np.flatnonzero((refs == NO_REF) & (ids != 0))
            refs[at] = named(ids[at], self._texts)
        return terms

    def _spell_out(self) -> None:
        """Give all rows the terms and texts that nobody has asked for yet."""
        every = np.arange(self._lefts.size)
        for column in self._named.union(self._computed):
            self._lefts.mappings.put(column, self._terms(every, column), every)

    # ---- state

    def _keep(self, table: Table, wanted: Mask) -> Int64:
        if table is self._betweens and not bool(wanted.all()) and self._gone is not None:
            self._gone = max(self._gone, int(table.end[~wanted].max()))
        places = super()._keep(table, wanted)
        if table is self._lefts:
            room = len(self._first_end)
            self._reach = moved(self._reach, places, room)
            self._figures = Figures(*(moved(part, places, room) for part in self._figures))
        return places

    def dump(self) -> Arrays:
        """Both tables, and how derived nodes are named on."""
        self._spell_out()
        return super().dump() | {"left.marks": self._marks[: self._lefts.size][self._lefts.linked]}

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave. How far rows reach back is not known."""
        super().load(arrays)
        size, room = self._lefts.size, len(self._first_end)
        if "left.marks" in arrays:
            self._marks[:size] = arrays["left.marks"]
            self._renewed_lefts(size)
        self._reach, self._gone = np.full(room, MIN_INSTANT, np.int64), None
        self._figures = _figures(room, self._figures.kind.shape[1])
        self._tell(np.arange(size))

    # ---- values

    def _tell(self, rows: Int64) -> None:
        """The figures of rows whose terms are there."""
        if self._program is not None and len(rows):
            there = self._lefts.take(rows)
            for number, column in enumerate(self._program.columns):
                if column >= 0:
                    _fill(self._figures, rows, number, given(there, column, self._texts))

    def _amounts(self, rows: Int64, number: int) -> Amounts:
        return Amounts(*(part[rows, number] for part in self._figures))

    def _values(self, rows: Int64, parents: Int64, right: Rows) -> tuple[list[Mappings] | None, Mask | None]:
        """Compute. Where figures do not tell, the terms, and of all rows which may be carried on."""
        program = self._program
        if program is None:
            return None, None
        rights, every = _figures(len(right), len(program.rights)), np.arange(len(right))
        for number, column in enumerate(program.rights):
            _fill(rights, every, number, given(right, column, self._texts))
        if figure(rows, parents, program.compiled, self._figures, rights, program.numbers, TENTHS):
            return None, None
        self._figures.kind[rows] = OPEN
        self._spell_out()
        found = self._by_operators(rows, parents, right)
        self._tell(rows)
        return found

    def _by_operators(self, rows: Int64, parents: Int64, right: Rows) -> tuple[list[Mappings], Mask]:
        """Values that figures do not tell, from what was there to what rests on it. One that has an error is unbound: the row
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
                *merged(left.mappings, other.mappings, places, len(schema.variables)),
                left.start, other.end, left.since, left.until, left.lineage,
            )  # fmt: skip
            for step in self._steps:
                made = step.process([made], _UNTIL)
            bound[some] = bound[parents[some, 0]]
            terms = [made.mappings.column(made_by.column(name)) for name in names]
            for to, of in zip(found, terms, strict=True):
                to.put(0, of, at)
            for j, (kind, which) in enumerate(self._rule.carried):
                if j in self._computed:
                    of = terms[which] if kind == VALUE else self._lefts.mappings.column(which).take(parents[some, 0])
                    self._lefts.mappings.put(j, of, some)
                    bound[some] &= of[0] != 0
        return [each.column(0) for each in found], bound

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


def _figures(rows: int, columns: int) -> Figures:
    units, digits, kind = (np.empty((rows, columns), np.int64) for _ in range(3))
    return Figures(units, digits, kind)


def _fill(figures: Figures, places: Int64, number: int, amounts: Amounts) -> None:
    for to, of in zip(figures, (amounts.units, amounts.digits, amounts.kind), strict=True):
        to[places, number] = of


def _wider(told: Told, more: int) -> Told:
    known = int(told.chains.sizes[0])
    chains = chains_of(known + more, told.key.shape[1])
    enter(chains, told.chains.keys[:known], np.empty(known, np.bool_))
    return told._replace(chains=chains)
