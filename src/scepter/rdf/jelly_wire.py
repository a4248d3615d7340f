"""Protobuf as Jelly uses it: varints and fields, walked byte by byte, and rows of a frame cut into tokens (called by
`rdf.jelly_frames`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inlined, inner
from scepter.rdf.words import load_word

_VARINT, _WORD64, _BYTES, _WORD32 = 0, 1, 2, 5
_ROW, _TRIPLE, _QUAD, _STRING, _DATATYPE = (
    0x0A,
    0x12,
    0x1A,
    0x0A,
    0x18,
)  # the first bytes of a row, of a statement, of a literal's parts
_LONG: Final = 0x80  # the bit of a byte that another one follows
_OBJECT_LITERAL, _GRAPH_LITERAL = 10, 14  # fields, counted from 0: four kinds of terms in each of four places
_FAR: Final = 1 << 31
# The first bytes of an IRI as a word: the key of its prefix (8) or of its name (16), and values of one byte or two.
_PREFIXED, _PREFIX_KEY = np.uint64(0x80FF), np.uint64(0x0008)
_NARROW, _NAME_KEY = np.uint64(0x80FF), np.uint64(0x0010)
_WIDE, _WIDE_NAME = np.uint64(0x8080FF), np.uint64(0x008010)
_NONE, _LOW, _PREFIX_VALUE, _IRI_KIND = np.uint64(0), np.uint64(0x7F), np.uint64(0x7F00), np.uint64(1)
_EIGHT, _SIXTEEN, _WIDER = np.uint64(8), np.uint64(16), np.uint64(16 + 7)


@inner
def varint(data: Any, at: Any, end: Any) -> Any:
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
def _long_field(data: Any, at: Any, end: Any) -> Any:
    key, at = varint(data, at, end)
    if at < 0:
        return np.int64(0), np.int64(0), np.int64(-1)
    number, kind = key >> 3, key & 7
    if kind == _VARINT:
        value, at = varint(data, at, end)
        return -number, value, at
    if kind == _BYTES:
        size, at = varint(data, at, end)
        if at < 0 or size > end - at:
            return number, np.int64(0), np.int64(-1)
        return number, at, at + size
    size = 8 if kind == _WORD64 else 4 if kind == _WORD32 else end
    return np.int64(0), np.int64(0), at + size if at + size <= end else np.int64(-1)


@inlined
def field(data: Any, at: Any, end: Any) -> Any:
    """(its number, where it begins, where it ends), the end -1 if it is cut off. Of a varint, (the number negated, its value,
    where it ends): no value is taken for the place of a text, which could then be anywhere."""
    if data[at] < 0x80 and data[at + 1] < 0x80:  # nearly always; there are bytes behind the end
        number, kind, value = np.int64(data[at] >> 3), data[at] & 7, np.int64(data[at + 1])
        if kind == _VARINT and at + 2 <= end:
            return -number, value, at + 2
        if kind == _BYTES and at + 2 + value <= end:
            return number, at + 2, at + 2 + value
    return _long_field(data, at, end)


ROWS_AT_ONCE: Final = 64
"""So many rows are cut before they are taken: their tokens stay in the first cache."""
TOKENS: Final = 5
"""The words of a row's tokens: its head, subject, predicate, object and graph."""
SHORT_TRIPLE, SHORT_QUAD = -2, -3
"""Heads of statements whose tokens tell all. Another head is where the row begins; where it ends stands behind it."""
IRI_TOKEN, LITERAL_TOKEN, DEFAULT_GRAPH = 1, 2, 3
"""Kinds of tokens, in the lowest byte; a token of 0 is no term. An IRI has the index of its prefix from bit 8 on and that of
its name from bit 16 on, 0 where they are left out; a literal the size of its text, the index of its datatype and 1, 0 for none,
and from bit 32 on where its text begins."""


@inlined
def _short_iri(data: Any, at: Any, size: Any) -> Any:
    """The token of an IRI as nearly all are written, from one word: a prefix below 128 or none, a name below 2^14 or none.
    0 for another."""
    word, prefix = load_word(data, at), _NONE
    if size >= 2 and word & _PREFIXED == _PREFIX_KEY:
        prefix = word & _PREFIX_VALUE
        word >>= _SIXTEEN
        size -= 2
    if size == 0:
        return np.int64(prefix | _IRI_KIND)
    if size == 2 and word & _NARROW == _NAME_KEY:
        return np.int64(prefix | _IRI_KIND | (word >> _EIGHT & _LOW) << _SIXTEEN)
    if size == 3 and word & _WIDE == _WIDE_NAME:
        return np.int64(prefix | _IRI_KIND | (word >> _EIGHT & _LOW) << _SIXTEEN | (word >> _SIXTEEN & _LOW) << _WIDER)
    return np.int64(0)


@inlined
def _short_literal(data: Any, at: Any, end: Any) -> Any:
    """The token of a literal of one string below 128 bytes and at most a datatype below 128. 0 for another."""
    size = np.int64(data[at + 1])
    behind = at + 2 + size
    if data[at] != _STRING or size >= _LONG or behind > end:
        return np.int64(0)
    token = np.int64(LITERAL_TOKEN) | size << 8 | (at + 2) << 32
    if behind == end:
        return token
    if behind + 2 == end and data[behind] == _DATATYPE and data[behind + 1] < _LONG:
        return token | (np.int64(data[behind + 1]) + 1) << 16
    return np.int64(0)


@inlined
def _cut_statement(data: Any, at: Any, end: Any, tokens: Any, row: Any) -> Any:
    """Writes the tokens of a statement; whether all its terms are short, and in the order of their fields."""
    tokens[row + 1] = tokens[row + 2] = tokens[row + 3] = tokens[row + 4] = 0
    before = np.int64(0)
    while at < end:
        tag, size = np.int64(data[at]), np.int64(data[at + 1])
        place = (tag >> 3) - 1
        at += 2
        if tag & 0x87 != _BYTES or tag <= before or size >= _LONG or at + size > end or tokens[row + 1 + (place >> 2)]:
            return False
        if place & 3 == 0:
            token = _short_iri(data, at, size)
        elif place == _OBJECT_LITERAL:
            token = _short_literal(data, at, at + size)
        else:
            token = np.int64(DEFAULT_GRAPH if place == _GRAPH_LITERAL else 0)
        if token == 0:
            return False
        tokens[row + 1 + (place >> 2)] = token
        before = tag
        at += size
    return True


@inner
def cut_rows(data: Any, at: Any, end: Any, tokens: Any) -> Any:
    """Cuts some rows of a frame into tokens: (how many, the place behind them), the place -1 where the frame is cut off."""
    rows = np.int64(0)
    while at < end and rows < ROWS_AT_ONCE:
        row, size, tag = TOKENS * rows, np.int64(data[at + 1]), data[at + 2]
        behind = at + 2 + size
        if (
            data[at] == _ROW and size < _LONG and behind <= end and behind < _FAR and (tag == _TRIPLE or tag == _QUAD)  # noqa: SIM109
            and np.int64(data[at + 3]) + 2 == size and _cut_statement(data, at + 4, behind, tokens, row)
        ):  # fmt: skip
            tokens[row] = SHORT_QUAD if tag == _QUAD else SHORT_TRIPLE
            rows += 1
            at = behind
            continue
        number, found, at = field(data, at, end)
        if at < 0:
            break
        if number == 1:
            tokens[row], tokens[row + 1] = found, at
            rows += 1
    return rows, at
