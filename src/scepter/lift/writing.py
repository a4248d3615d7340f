"""Terms written in bulk: a constant text, a column's value, a constant text; and of each its id and its number.

The kernels write N-Triples texts, each followed by a line feed, into a buffer that the caller allotted, and hash the canonical
form (`rdf.hashing`), so that a term has the id that it has in any other format.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import LF
from scepter.rdf.numerals import DATE_TIME, DATE_TIME_STAMP, INTEGER, STRING_TYPE, instant_of, number_of
from scepter.rdf.putting import IN_LABEL, NOT_IN_IRI, WHOLE_IRI, put
from scepter.rdf.words import pointer

WRITTEN, ABSENT, BAD_IRI, RELATIVE_IRI, ILL_TYPED = range(5)
"""What became of a value."""
BOOLEAN_TYPE: Final = 1 << 10
"""The code of xsd:boolean, beside those of `rdf.numerals`: its values are checked as numbers are."""
SLOTS: Final = 1 << 12
"""Values of a column whose terms are remembered; a power of two."""


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
    for i in range(low, high):
        mixed = mixed * np.uint64(31) + np.uint64(data[i])
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(SLOTS - 1))
    row = known[slot]
    if row < 0 or offsets[row + 1] - offsets[row] != size:
        return slot, np.int64(-1)
    before = offsets[row]
    for i in range(size):
        if data[before + i] != data[low + i]:
            return slot, np.int64(-1)
    return slot, row


@njit(cache=True, nogil=True)
def write_terms(
    data: Any, offsets: Any, valid: Any, mode: Any, prefix: Any, suffix: Any, base: Any, code: Any, key: Any, out: Any, at: Any,
    scratch: Any, ids: Any, places: Any, number: Any, scale: Any, status: Any,
) -> Any:  # fmt: skip
    """Writes prefix, value, suffix for each value; gives the place behind the last. `code` is the datatype of literals. A
    relative IRI is put behind `base`, if there is one. A value that was written lately is not written again."""
    known = np.full(SLOTS, -1, np.int64)
    return _write_terms(
        pointer(data, 0), pointer(offsets, 0), pointer(valid, 0), len(valid), mode, pointer(prefix, 0), len(prefix) - 1,
        pointer(suffix, 0), len(suffix) - 1, pointer(base, 0), len(base) - 1, code, key[0], key[1], pointer(out, 0), at,
        pointer(scratch, 0), pointer(ids, 0), pointer(places, 0), pointer(number, 0), pointer(scale, 0), pointer(status, 0),
        pointer(known, 0),
    )  # fmt: skip


@inner
def _write_terms(
    data: Any, offsets: Any, valid: Any, count: Any, mode: Any, prefix: Any, prefix_size: Any, suffix: Any, suffix_size: Any,
    base: Any, base_size: Any, code: Any, low_key: Any, high_key: Any, out: Any, at: Any, scratch: Any, ids: Any, places: Any,
    number: Any, scale: Any, status: Any, known: Any,
) -> Any:  # fmt: skip
    for row in range(count):
        if not valid[row]:
            status[row] = ABSENT
            continue
        low, high = offsets[row], offsets[row + 1]
        slot, before = _known(data, low, high, offsets, known)
        if before >= 0:
            ids[row], places[row], number[row] = ids[before], places[before], number[before]
            scale[row], status[row] = scale[before], status[before]
            continue
        known[slot] = row
        start = at
        at = _put_bytes(prefix, prefix_size, out, at)
        if mode == WHOLE_IRI:
            fault = _iri_fault(data, low, high, prefix_size > 1)
            if fault == RELATIVE_IRI and base_size:
                at = _put_bytes(base, base_size, out, at)
                fault = WRITTEN
            if fault:
                status[row] = fault
                at = start
                continue
        value_at = at
        at, plain = put(data, low, high, mode, out, at)
        quote = at
        at = _put_bytes(suffix, suffix_size, out, at)
        places[row] = start
        if plain:
            ids[row] = hash_bytes(out, start, at, low_key, high_key)
        else:
            size = _put_bytes(prefix, prefix_size, scratch, 0)
            for i in range(low, high):
                scratch[size] = data[i]
                size += 1
            size = _put_bytes(suffix, suffix_size, scratch, size)
            ids[row] = hash_bytes(scratch, 0, size, low_key, high_key)
        out[at] = LF
        at += 1
        if code > STRING_TYPE and not _typed(out, value_at, quote, code, row, number, scale):
            status[row] = ILL_TYPED
    return at


@inner
def _typed(out: Any, at: Any, end: Any, code: Any, row: Any, number: Any, scale: Any) -> Any:
    """Whether a lexical form is one of its datatype; its number is noted."""
    if code == BOOLEAN_TYPE:
        return (end - at == 1 and (out[at] == 48 or out[at] == 49)) or (
            (end - at == 4 and out[at] == 116 and out[at + 1] == 114 and out[at + 2] == 117 and out[at + 3] == 101)
            or (end - at == 5 and out[at] == 102 and out[at + 1] == 97 and out[at + 2] == 108 and out[at + 3] == 115
                and out[at + 4] == 101)
        )  # fmt: skip
    if code == DATE_TIME or code == DATE_TIME_STAMP:  # noqa: SIM109
        return instant_of(out, at, end, code)[0] == 1
    number[row], scale[row] = number_of(out, at, end, code)
    return scale[row] != NOT_A_NUMBER


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
def join_columns(
    data: Any, offsets: Any, valid: Any, mode: Any, middle: Any, more: Any, more_offsets: Any, more_valid: Any, more_mode: Any,
    rows: Any, more_rows: Any, out: Any, bounds: Any, present: Any,
) -> Any:  # fmt: skip
    """A column of texts: a value of the first, a constant, a value of the second, each written in its mode."""
    at = 0
    for i in range(len(rows)):
        bounds[i] = at
        a, b = rows[i], more_rows[i]
        present[i] = valid[a] and more_valid[b]
        if present[i]:
            at, _ = put(data, offsets[a], offsets[a + 1], mode, out, at)
            at = _put_bytes(middle, len(middle), out, at)
            at, _ = put(more, more_offsets[b], more_offsets[b + 1], more_mode, out, at)
    bounds[len(rows)] = at
    return at


@njit(cache=True, nogil=True)
def count_triples(owner: Any, good: Any, counts: Any) -> Any:
    """Adds the triples of a block to the counts of their rows."""
    for i in range(len(owner)):
        if good[i]:
            counts[owner[i]] += 1


@njit(cache=True, nogil=True)
def place_triples(
    owner: Any, good: Any, cursor: Any, at: Any, ids: Any, places: Any, term_ids: Any, term_places: Any, column: Any,
) -> Any:  # fmt: skip
    """Copies the terms of a block's subjects, predicates or objects to the rows of the batch; `at` says which term each has."""
    for i in range(len(owner)):
        if good[i]:
            row = cursor[i]
            ids[column, row] = term_ids[at[i]]
            places[column, row] = term_places[at[i]]


