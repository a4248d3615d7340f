"""The compiled loops of rules that carry on what they derived, in one pass.

Rows are visited in order of end. One that comes later looks back along the chain of its key, as in a gap join, and each row it
finds is carried on: the new row is written behind the others, with its terms copied from both, and linked, so that later rows
find it. So rows stand in order of end, and in the order in which they were linked. Where there is no more room the loop stops,
and goes on from there (`Place`).

A new node has its id at once, made of what it is: of the row carried on, told by its mark (a derived one's is its node's id),
and of the one that carries it. Computed values are numbers in `Figures`; their terms are made when somebody asks (`one_pass`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inlined, inner
from scepter.kernel.condition.calculation import OPEN, figured
from scepter.kernel.gap_join.gap_search import BETWEEN, LEFT, Rights, ended, link_left, top
from scepter.kernel.rows import Int64, Mappings, Mask, UInt64
from scepter.kernel.time_join.sweep import Chains, entry_of, link, longer
from scepter.physical.planning.linear_rules import CONSTANT, NODE, RIGHT, VALUE
from scepter.physical.planning.linear_rules import LEFT as CARRIED
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.words import fresh, pointer
from scepter.timeline import MIN_INSTANT

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BEGIN = -2
NUMBER, OPERATOR, NEGATED = 6, 7, 8
"""What else a step of an expression may be."""


class Arriving(NamedTuple):
    """Rows of the left side that are given, and the others in order of end: of which kind each is, and which row."""

    mappings: Mappings
    start: Int64
    end: Int64
    kinds: Int64
    rows: Int64


class Carrying(NamedTuple):
    """Rows that carry others on."""

    rights: Rights
    mappings: Mappings


class Recipe(NamedTuple):
    """How a derived row is made: of each column from where, and which there; which columns are its key."""

    kinds: Int64
    places: Int64
    keys: Int64
    constants: Mappings
    bound: int
    whole: bool
    gapped: bool
    """Whether something may stand between."""
    number: int
    """Tells the nodes of one rule from those of another."""
    reaching: bool
    """Whether somebody asks how far a row reaches back with what stands right before it."""


class Written(NamedTuple):
    """What is told of rows as they are written. `parents`: which row each carries on, and by what; -1 of one that is given.
    `reach`: the earliest start of what stands right before it, with nothing between, among rows like those of the gap."""

    parents: Int64
    reach: Int64


class Told(NamedTuple):
    """What tells derived rows apart, where more than one solution may make one; `key` is room for a row's, `needed` says of
    nodes whether two solutions may be one: where a mapping has come twice."""

    chains: Chains
    key: UInt64
    needed: Mask


@inlined
def _copy(to, row, column, of, at, place):  # type: ignore[no-untyped-def]
    to.ids[row, column] = of.ids[at, place]
    to.refs[row, column] = of.refs[at, place]
    to.number[row, column] = of.number[at, place]
    to.scale[row, column] = of.scale[at, place]


@inlined
def _is_new(told, row, lefts, table, grow):  # type: ignore[no-untyped-def]
    """Whether no row with this mapping and interval has been derived."""
    width = table.ids.shape[1]
    for j in range(width):
        told.key[0, j] = table.ids[row, j]
    told.key[0, width] = np.uint64(lefts.side.start[row])
    told.key[0, width + 1] = np.uint64(lefts.side.end[row])
    known = told.chains.sizes[0]
    entry = entry_of(told.chains, told.key, 0, grow)
    return entry == known or entry < 0


@inlined
def _is_new_pair(told, row, group, lefts):  # type: ignore[no-untyped-def]
    """Whether no row with the mapping and start of this one has been carried on by one with the mapping and end of that."""
    entry = entry_of(lefts.firsts, lefts.marks, row, False)
    told.key[0, 0] = np.uint64(row if entry < 0 else lefts.firsts.heads[entry])
    told.key[0, 1] = np.uint64(group)
    known = told.chains.sizes[0]
    return entry_of(told.chains, told.key, 0, True) == known


@inlined
def _link(lefts, row, table, recipe):  # type: ignore[no-untyped-def]
    """Make a row that is written findable."""
    for k in range(len(recipe.keys)):
        lefts.side.keys[row, k] = table.ids[row, recipe.keys[k]]
    mark = np.uint64(lefts.side.start[row]) * _MIX
    for j in range(table.ids.shape[1]):
        mark = (mark ^ (mark >> np.uint64(29)) ^ table.ids[row, j]) * _MIX
    lefts.marks[row, 0] = mark ^ (mark >> np.uint64(32))
    link_left(lefts, row, True)


@inner
def _reach(betweens, start, gone):  # type: ignore[no-untyped-def]
    """From when on there may be something right before a row, all rows of the gap being in one chain; as early as can be where
    that has been let go: `gone` is the latest end of what has."""
    side = betweens.side
    entry = side.chains.sizes[0] - 1
    if entry < 0:
        return MIN_INSTANT
    ends, following = pointer(side.end, 0), pointer(side.chains.following, 0)
    row = ended(ends, following, side.chains.heads[entry], True, start)
    if row < 0 or gone >= betweens.tops[row]:
        return MIN_INSTANT
    floor, found = betweens.tops[row], start
    while row >= 0 and side.end[row] >= floor:
        found = min(found, side.start[row])
        row = side.chains.following[row]
    return found


@inlined
def _name(number, start, end, mark, ids, at):  # type: ignore[no-untyped-def]
    """The id of a node: a hash of its rule, its interval, the row that was carried on and the one that carried it."""
    id = np.uint64(number)
    id = (id ^ (id >> np.uint64(29)) ^ np.uint64(start)) * _MIX
    id = (id ^ (id >> np.uint64(29)) ^ np.uint64(end)) * _MIX
    id = (id ^ (id >> np.uint64(29)) ^ mark) * _MIX
    for j in range(ids.shape[1]):
        id = (id ^ (id >> np.uint64(29)) ^ ids[at, j]) * _MIX
    return (id ^ (id >> np.uint64(32))) | np.uint64(1)


@njit(cache=True)
def carry_on(arriving, place, lefts, betweens, table, carrying, recipe, told, written):  # type: ignore[no-untyped-def]
    """Visit rows from `place` on: [which row, where in its chain, how far the gap reaches back, rows written, the latest end of
    what is gone from the gap]. False where there is no more room."""
    parents, reach = written
    marks = lefts.marks
    rights, between, left, given = carrying.rights, betweens.side, lefts.side, carrying.mappings
    # The arrays by themselves: each that is taken out of a tuple within the loop is counted, which costs more than the copy.
    starts, ends, first_end, keys, chains = left.start, left.end, lefts.first_end, left.keys, left.chains
    heads, following, entries, sizes = chains.heads, chains.following, chains.entry, chains.sizes
    left_ends, left_following = pointer(ends, 0), pointer(following, 0)
    gaps, gap_heads, gap_sizes, tops = between.chains, between.chains.heads, between.chains.sizes, betweens.tops
    gap_ends, gap_following = pointer(between.end, 0), pointer(between.chains.following, 0)
    right_keys, gap_keys, lasts = rights.keys, rights.gap_keys, rights.last
    ids, refs, number, scale = table.ids, table.refs, table.number, table.scale
    right_ids, right_refs, right_number, right_scale = given.ids, given.refs, given.number, given.scale
    kinds, places, bound, own_keys = recipe.kinds, recipe.places, recipe.bound, recipe.keys
    i, row, floor, size, gone = place[0], place[1], place[2], place[3], place[4]
    room, width = len(starts), ids.shape[1]
    while i < len(arriving.kinds):
        at = arriving.rows[i]
        if arriving.kinds[i] == BETWEEN:
            link(between, at, True, False)
            top(betweens, at)
            i += 1
            continue
        if arriving.kinds[i] == LEFT:
            if size == room:
                break
            for j in range(width):
                _copy(table, size, j, arriving.mappings, at, j)
            starts[size], ends[size] = arriving.start[at], arriving.end[at]
            if recipe.whole or _is_new(told, size, lefts, table, False):
                _link(lefts, size, table, recipe)
                if first_end[size] != ends[size]:
                    told.needed[0] = True
                parents[size, 0] = -1
                reach[size] = _reach(betweens, starts[size], gone) if recipe.reaching else MIN_INSTANT
                size += 1
            i += 1
            continue
        start, end = rights.start[at], rights.end[at]
        if row == _BEGIN:
            floor = MIN_INSTANT
            if recipe.gapped:
                entry = entry_of(gaps, gap_keys, at, False)
                if entry >= 0:
                    row = ended(gap_ends, gap_following, gap_heads[entry], gap_sizes[0] == 1, lasts[at])
                    if row >= 0:
                        floor = tops[row]
            entry = entry_of(chains, right_keys, at, False)
            row = np.int64(-1)
            if entry >= 0:
                row = ended(left_ends, left_following, heads[entry], sizes[0] == 1, start)
        full = False
        while row >= 0 and ends[row] >= floor and not longer(ends[row], end, bound):
            if first_end[row] >= floor and not longer(starts[row], end, bound):
                if size == room:
                    full = True
                    break
                node = np.uint64(0)
                if recipe.whole:
                    node = _name(recipe.number, starts[row], end, marks[row, 0], right_ids, at)
                for j in range(width):
                    kind, which = kinds[j], places[j]
                    if kind == CARRIED:
                        ids[size, j], refs[size, j] = ids[row, which], refs[row, which]
                        number[size, j], scale[size, j] = number[row, which], scale[row, which]
                    elif kind == RIGHT:
                        ids[size, j], refs[size, j] = right_ids[at, which], right_refs[at, which]
                        number[size, j], scale[size, j] = right_number[at, which], right_scale[at, which]
                    elif kind == CONSTANT:
                        _copy(table, size, j, recipe.constants, 0, which)
                    else:  # the text of a node, and what is computed, are made when somebody asks
                        ids[size, j] = node if kind == NODE else np.uint64(0)
                        refs[size, j], number[size, j], scale[size, j] = NO_REF, np.nan, NOT_A_NUMBER
                starts[size], ends[size] = starts[row], end
                if not recipe.whole:
                    is_new = _is_new(told, size, lefts, table, True)
                else:
                    is_new = not told.needed[0] or _is_new_pair(told, row, rights.group[at], lefts)
                if is_new and recipe.gapped and not recipe.whole:
                    _link(lefts, size, table, recipe)
                elif is_new:  # a new node is the first of its mapping, and without a gap nobody asks
                    same = True
                    for k in range(len(own_keys)):
                        keys[size, k] = ids[size, own_keys[k]]
                        same &= keys[size, k] == keys[row, k]
                    entry = entries[row] if same else entry_of(chains, keys, size, True)
                    entries[size], following[size], heads[entry] = entry, heads[entry], size
                    marks[size, 0], first_end[size] = node, end
                if is_new:
                    parents[size, 0], parents[size, 1], reach[size] = row, at, reach[row]
                    size += 1
            row = following[row]
        if full:
            break
        row = np.int64(_BEGIN)
        i += 1
    place[0], place[1], place[2], place[3] = i, row, floor, size
    return i == len(arriving.kinds)


class Figures(NamedTuple):
    """Numbers as units of a digit: [row, column] of each."""

    units: Int64
    digits: Int64
    kind: Int64


class Program(NamedTuple):
    """Expressions one after the other, each in the order in which a stack computes it: (what, which). `ends` are theirs, one
    for each column of figures; the first so many are the rule's values, the others only copy."""

    steps: Int64
    ends: Int64
    values: int


