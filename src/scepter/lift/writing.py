"""Terms written in bulk: a constant text, a column's value, a constant text; and of each its id and its number.

The kernels write N-Triples texts, each followed by a line feed, into a buffer that the caller allotted, and hash the canonical
form (`rdf.hashing`), so that a term has the id that it has in any other format.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lengthening import filled
from scepter.rdf.lexing import LF
from scepter.rdf.numerals import DATE_TIME, DATE_TIME_STAMP, INTEGER, STRING_TYPE, instant_of, number_of
from scepter.rdf.putting import COPY, IN_LABEL, NOT_IN_IRI, WHOLE_IRI, put
from scepter.rdf.words import load_word, pointer

WRITTEN, ABSENT, BAD_IRI, RELATIVE_IRI, ILL_TYPED = range(5)
"""What became of a value."""
BOOLEAN_TYPE: Final = 1 << 10
"""The code of xsd:boolean, beside those of `rdf.numerals`: its values are checked as numbers are."""
SLOTS: Final = 1 << 12
"""Values of a column whose terms are remembered; a power of two."""
_TRIED: Final = 2 * SLOTS
"""So many values of a column tell whether they repeat: less than one in `_WORTH`, and no more are looked for."""
_WORTH: Final = 8
_MIXING: Final = np.uint64(0x9E3779B97F4A7C15)


@inner
def _iri_fault(data: Any, low: Any, high: Any, prefixed: Any) -> Any:
    """Whether a value that is an IRI by itself is one: its characters, and a scheme before its first colon."""
    scheme = prefixed
    letters = True
    for i in range(low, high):
        byte = data[i]
        if NOT_IN_IRI[byte]:
            return BAD_IRI
        if not scheme:
            if byte == 58 and i > low and letters:
                scheme = True
            elif not (IN_LABEL[byte] or byte == 43 or byte == 45 or byte == 46):
                letters = False
    return WRITTEN if scheme else RELATIVE_IRI


@inner
def _put_bytes(text: Any, size: Any, out: Any, at: Any) -> Any:
    for i in range(size):
        out[at + i] = text[i]
    return at + size


@inner
def _known(data: Any, low: Any, high: Any, offsets: Any, known: Any) -> Any:
    """The slot of a value among those written before, and the row that wrote it; -1 if none did."""
    size = high - low
    mixed = np.uint64(size)
    if size < 8:
        for i in range(low, high):
            mixed = mixed * np.uint64(31) + np.uint64(data[i])
    else:
        for i in range(low, high - 8, 8):
            mixed = (mixed ^ load_word(data, i)) * _MIXING
            mixed ^= mixed >> np.uint64(32)
        mixed = (mixed ^ load_word(data, high - 8)) * _MIXING
        mixed ^= mixed >> np.uint64(32)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(SLOTS - 1))
    row = known[slot]
    if row < 0 or offsets[row + 1] - offsets[row] != size:
        return slot, np.int64(-1)
    before = offsets[row]
    for i in range(size):
        if data[before + i] != data[low + i]:
            return slot, np.int64(-1)
    return slot, row


class Values(NamedTuple):
    """A column, as the kernels take it."""

    data: Any
    offsets: Any
    valid: Any


class Around(NamedTuple):
    """The constant texts around a value, and what a relative IRI is put behind; each has a byte more than its text."""

    prefix: Any
    suffix: Any
    base: Any


class Written(NamedTuple):
    """What is written: the texts, room for one canonical form; of each term its id, its place, its number and what became of
    it; and of each value its term."""

    out: Any
    scratch: Any
    ids: Any
    places: Any
    number: Any
    scale: Any
    status: Any
    which: Any


@njit(cache=True, nogil=True)
def write_terms(values: Any, around: Any, mode: Any, code: Any, key: Any, made: Any) -> Any:
    """Writes prefix, value, suffix for each value; gives the bytes and the terms written. `code` is the datatype of literals.
    A relative IRI is put behind `base`, if there is one. A value that was written lately is not written again; those that are
    absent have one term, which is not good."""
    data, offsets, valid = pointer(values.data, 0), pointer(values.offsets, 0), pointer(values.valid, 0)
    prefix, prefix_size = pointer(around.prefix, 0), len(around.prefix) - 1
    suffix, suffix_size = pointer(around.suffix, 0), len(around.suffix) - 1
    base, base_size = pointer(around.base, 0), len(around.base) - 1
    out, scratch = pointer(made.out, 0), pointer(made.scratch, 0)
    ids, places, which = pointer(made.ids, 0), pointer(made.places, 0), pointer(made.which, 0)
    number, scale, status = pointer(made.number, 0), pointer(made.scale, 0), pointer(made.status, 0)
    remembered = filled(SLOTS, np.int64(-1))
    known = pointer(remembered, 0)
    low_key, high_key = key[0], key[1]
    at, terms, absent = 0, 0, -1
    for row in range(len(values.valid)):
        if not valid[row]:
            if absent < 0:
                absent = terms
                status[terms] = ABSENT
                terms += 1
            which[row] = absent
            continue
        low, high = offsets[row], offsets[row + 1]
        if row < _TRIED or terms * _WORTH < row * (_WORTH - 1):
            slot, before = _known(data, low, high, offsets, known)
            if before >= 0:
                which[row] = which[before]
                continue
            known[slot] = row
        term = terms
        which[row] = term
        terms += 1
        start = at
        at = _put_bytes(prefix, prefix_size, out, at)
        if mode == WHOLE_IRI:
            fault = _iri_fault(data, low, high, prefix_size > 1)
            if fault == RELATIVE_IRI and base_size:
                at = _put_bytes(base, base_size, out, at)
                fault = WRITTEN
            if fault:
                status[term] = fault
                at = start
                continue
        value_at = at
        plain = True
        if mode == COPY:
            for i in range(high - low):
                out[at + i] = data[low + i]
            at += high - low
        else:
            at, plain = put(data, low, high, mode, out, at)
        quote = at
        at = _put_bytes(suffix, suffix_size, out, at)
        places[term] = start
        if plain:
            ids[term] = hash_bytes(out, start, at, low_key, high_key)
        else:
            size = _put_bytes(prefix, prefix_size, scratch, 0)
            for i in range(low, high):
                scratch[size] = data[i]
                size += 1
            size = _put_bytes(suffix, suffix_size, scratch, size)
            ids[term] = hash_bytes(scratch, 0, size, low_key, high_key)
        out[at] = LF
        at += 1
        if code > STRING_TYPE and not _typed(out, value_at, quote, code, term, number, scale):
            status[term] = ILL_TYPED
    # a reference behind the last use: the slots live until here
    remembered[0] = at
    return at, terms


@inner
def _typed(out: Any, at: Any, end: Any, code: Any, term: Any, number: Any, scale: Any) -> Any:
    """Whether a lexical form is one of its datatype; its number is noted."""
    if code == BOOLEAN_TYPE:
        return (end - at == 1 and (out[at] == 48 or out[at] == 49)) or (
            (end - at == 4 and out[at] == 116 and out[at + 1] == 114 and out[at + 2] == 117 and out[at + 3] == 101)
            or (end - at == 5 and out[at] == 102 and out[at + 1] == 97 and out[at + 2] == 108 and out[at + 3] == 115
                and out[at + 4] == 101)
        )  # fmt: skip
    if code == DATE_TIME or code == DATE_TIME_STAMP:  # noqa: SIM109
        return instant_of(out, at, end, code)[0] == 1
    number[term], scale[term] = number_of(out, at, end, code)
    return scale[term] != NOT_A_NUMBER


@njit(cache=True, nogil=True)
def read_times(data: Any, offsets: Any, valid: Any, kinds: Any, times: Any) -> Any:
    """The instants of texts that are dateTimes (kind 1) or integers (kind 2); kind 0 for any other."""
    for row in range(len(valid)):
        kinds[row] = 0
        if valid[row]:
            kind, instant = instant_of(data, offsets[row], offsets[row + 1], DATE_TIME)
            if kind <= 0:
                kind, instant = instant_of(data, offsets[row], offsets[row + 1], INTEGER)
            kinds[row] = max(kind, 0)
            times[row] = instant


@njit(cache=True, nogil=True)
def join_columns(first: Any, first_mode: Any, middle: Any, second: Any, second_mode: Any, rows: Any, made: Any) -> Any:
    """A column of texts: a value of the first, a constant, a value of the second, each written in its mode."""
    out, bounds, present = made
    at = 0
    for i in range(len(bounds) - 1):
        bounds[i] = at
        a, b = rows[0][i], rows[1][i]
        present[i] = first.valid[a] and second.valid[b]
        if present[i]:
            at, _ = put(first.data, first.offsets[a], first.offsets[a + 1], first_mode, out, at)
            at = _put_bytes(middle, len(middle), out, at)
            at, _ = put(second.data, second.offsets[b], second.offsets[b + 1], second_mode, out, at)
    bounds[len(bounds) - 1] = at
    return at