@njit(cache=True, nogil=True)
def rows_of(owner: Any, good: Any, cursor: Any, rows: Any) -> Any:
    """Gives each triple of a block its row in the batch, and moves the cursors of its event's rows on."""
    for i in range(len(owner)):
        if good[i]:
            rows[i] = cursor[owner[i]]
            cursor[owner[i]] += 1


@njit(cache=True, nogil=True)
def place_numbers(good: Any, rows: Any, at: Any, number: Any, scale: Any, numbers: Any, scales: Any) -> Any:
    """Copies the numbers of a block's objects."""
    for i in range(len(rows)):
        if good[i]:
            numbers[rows[i]] = number[at[i]]
            scales[rows[i]] = scale[at[i]]


@njit(cache=True, nogil=True)
def drop_repeated(first: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    """An event's triples are a set: keeps the first of equal ones; `first` is brought up to date. Gives the rows left."""
    out = 0
    for event in range(len(first) - 1):
        low, high = first[event], first[event + 1]
        begin = out
        size = 1
        while size < 2 * (high - low):
            size *= 2
        table = np.zeros(size if high - low > 16 else 1, np.int64)
        for row in range(low, high):
            repeated = False
            if high - low > 16:
                slot = np.int64(
                    (ids[0, row] ^ (ids[1, row] * np.uint64(3)) ^ (ids[2, row] * np.uint64(5))) & np.uint64(size - 1)
                )
                while table[slot]:
                    other = table[slot] - 1
                    if ids[0, other] == ids[0, row] and ids[1, other] == ids[1, row] and ids[2, other] == ids[2, row]:
                        repeated = True
                        break
                    slot = (slot + 1) & (size - 1)
                if not repeated:
                    table[slot] = out + 1
            else:
                for other in range(begin, out):
                    if ids[0, other] == ids[0, row] and ids[1, other] == ids[1, row] and ids[2, other] == ids[2, row]:
                        repeated = True
                        break
            if not repeated:
                for column in range(3):
                    ids[column, out] = ids[column, row]
                    places[column, out] = places[column, row]
                number[out] = number[row]
                scale[out] = scale[row]
                out += 1
        first[event] = begin
    first[len(first) - 1] = out
    return out
