"""The compiled loops of rules that carry on what they derived, in one pass.

Rows are visited in order of end. One that comes later looks back along the chain of its key, as in a gap join, and each row it
finds is carried on: the new row is written behind the others, with its terms copied from both, and linked, so that later rows
find it. So rows stand in order of end, and in the order in which they were linked. Where there is no more room the loop stops,
and goes on from there (`Place`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.condition.calculation import OPEN, figured
from scepter.kernel.gap_join.gap_search import BETWEEN, LEFT, Rights, link_left, top
from scepter.kernel.rows import Float64, Int8, Int64, Mask, UInt64
from scepter.kernel.time_join.sweep import Chains, entry_of, link, longer
from scepter.physical.linear_rules import CONSTANT, RIGHT, VALUE
from scepter.physical.linear_rules import LEFT as CARRIED
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.timeline import MIN_INSTANT

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BEGIN = -2
NUMBER, OPERATOR, NEGATED = 6, 7, 8
"""What else a step of an expression may be."""


class Mappings(NamedTuple):
    """The columns of mappings."""

    ids: UInt64
    refs: Int64
    number: Float64
    scale: Int8


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


class Told(NamedTuple):
    """What tells derived rows apart, where more than one solution may make one; `key` is room for a row's, `needed` says of
    nodes whether two solutions may be one: where a mapping has come twice."""

    chains: Chains
    key: UInt64
    needed: Mask


@inner
def _copy(to, row, column, of, at, place):  # type: ignore[no-untyped-def]
    to.ids[row, column] = of.ids[at, place]
    to.refs[row, column] = of.refs[at, place]
    to.number[row, column] = of.number[at, place]
    to.scale[row, column] = of.scale[at, place]


@inner
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


@inner
def _is_new_pair(told, row, group, lefts):  # type: ignore[no-untyped-def]
    """Whether no row with the mapping and start of this one has been carried on by one with the mapping and end of that."""
    entry = entry_of(lefts.firsts, lefts.marks, row, False)
    told.key[0, 0] = np.uint64(row if entry < 0 else lefts.firsts.heads[entry])
    told.key[0, 1] = np.uint64(group)
    known = told.chains.sizes[0]
    return entry_of(told.chains, told.key, 0, True) == known


@inner
def _link(lefts, row, table, recipe, registered):  # type: ignore[no-untyped-def]
    """Make a row that is written findable; a new node is the first and only one of its mapping."""
    for k in range(len(recipe.keys)):
        lefts.side.keys[row, k] = table.ids[row, recipe.keys[k]]
    if not registered:
        lefts.marks[row, 0] = 0
        lefts.first_end[row] = lefts.side.end[row]
        link(lefts.side, row, True, False)
        return
    mark = (np.uint64(0) ^ np.uint64(lefts.side.start[row])) * _MIX
    for j in range(table.ids.shape[1]):
        mark = (mark ^ (mark >> np.uint64(29)) ^ table.ids[row, j]) * _MIX
    lefts.marks[row, 0] = mark ^ (mark >> np.uint64(32))
    link_left(lefts, row, True)


@njit(cache=True)
def carry_on(arriving, place, lefts, betweens, table, carrying, recipe, told, parents):  # type: ignore[no-untyped-def]
    """Visit rows from `place` on: [which row, where in its chain, how far the gap reaches back, rows written]. False where
    there is no more room. `parents` tells of each row written which one it carries on, and by what; -1 of one that is given."""
    rights, between, left = carrying.rights, betweens.side, lefts.side
    i, row, floor, size = place[0], place[1], place[2], place[3]
    room, width = len(lefts.side.start), table.ids.shape[1]
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
            left.start[size], left.end[size] = arriving.start[at], arriving.end[at]
            if recipe.whole or _is_new(told, size, lefts, table, False):
                _link(lefts, size, table, recipe, True)
                if lefts.first_end[size] != left.end[size]:
                    told.needed[0] = True
                parents[size, 0] = -1
                size += 1
            i += 1
            continue
        start, end = rights.start[at], rights.end[at]
        if row == _BEGIN:
            floor = MIN_INSTANT
            entry = entry_of(between.chains, rights.gap_keys, at, False)
            row = between.chains.heads[entry] if entry >= 0 else np.int64(-1)
            while row >= 0 and between.end[row] >= rights.last[at]:
                row = between.chains.following[row]
            if row >= 0:
                floor = betweens.tops[row]
            entry = entry_of(left.chains, rights.keys, at, False)
            row = left.chains.heads[entry] if entry >= 0 else np.int64(-1)
        full = False
        while row >= 0 and left.end[row] >= floor and not longer(left.end[row], end, recipe.bound):
            if left.end[row] < start and lefts.first_end[row] >= floor and not longer(left.start[row], end, recipe.bound):
                if size == room:
                    full = True
                    break
                for j in range(width):
                    kind, which = recipe.kinds[j], recipe.places[j]
                    if kind == CARRIED:
                        _copy(table, size, j, table, row, which)
                    elif kind == RIGHT:
                        _copy(table, size, j, carrying.mappings, at, which)
                    elif kind == CONSTANT:
                        _copy(table, size, j, recipe.constants, 0, which)
                    else:  # what is computed, and new nodes, come later
                        table.ids[size, j], table.refs[size, j] = 0, NO_REF
                        table.number[size, j], table.scale[size, j] = np.nan, NOT_A_NUMBER
                left.start[size], left.end[size] = left.start[row], end
                if recipe.whole:
                    is_new = not told.needed[0] or _is_new_pair(told, row, rights.group[at], lefts)
                else:
                    is_new = _is_new(told, size, lefts, table, True)
                if is_new:
                    _link(lefts, size, table, recipe, not recipe.whole)
                    parents[size, 0], parents[size, 1] = row, at
                    size += 1
            row = left.chains.following[row]
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
    """Expressions one after the other, each in the order in which a stack computes it: (what, which). `ends` are theirs."""

    steps: Int64
    ends: Int64
    kinds: Int64
    """From where a derived row has a column of the left side that some expression asks for, and which there."""
    places: Int64


@inner
def _figure(to, row, column, of, at, place):  # type: ignore[no-untyped-def]
    to.units[row, column] = of.units[at, place]
    to.digits[row, column] = of.digits[at, place]
    to.kind[row, column] = of.kind[at, place]


@njit(cache=True)
def figure(rows, parents, program, lefts, rights, numbers, values, tenths):  # type: ignore[no-untyped-def]
    """What expressions give for derived rows, in the order in which they were derived. `lefts` are the figures of all rows by
    their places, and are told here of derived ones; `values` are those of the derived. Returns whether all are told."""
    deepest = len(program.steps) + 1
    stack = Figures(np.empty((deepest, 1), np.int64), np.empty((deepest, 1), np.int64), np.empty((deepest, 1), np.int64))
    told = True
    for i in range(len(rows)):
        row, parent, right = rows[i], parents[rows[i], 0], parents[rows[i], 1]
        step = 0
        for k in range(len(program.ends)):
            depth = 0
            while step < program.ends[k]:
                what, which = program.steps[step, 0], program.steps[step, 1]
                if what == OPERATOR:
                    a, b = depth - 2, depth - 1
                    stack.units[a, 0], stack.digits[a, 0], stack.kind[a, 0] = figured(
                        which, stack.units[a, 0], stack.digits[a, 0], stack.kind[a, 0],
                        stack.units[b, 0], stack.digits[b, 0], stack.kind[b, 0], tenths,
                    )  # fmt: skip
                    depth -= 1
                elif what == NEGATED:
                    stack.units[depth - 1, 0] = -stack.units[depth - 1, 0]
                else:
                    if what == CARRIED:
                        _figure(stack, depth, 0, lefts, parent, which)
                    elif what == RIGHT:
                        _figure(stack, depth, 0, rights, right, which)
                    elif what == VALUE:
                        _figure(stack, depth, 0, values, i, which)
                    else:
                        _figure(stack, depth, 0, numbers, 0, which)
                    depth += 1
                step += 1
            _figure(values, i, k, stack, 0, 0)
            told &= stack.kind[0, 0] != OPEN
        for j in range(len(program.kinds)):
            kind, which = program.kinds[j], program.places[j]
            if kind == CARRIED:
                _figure(lefts, row, j, lefts, parent, which)
            elif kind == RIGHT:
                _figure(lefts, row, j, rights, right, which)
            elif kind == VALUE:
                _figure(lefts, row, j, values, i, which)
            else:
                _figure(lefts, row, j, numbers, 0, which)
    return told


@njit(cache=True)
def name_nodes(rows, parents, recipe, table, rights, values, times, number, nodes):  # type: ignore[no-untyped-def]
    """The id of each derived node, made of what its solution is: (kind, place) of each variable in `recipe`. A node that is
    carried on stands in its row by then, in the columns `nodes`."""
    for i in range(len(rows)):
        row, parent, right = rows[i], parents[rows[i], 0], parents[rows[i], 1]
        id = np.uint64(number)
        id = (id ^ (id >> np.uint64(29)) ^ np.uint64(times.start[row])) * _MIX
        id = (id ^ (id >> np.uint64(29)) ^ np.uint64(times.end[row])) * _MIX
        for j in range(len(recipe.kinds)):
            kind, which = recipe.kinds[j], recipe.places[j]
            term = np.uint64(0)
            if kind == CARRIED:
                term = table.ids[parent, which]
            elif kind == RIGHT:
                term = rights.ids[right, which]
            elif kind == VALUE:
                term = values[i, which]
            elif kind == CONSTANT:
                term = recipe.constants.ids[0, which]
            id = (id ^ (id >> np.uint64(29)) ^ term) * _MIX
        id ^= id >> np.uint64(32)
        for column in nodes:
            table.ids[row, column] = id | np.uint64(1)


@njit(cache=True)
def levels(rows, parents, found):  # type: ignore[no-untyped-def]
    """How many rows derived here stand between each and one that was there; `found` has room for all rows, and is 0."""
    for row in rows:
        found[row] = found[parents[row, 0]] + 1