@njit(cache=True)
def figure(rows, parents, program, figures, rights, numbers, tenths):  # type: ignore[no-untyped-def]
    """What expressions give for derived rows, in the order in which they were derived. `figures` are those of all rows by their
    places, and are told here of derived ones. Returns whether all values are told."""
    deepest = len(program.steps) + 1
    units, digits, kinds = fresh(deepest, np.int64), fresh(deepest, np.int64), fresh(deepest, np.int64)
    steps, ends, told = program.steps, program.ends, True
    # The arrays by themselves, as in `carry_on`.
    own_units, own_digits, own_kind = figures.units, figures.digits, figures.kind
    right_units, right_digits, right_kind = rights.units, rights.digits, rights.kind
    number_units, number_digits, number_kind = numbers.units, numbers.digits, numbers.kind
    for i in range(len(rows)):
        row, parent, right = rows[i], parents[rows[i], 0], parents[rows[i], 1]
        step = 0
        for k in range(len(ends)):
            depth = 0
            while step < ends[k]:
                what, which = steps[step, 0], steps[step, 1]
                step += 1
                if what == OPERATOR:
                    a, b = depth - 2, depth - 1
                    units[a], digits[a], kinds[a] = figured(
                        which, units[a], digits[a], kinds[a], units[b], digits[b], kinds[b], tenths
                    )
                    depth -= 1
                    continue
                if what == NEGATED:
                    units[depth - 1] = -units[depth - 1]
                    continue
                if what in (CARRIED, VALUE):
                    at = parent if what == CARRIED else row
                    units[depth], digits[depth], kinds[depth] = own_units[at, which], own_digits[at, which], own_kind[at, which]
                elif what == RIGHT:
                    units[depth], digits[depth] = right_units[right, which], right_digits[right, which]
                    kinds[depth] = right_kind[right, which]
                else:
                    units[depth], digits[depth] = number_units[0, which], number_digits[0, which]
                    kinds[depth] = number_kind[0, which]
                depth += 1
            own_units[row, k], own_digits[row, k], own_kind[row, k] = units[0], digits[0], kinds[0]
            told &= kinds[0] != OPEN or k >= program.values
    return told


@njit(cache=True)
def long_enough(rows, reach, end, least):  # type: ignore[no-untyped-def]
    """Which rows are long enough with what may stand right before them."""
    found = fresh(len(rows), np.int64)
    count = 0
    for i in range(len(rows)):
        if longer(reach[rows[i]], end[rows[i]], least - 1):
            found[count] = i
            count += 1
    return found[:count]


@njit(cache=True)
def levels(rows, parents, found):  # type: ignore[no-untyped-def]
    """How many rows derived here stand between each and one that was there; `found` has room for all rows, and is 0."""
    for row in rows:
        found[row] = found[parents[row, 0]] + 1
