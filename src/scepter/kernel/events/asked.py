"""`Asked`: occurrences with the solutions of a block of triple patterns over what they assert (spec/40-obep rule 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from scepter.algebra.expressions import Constant, Variable
from scepter.inner import inner
from scepter.kernel.events.assertion_sets import FIRST_REF, AssertionSets
from scepter.kernel.interrupts import interruptible
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Rows, empty
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes import event_nodes as nodes
from scepter.physical.nodes.event_nodes import named
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.lengthening import lengthened
from scepter.rdf.words import fresh, heed, lacks

NOBODY = -1


class Asked(Stateless):
    """Occurrences with the solutions of a block: triple after triple, by what the sets of a name have."""

    def __init__(self, node: nodes.Asked, sets: AssertionSets, key: TermKey) -> None:
        self.schema: Schema = node.schema
        self._sets = sets
        self._column = node.input.schema.column(named(node.label))
        triples = [triple.places for triple in node.block.triples]
        hidden = [part.name for triple in triples for part in triple if isinstance(part, Variable)]
        names = list(dict.fromkeys((*node.schema.variables, *hidden)))
        self._width = len(names)
        self._constants, self._variables = np.zeros((len(triples), 3), np.uint64), np.full((len(triples), 3), -1)
        for i, triple in enumerate(triples):
            for j, part in enumerate(triple):
                if isinstance(part, Constant):
                    self._constants[i, j] = term_id(key, str(part.term))
                else:
                    self._variables[i, j] = names.index(part.name)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        mapping = (np.ascontiguousarray(rows.ids), np.ascontiguousarray(rows.refs), rows.number, rows.scale)
        origin, ids, refs, number, scale = interruptible(
            solve,
            lambda: (rows.end,),
            mapping,
            self._column,
            *self._sets.columns(),
            (self._constants, self._variables),
            self._width,
        )
        if not len(origin):
            return empty(len(self.schema.variables))
        start, end, since, until_, lineage = (
            column.take(origin) for column in (rows.start, rows.end, rows.since, rows.until, rows.lineage)
        )
        found = Rows(ids, refs, number, scale, start, end, since, until_, lineage)
        return each_once(found.columns(range(len(self.schema.variables)))).by_end()


@njit(cache=True)
def solve(rows, column, sets, own, static, patterns, width, cells):  # type: ignore[no-untyped-def]
    """Every way to lay triple patterns on the members of the set that a column of a row stands for, in order of the row, then
    of the members: (row, the four columns of mappings). What is given is tuples of columns: mappings, sets as `AssertionSets`
    has them, its triples of items and static ones, and constants and variables by pattern and position.

    Depth first: `place` is the member that each pattern is laid on, `owner` the pattern that bound a variable, or NOBODY. A
    variable that the row binds has to agree."""
    row_ids, row_refs, row_number, row_scale = rows
    first, count, members = sets
    own_ids, own_refs, own_number, own_scale = own
    static_ids, static_refs, static_number, static_scale = static
    constants, variables = patterns
    depths = len(constants)
    room = max(4, len(row_ids))
    origin, found, tried = fresh(room, np.int64), 0, 0
    ids, refs = fresh((room, width), np.uint64), fresh((room, width), np.int64)
    number, scale = fresh((room, width), np.float64), fresh((room, width), np.int8)
    place, owner = fresh(depths + 1, np.int64), fresh(width, np.int64)
    now_ids, now_refs = fresh(width, np.uint64), fresh(width, np.int64)
    now_number, now_scale = fresh(width, np.float64), fresh(width, np.int8)
    for row in range(len(row_ids)):
        if row_ids[row, column] == 0:
            continue
        for v in range(width):
            known = v < row_ids.shape[1]
            now_ids[v] = row_ids[row, v] if known else np.uint64(0)
            now_refs[v] = row_refs[row, v] if known else NO_REF
            now_number[v] = row_number[row, v] if known else np.nan
            now_scale[v] = row_scale[row, v] if known else NOT_A_NUMBER
            owner[v] = NOBODY
        number_of_set = FIRST_REF - row_refs[row, column]
        low = first[number_of_set]
        high = low + count[number_of_set]
        depth = 0
        place[0] = low - 1
        while depth >= 0:
            tried += 1
            if tried % 65_536 == 0 and heed(cells, found):
                return origin[:0], ids[:0], refs[:0], number[:0], scale[:0]
            if depth == depths:  # a solution
                if found == room:
                    room *= 2
                    if lacks(cells, room * (8 + 25 * width)):
                        return origin[:0], ids[:0], refs[:0], number[:0], scale[:0]
                    origin, ids, refs = lengthened(origin, found), _longer(ids, room), _longer(refs, room)
                    number, scale = _longer(number, room), _longer(scale, room)
                origin[found] = row
                for v in range(width):
                    ids[found, v], refs[found, v] = now_ids[v], now_refs[v]
                    number[found, v], scale[found, v] = now_number[v], now_scale[v]
                found += 1
                depth -= 1
                continue
            for v in range(width):
                if owner[v] == depth:
                    owner[v], now_ids[v], now_refs[v] = NOBODY, np.uint64(0), NO_REF
                    now_number[v], now_scale[v] = np.nan, NOT_A_NUMBER
            place[depth] += 1
            if place[depth] >= high:
                depth -= 1
                continue
            member = members[place[depth]]
            fits = True
            for j in range(3):
                term = own_ids[member, j] if member >= 0 else static_ids[-1 - member, j]
                v = variables[depth, j]
                if v < 0:
                    fits = constants[depth, j] == term
                elif now_ids[v] != 0:
                    fits = now_ids[v] == term
                else:
                    owner[v], now_ids[v] = depth, term
                    now_refs[v] = own_refs[member, j] if member >= 0 else static_refs[-1 - member, j]
                    if j == 2:
                        now_number[v] = own_number[member] if member >= 0 else static_number[-1 - member]
                        now_scale[v] = own_scale[member] if member >= 0 else static_scale[-1 - member]
                if not fits:
                    break
            if fits:
                depth += 1
                if depth < depths:
                    place[depth] = low - 1
    return origin[:found], ids[:found], refs[:found], number[:found], scale[:found]


@inner
def _longer(table, size):  # type: ignore[no-untyped-def]
    grown = fresh((size, table.shape[1]), table.dtype)
    for i in range(len(table)):
        for j in range(table.shape[1]):
            grown[i, j] = table[i, j]
    return grown
