"""Frames of Jelly laid out as N-Quads: protobuf walked byte by byte, strings copied from the lookup tables, no objects.

Each term that a statement gives anew is written once into the slot of its position (`slots`), since the statements behind it
may leave it out and mean the same; the line of a statement is put together from the slots. A statement whose predicate nobody
asks for is not written at all, unless it is the first of its frame, subject or graph: then it stands for an event that is
there.

Field numbers are those of the protocol (https://w3id.org/jelly, rdf.proto). Indices into the tables begin with 1; an IRI
without a name's index takes the one behind the last, without a prefix's the last again.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import LF, SPACE
from scepter.rdf.putting import IN_IRI, LABEL, LITERAL, NOT_IN_IRI, put
from scepter.rdf.scanner import wanted
from scepter.rdf.words import pointer

SUBJECT, PREDICATE, OBJECT, GRAPH = range(4)
NAMES, PREFIXES, DATATYPES = range(3)
ENTRIES: Final = 1 << 16
"""How many entries a lookup table has at most."""

# The state of a stream: what its frames build upon, and how far a call came.
(LAST_PREFIX, LAST_NAME, NEW_NAME, NEW_PREFIX, NEW_DATATYPE, LOGICAL, TABLE_SIZE, SIZE, LINES, FRAMES, FAULTS, CONSUMED,
 FIRST, STATED, IN_GRAPH, BAD, STRIDE, ROOM, TABLE, TIMES) = range(20)  # fmt: skip
STATE: Final = 20
TRUNCATED, NO_ENTRY, TRIPLE_TERM, GENERALIZED, BAD_TAG, NO_TERM, TOO_NEW, TOO_LARGE = range(1, 9)
"""Why a frame is not used."""
_NEWEST: Final = 2
_PLAIN, _ESCAPED = 1, 2
"""Whether an entry is written into IRIs as it stands."""
_VARINT, _BYTES, _WORD64, _WORD32 = 0, 2, 1, 5
_SPARE: Final = 32
"""More than the blanks of a line and a delimiter take."""
_MESSAGE: Final = tuple(b"MESSAGE\n")


@njit(cache=True, nogil=True)
def is_flat(logical: Any) -> Any:
    """Whether frames of a logical type mean nothing: their statements are one long document."""
    return logical % 10 == 1 or logical % 10 == 2


@inner
def _varint(data: Any, at: Any, end: Any) -> Any:
    """(the value, the place behind it), the place -1 where the data end too early."""
    value, shift = np.int64(0), np.int64(0)
    while at < end and shift < 63:
        byte = np.int64(data[at])
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    return np.int64(0), np.int64(-1)


@inner
def _field(data: Any, at: Any, end: Any) -> Any:
    """(its number, its value or where it begins, where it ends), the end -1 where it is cut off."""
    if at + 1 < end and data[at] < 0x80 and data[at + 1] < 0x80:  # a short value of a low number, as nearly all are
        number, kind, value = np.int64(data[at] >> 3), data[at] & 7, np.int64(data[at + 1])
        if kind == _VARINT:
            return number, value, at + 2
        if kind == _BYTES and at + 2 + value <= end:
            return number, at + 2, at + 2 + value
    key, at = _varint(data, at, end)
    if at < 0:
        return np.int64(0), np.int64(0), np.int64(-1)
    number, kind = key >> 3, key & 7
    if kind == _VARINT:
        value, at = _varint(data, at, end)
        return number, value, at
    if kind == _BYTES:
        size, at = _varint(data, at, end)
        if at < 0 or size > end - at:
            return number, np.int64(0), np.int64(-1)
        return number, at, at + size
    size = 8 if kind == _WORD64 else 4 if kind == _WORD32 else end
    return (number, at, at + size) if at + size <= end else (number, np.int64(0), np.int64(-1))


@inner
def _entry(data: Any, at: Any, end: Any, which: Any, tables: Any, texts: Any, state: Any) -> Any:
    """Takes an entry of a lookup table; a fault if it is none."""
    index, value, value_end = np.int64(0), np.int64(0), np.int64(0)
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return TRUNCATED
        if number == 1:
            index = found
        elif number == 2:
            value, value_end = found, at
    last = NEW_NAME + which
    index = state[last] + 1 if index == 0 else index
    if index >= ENTRIES:
        return NO_ENTRY
    state[last] = index
    row = 4 * (which * ENTRIES + index)
    size = state[TABLE_SIZE]
    tables[row] = size
    tables[row + 1] = value_end - value
    tables[row + 2] = _PLAIN
    tables[row + 3] += 1  # what was made of the entry before is no longer so
    for i in range(value_end - value):
        texts[size + i] = data[value + i]
        if NOT_IN_IRI[data[value + i]]:
            tables[row + 2] = _ESCAPED
    state[TABLE_SIZE] = size + value_end - value
    return 0


@inner
def _written(row: Any, tables: Any, texts: Any, out: Any, at: Any) -> Any:
    """Writes the text of an entry; gives the place behind it."""
    begin, size = tables[row], tables[row + 1]
    if tables[row + 2] == _ESCAPED:
        at, _ = put(texts, begin, begin + size, IN_IRI, out, at)
        return at
    for i in range(size):
        out[at + i] = texts[begin + i]
    return at + size


@inner
def _iri(data: Any, at: Any, end: Any, tables: Any, texts: Any, out: Any, base: Any, state: Any) -> Any:
    """Writes an IRI; (its size or minus a fault, the row of its name, the row of its prefix)."""
    prefix, name = np.int64(0), np.int64(0)
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return np.int64(-TRUNCATED), np.int64(0), np.int64(0)
        if number == 1:
            prefix = found
        elif number == 2:
            name = found
    prefix = state[LAST_PREFIX] if prefix == 0 else prefix
    name = state[LAST_NAME] + 1 if name == 0 else name
    if prefix >= ENTRIES or name >= ENTRIES:
        return np.int64(-NO_ENTRY), np.int64(0), np.int64(0)
    state[LAST_PREFIX] = prefix
    state[LAST_NAME] = name
    named = 4 * (NAMES * ENTRIES + name)
    begun = 4 * (PREFIXES * ENTRIES + prefix)
    if not tables[named + 2] or (prefix and not tables[begun + 2]):
        return np.int64(-NO_ENTRY), np.int64(0), np.int64(0)
    out[base] = 60
    at = base + 1
    if prefix:
        at = _written(begun, tables, texts, out, at)
    at = _written(named, tables, texts, out, at)
    out[at] = 62
    return at + 1 - base, named, begun


@inner
def _literal(data: Any, at: Any, end: Any, tables: Any, texts: Any, out: Any, base: Any) -> Any:
    """Writes a literal; its size or minus a fault."""
    low, high, tag, tag_end, datatype = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return np.int64(-TRUNCATED)
        if number == 1:
            low, high = found, at
        elif number == 2:
            tag, tag_end = found, at
        elif number == 3:
            datatype = found
    out[base] = 34
    size, _ = put(data, low, high, LITERAL, out, base + 1)
    out[size] = 34
    size += 1
    if tag_end > tag:
        out[size] = 64
        size += 1
        for i in range(tag, tag_end):
            byte = data[i]
            if not (65 <= byte <= 90 or 97 <= byte <= 122 or 48 <= byte <= 57 or byte == 45):
                return np.int64(-BAD_TAG)
            out[size] = byte
            size += 1
    elif datatype >= 0:
        row = 4 * (DATATYPES * ENTRIES + datatype)
        if datatype == 0 or datatype >= ENTRIES or not tables[row + 2]:
            return np.int64(-NO_ENTRY)
        out[size] = 94
        out[size + 1] = 94
        out[size + 2] = 60
        size = _written(row, tables, texts, out, size + 3)
        out[size] = 62
        size += 1
    return size - base


@inner
def _label(data: Any, at: Any, end: Any, out: Any, base: Any) -> Any:
    """Writes the label of a blank node; its size."""
    out[base] = 95
    out[base + 1] = 58
    out[base + 2] = 98
    size, _ = put(data, at, end, LABEL, out, base + 3)
    return size - base


@inner
def _term(
    data: Any, at: Any, end: Any, kind: Any, position: Any, tables: Any, texts: Any, slots: Any, sizes: Any, asked: Any,
    key: Any, table: Any, table_size: Any, prune: Any, time_ids: Any, times: Any, state: Any,
) -> Any:  # fmt: skip
    """Writes the term of a position; a fault if there is one. Of a predicate it is noted whether somebody asks for it, once for
    each pair of a name and a prefix."""
    base = position * state[STRIDE]
    size = np.int64(0)
    if kind == 0:
        size, named, begun = _iri(data, at, end, tables, texts, slots, base, state)
        if position == PREDICATE and size > 0:
            note = 3 * (named >> 2)
            stamp = tables[named + 3] * ENTRIES + tables[begun + 3]
            if asked[note] != begun + 1 or asked[note + 1] != stamp:
                id = hash_bytes(slots, base, base + size, key[0], key[1])
                found = not prune or wanted(table, table_size, id)
                for i in range(times):
                    found = found or time_ids[i] == id
                asked[note] = begun + 1
                asked[note + 1] = stamp
                asked[note + 2] = found
            state[STATED] = asked[note + 2]
    elif kind == 1:
        if position == PREDICATE:
            return GENERALIZED
        size = _label(data, at, end, slots, base)
    elif kind == 2:
        if position != OBJECT:
            return GENERALIZED
        size = _literal(data, at, end, tables, texts, slots, base)
    else:
        return TRIPLE_TERM
    if size < 0:
        return -size
    sizes[position] = size
    return 0


@inner
def _graph(data: Any, at: Any, end: Any, kind: Any, tables: Any, texts: Any, slots: Any, sizes: Any, state: Any) -> Any:
    """Writes the name of a graph, nothing for the default graph; a fault if there is one."""
    if kind == 2:
        sizes[GRAPH] = 0
        return 0
    if kind == 3:
        return GENERALIZED
    base = GRAPH * state[STRIDE]
    if kind == 0:
        size, _, _ = _iri(data, at, end, tables, texts, slots, base, state)
        if size < 0:
            return -size
    else:
        size = _label(data, at, end, slots, base)
    sizes[GRAPH] = size
    return 0


@inner
def _copy(slots: Any, base: Any, length: Any, out: Any, size: Any) -> Any:
    for i in range(length):
        out[size + i] = slots[base + i]
    size += length
    out[size] = SPACE
    return size + 1


@inner
def _line(slots: Any, sizes: Any, out: Any, size: Any, stride: Any) -> Any:
    """Writes the statement of the slots."""
    for position in range(4):
        if sizes[position]:
            size = _copy(slots, position * stride, sizes[position], out, size)
    out[size] = 46
    out[size + 1] = LF
    return size + 2


@inner
def _options(data: Any, at: Any, end: Any, state: Any) -> Any:
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return TRUNCATED
        if number == 14:
            state[LOGICAL] = found
        elif number == 15 and found > _NEWEST:
            return TOO_NEW
    return 0


@inner
def _statement(
    data: Any, at: Any, end: Any, quads: Any, tables: Any, texts: Any, slots: Any, sizes: Any, asked: Any,
    key: Any, table: Any, prune: Any, time_ids: Any, out: Any, state: Any,
) -> Any:  # fmt: skip
    """Reads a triple or a quad, and writes its line if somebody asks for it; a fault if it is malformed."""
    fresh = False
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return TRUNCATED
        position, kind = (number - 1) >> 2, (number - 1) & 3
        if position < 0 or position > GRAPH:
            continue
        fault = 0
        if position == GRAPH:
            fault = _graph(data, found, at, kind, tables, texts, slots, sizes, state)
        else:
            fault = _term(
                data, found, at, kind, position, tables, texts, slots, sizes, asked,
                key, table, state[TABLE], prune, time_ids, state[TIMES], state,
            )  # fmt: skip
        if fault:
            return fault
        if position == SUBJECT or position == GRAPH:  # noqa: SIM109
            fresh = True
    if not (sizes[SUBJECT] and sizes[PREDICATE] and sizes[OBJECT]):
        return NO_TERM
    if not quads and not state[IN_GRAPH]:
        sizes[GRAPH] = 0
    if fresh or state[FIRST] or state[STATED]:
        if state[SIZE] + sizes[SUBJECT] + sizes[PREDICATE] + sizes[OBJECT] + sizes[GRAPH] + _SPARE > state[ROOM]:
            return TOO_LARGE
        state[SIZE] = _line(slots, sizes, out, state[SIZE], state[STRIDE])
        state[LINES] += 1
        state[FIRST] = 0
    return 0


@inner
def _row(
    data: Any, at: Any, end: Any, tables: Any, texts: Any, slots: Any, sizes: Any, asked: Any,
    key: Any, table: Any, prune: Any, time_ids: Any, out: Any, state: Any,
) -> Any:  # fmt: skip
    """Reads a row of a frame; a fault if it is malformed."""
    while at < end:
        number, found, at = _field(data, at, end)
        if at < 0:
            return TRUNCATED
        fault = 0
        if number == 2 or number == 3:
            fault = _statement(data, found, at, number == 3, tables, texts, slots, sizes, asked, key, table, prune, time_ids,
                               out, state)  # fmt: skip
        elif number >= 9 and number <= 11:
            fault = _entry(data, found, at, number - 9, tables, texts, state)
        elif number == 1:
            fault = _options(data, found, at, state)
        elif number == 4:
            state[IN_GRAPH] = 1
            state[FIRST] = 1
            sizes[GRAPH] = 0
            if found < at:
                inner, begun, ended = _field(data, found, at)
                fault = TRUNCATED if ended < 0 else _graph(data, begun, ended, inner - 1, tables, texts, slots, sizes, state)
        elif number == 5:
            state[IN_GRAPH] = 0
            sizes[GRAPH] = 0
        if fault:
            return fault
    return 0


@njit(cache=True, nogil=True)
def lay_out(
    data: Any, end: Any, delimited: Any, tables: Any, texts: Any, slots: Any, sizes: Any, asked: Any,
    key: Any, table: Any, prune: Any, time_ids: Any, out: Any, enough: Any, lines: Any, faults: Any, state: Any,
) -> Any:  # fmt: skip
    """Writes the whole frames of `data[:end]` as lines to `out`, each but those of flat streams with a delimiter behind it;
    `lines` takes the line that each frame begins on, `faults` a code and the number of each frame that is not used. CONSUMED
    says how far the frames reach; BAD is set where nothing behind them can be read either. A call ends where `enough` is
    written."""
    state[STRIDE] = slots.shape[1]
    state[ROOM] = len(out)
    state[TABLE] = len(table)
    state[TIMES] = len(time_ids)
    # numba counts references of arrays at every call, which costs more than the work on a term
    _lay_out(
        pointer(data, 0), end, delimited, pointer(tables, 0), pointer(texts, 0), pointer(slots.reshape(-1), 0),
        pointer(sizes, 0), pointer(asked, 0), pointer(key, 0), pointer(table, 0), prune, pointer(time_ids, 0), pointer(out, 0),
        enough, pointer(lines, 0), pointer(faults, 0), pointer(state, 0),
    )  # fmt: skip


@inner
def _lay_out(
    data: Any, end: Any, delimited: Any, tables: Any, texts: Any, slots: Any, sizes: Any, asked: Any,
    key: Any, table: Any, prune: Any, time_ids: Any, out: Any, enough: Any, lines: Any, faults: Any, state: Any,
) -> Any:  # fmt: skip
    state[CONSUMED] = 0
    while state[CONSUMED] < end and state[SIZE] < enough:
        size, at = end, np.int64(0)
        if delimited:
            size, at = _varint(data, state[CONSUMED], end)
            if at < 0 or size > end - at:
                return
        stop = at + size
        begin, before = state[SIZE], state[LINES]
        lines[state[FRAMES]] = before
        state[FIRST] = 1
        fault = 0
        while at < stop:
            number, found, at = _field(data, at, stop)
            if at < 0:
                fault = TRUNCATED
                break
            if number != 1:
                continue
            wrong = _row(data, found, at, tables, texts, slots, sizes, asked, key, table, prune, time_ids, out, state)
            fault = fault or wrong
            if wrong == TRUNCATED or wrong == TOO_NEW:  # noqa: SIM109, numba compiles it to compares
                break
        if fault:
            state[SIZE], state[LINES] = begin, before
            faults[2 * state[FAULTS]] = fault
            faults[2 * state[FAULTS] + 1] = state[FRAMES]
            state[FAULTS] += 1
            if fault == TRUNCATED or fault == TOO_NEW:  # noqa: SIM109
                state[BAD] = 1
                return
        elif not is_flat(state[LOGICAL]):
            for i in range(len(_MESSAGE)):
                out[state[SIZE] + i] = _MESSAGE[i]
            state[SIZE] += len(_MESSAGE)
            state[LINES] += 1
        state[FRAMES] += 1
        state[CONSUMED] = stop
