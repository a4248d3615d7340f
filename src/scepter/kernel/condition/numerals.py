"""Numbers that were computed, as terms: in canonical form, each written and hashed once however often it comes."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inlined
from scepter.kernel.condition.calculation import INTEGER, Amounts
from scepter.kernel.rows import Int64, Mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import XSD
from scepter.rdf.words import fresh

_ENDS: Final = tuple(np.frombuffer(f'"^^<{XSD}{name}>\n'.encode(), np.uint8).copy() for name in ("integer", "decimal"))
_LONGEST: Final = 20 + len(_ENDS[0])
_LEAST, _MOST = 1 << 10, 1 << 16
_MIX = np.uint64(0x9E3779B97F4A7C15)


class _Known(NamedTuple):
    """Which numbers were written. `slots` is an open-addressed table of entries (-1: free); an entry's place is its term's."""

    slots: Int64
    units: Int64
    others: Int64
    """Digits and kind."""
    size: Int64
    """[entries]."""


def _room(entries: int) -> _Known:
    slots = np.full(1 << int(2 * entries - 1).bit_length(), -1, np.int64)
    return _Known(slots, np.empty(entries, np.int64), np.empty(entries, np.int64), np.zeros(1, np.int64))


class Numerals:
    """The terms of numbers that come again and again, such as sums and counts; forgotten when there are too many, and when
    texts are compacted, which their refs would not survive."""

    def __init__(self, key: TermKey, texts: Texts) -> None:
        self._key, self._texts = key, texts
        self._forget()

    def _forget(self) -> None:
        self._compactions = self._texts.compactions
        self._known = _room(_LEAST)
        none = np.empty(0, np.int64)
        self._terms = Mappings(none.view(np.uint64), none, none.astype(np.float64), none.astype(np.int8))

    def terms(self, amounts: Amounts) -> Mappings:
        """Of numbers none of which is open."""
        many = len(amounts)
        self._make_room(many)
        known = len(self._terms[0])
        where, offsets = np.empty(many, np.int64), np.empty(many, np.int64)
        room = np.empty(many * _LONGEST + 8, np.uint8)
        size = _place(amounts.units, amounts.digits, amounts.kind, self._known, _ENDS, room, where, offsets)
        new = int(self._known.size[0]) - known
        if new:
            refs = self._texts.append_lines(room[:size].copy()) + offsets[:new]
            read = self._texts.read(refs, self._key)
            ids, refs_, number, scale = self._terms
            self._terms = Mappings(
                np.concatenate([ids, read.ids]), np.concatenate([refs_, refs]),
                np.concatenate([number, read.number]), np.concatenate([scale, read.scale]),
            )  # fmt: skip
        return self._terms.take(where)

    def _make_room(self, more: int) -> None:
        """Room for so many numbers that were not written before."""
        known = len(self._terms[0])
        if self._compactions != self._texts.compactions or known > _MOST:
            self._forget()
            known = 0
        if known + more > len(self._known.units):
            before, self._known = self._known, _room(2 * (known + more))
            _enter(before.units[:known], before.others[:known], self._known)


@inlined
def _write(units, digits, end, figures, out, at):  # type: ignore[no-untyped-def]
    """A number as a line of N-Triples; returns where it ends."""
    out[at] = 34  # a quotation mark
    at += 1
    rest = abs(units)
    if units < 0:
        out[at] = 45
        at += 1
    count = 0
    while rest > 0 or count <= digits:
        figures[count] = 48 + rest % 10
        rest //= 10
        count += 1
    for j in range(count - 1, -1, -1):
        out[at] = figures[j]
        at += 1
        if j == digits and j > 0:
            out[at] = 46
            at += 1
    for j in range(len(end)):
        out[at + j] = end[j]
    return at + len(end)


@inlined
def _slot(slots, units, others, number, other):  # type: ignore[no-untyped-def]
    """Where a number stands, or would."""
    mask = len(slots) - 1
    mixed = (np.uint64(number) ^ (np.uint64(other) << np.uint64(52))) * _MIX
    slot = np.int64(mixed >> np.uint64(20)) & mask
    while slots[slot] >= 0 and (units[slots[slot]] != number or others[slots[slot]] != other):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _enter(units, others, known):  # type: ignore[no-untyped-def]
    """Numbers that are all different."""
    for i in range(len(units)):
        known.slots[_slot(known.slots, known.units, known.others, units[i], others[i])] = i
        known.units[i], known.others[i] = units[i], others[i]
    known.size[0] = len(units)


@njit(cache=True)
def _place(units, digits, kind, known, ends, out, where, offsets):  # type: ignore[no-untyped-def]
    """Which entry each number has. Those that are new are written, one behind the other; returns where they end."""
    slots, numbers, others = known.slots, known.units, known.others
    integer, decimal = ends
    figures = fresh(20, np.uint8)
    at, new, size = 0, 0, known.size[0]
    for i in range(len(units)):
        number, other = units[i], 4 * digits[i] + kind[i]
        slot = _slot(slots, numbers, others, number, other)
        entry = slots[slot]
        if entry < 0:
            entry = size
            slots[slot], numbers[entry], others[entry] = entry, number, other
            size += 1
            offsets[new] = at
            new += 1
            at = _write(number, digits[i], integer if kind[i] == INTEGER else decimal, figures, out, at)
        where[i] = entry
    for j in range(8):  # texts are read by words
        out[at + j] = 10
    known.size[0] = size
    return at + 8
