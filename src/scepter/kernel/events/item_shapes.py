"""The shape of items: what they say, with numbers for names that nothing else tells apart.

What rules can say about an item depends on its triples and on the static assertions connected with them. Where those are few
(a sensor and its room), items about different ones have the same shape and are reasoned over once. Names that axioms speak of,
and those of large neighbourhoods, stay as they are. `ontology.shapes` does the same for one item as terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.rows import Int64, Mask, UInt64
from scepter.kernel.static.graph_columns import GraphColumns
from scepter.rdf.words import fresh, zeroed

NEAR = 12
"""Static assertions around a node beyond which it keeps its name."""
_MOST = 256
"""Names of an item, or static assertions around it, beyond which it counts as it stands."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
_NUMBERED, _KEPT, _LITERAL = 0, 1, 2


class Surrounding(NamedTuple):
    """The static assertions that rules can use, by the nodes that they are about."""

    nodes: UInt64
    """In order."""
    first: Int64
    """Per node, plus one: where its rows begin."""
    rows: Int64
    kept: Mask
    """Per node: whether it keeps its name whatever is around it."""
    ids: UInt64
    """[row, position]."""
    types: Mask
    """Per row: whether it says what its subject is."""
    literal: Mask
    """Per row: whether its object is one."""


class ItemTriples(NamedTuple):
    """The triples of a batch of items."""

    first: Int64
    subject: UInt64
    predicate: UInt64
    object: UInt64
    used: Mask
    types: Mask
    literal: Mask


class Shapes(NamedTuple):
    """Per item its key; and the static assertions that its shape includes, item after item."""

    keys: UInt64
    first: Int64
    rows: Int64


def surrounding(columns: GraphColumns, type_id: np.uint64, kept: UInt64, typed: bool) -> Surrounding:
    """An index of static assertions; `kept` are nodes that axioms speak of, `typed` says whether literals are told apart."""
    types = columns.ids[:, 1] == type_id
    own = np.concatenate([np.arange(len(columns)), np.flatnonzero(~types)])
    node = np.concatenate([columns.ids[:, 0], columns.ids[~types, 2]])
    order = np.lexsort((own, columns.ids[own, 1], node))
    nodes, first = np.unique(node[order], return_index=True)
    held = np.isin(nodes, kept)
    if typed:
        held |= np.isin(nodes, columns.ids[columns.literal, 2])
    return Surrounding(
        nodes, np.append(first, len(node)).astype(np.int64), own[order], held, columns.ids, types, columns.literal
    )


def item_shapes(events: Int64, triples: ItemTriples, kept: Mask, wholly: Mask, around: Surrounding) -> Shapes:
    """The shapes of some items. `kept`: [triple, subject or object] whether a name stays; `wholly`: per item whether all do."""
    return Shapes(*_shapes(events, tuple(triples), kept, wholly, tuple(around)))


@njit(cache=True, inline="always")
def _mix(key, word):  # type: ignore[no-untyped-def]
    key = (key ^ word) * _MIX
    return key ^ (key >> _SHIFT)


@inner
def _number(names, count, name):  # type: ignore[no-untyped-def]
    for i in range(count):
        if names[i] == name:
            return i
    return -1


@inner
def _reach(name, around, found, seen):  # type: ignore[no-untyped-def]
    """Write the rows around a node, from near to far, to `found`; how many, or -1 if it has to keep its name."""
    seen[0] = name
    known, rows, at = 1, 0, 0
    while at < known:
        place = np.searchsorted(around.nodes, seen[at])
        if place < len(around.nodes) and around.nodes[place] == seen[at]:
            if around.kept[place]:
                return -1
            for i in range(around.first[place], around.first[place + 1]):
                row = around.rows[i]
                if _number(found, rows, row) >= 0:
                    continue
                if rows == NEAR:
                    return -1
                found[rows] = row
                rows += 1
                for position in range(0, 1 if around.types[row] else 3, 2):
                    if _number(seen, known, around.ids[row, position]) < 0:
                        seen[known] = around.ids[row, position]
                        known += 1
        at += 1
    return rows


@njit(cache=True)
def _shapes(events, triples_, kept, wholly, around_):  # type: ignore[no-untyped-def]
    triples, around = ItemTriples(*triples_), Surrounding(*around_)
    keys = fresh(len(events), np.uint64)
    first = zeroed(len(events) + 1, np.int64)
    rows = fresh(max(64, len(events)), np.int64)
    names, states = fresh(_MOST, np.uint64), fresh(_MOST, np.int8)
    found, seen = fresh(NEAR, np.int64), fresh(2 * NEAR + 1, np.uint64)
    size = 0
    for i in range(len(events)):
        low, high = triples.first[events[i]], triples.first[events[i] + 1]
        begin, count, whole = size, 0, wholly[events[i]]
        for row in range(low, high):
            if whole or not triples.used[row]:
                continue
            for end in range(1 if triples.types[row] else 2):
                name = triples.subject[row] if end == 0 else triples.object[row]
                if kept[row, end] or _number(names, count, name) >= 0:
                    continue
                near = _reach(name, around, found, seen)
                if count + 2 * NEAR + 1 > _MOST or size - begin + NEAR > _MOST:
                    whole = True
                    break
                names[count] = name
                states[count] = _KEPT if near < 0 else _LITERAL if end == 1 and triples.literal[row] else _NUMBERED
                count += 1
                for j in range(near):
                    if size == len(rows):
                        grown = fresh(2 * len(rows), np.int64)
                        for k in range(size):
                            grown[k] = rows[k]
                        rows = grown
                    rows[size] = found[j]
                    size += 1
                    for position in range(0, 1 if around.types[found[j]] else 3, 2):
                        other = around.ids[found[j], position]
                        if _number(names, count, other) < 0:
                            names[count] = other
                            states[count] = _LITERAL if position == 2 and around.literal[found[j]] else _NUMBERED
                            count += 1
        key = np.uint64(2) if whole else np.uint64(1)
        if whole:
            size = begin
        for row in range(low, high):
            if triples.used[row]:
                key = _mix(key, triples.predicate[row])
                key = _name_key(key, triples.subject[row], whole or kept[row, 0], names, states, count)
                plain = whole or triples.types[row] or kept[row, 1]
                key = _name_key(key, triples.object[row], plain, names, states, count)
        for at in range(begin, size):
            static = rows[at]
            key = _mix(key, around.ids[static, 1])
            key = _name_key(key, around.ids[static, 0], False, names, states, count)
            key = _name_key(key, around.ids[static, 2], around.types[static], names, states, count)
        keys[i] = key
        first[i + 1] = size
    return keys, first, rows[:size]


@inner
def _name_key(key, name, plain, names, states, count):  # type: ignore[no-untyped-def]
    place = -1 if plain else _number(names, count, name)
    if place < 0 or states[place] == _KEPT:
        return _mix(_mix(key, np.uint64(7)), name)
    return _mix(_mix(key, np.uint64(11 + states[place])), np.uint64(place))
