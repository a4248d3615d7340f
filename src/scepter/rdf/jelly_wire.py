"""Protobuf as Jelly uses it: varints and fields, walked byte by byte (called by `rdf.jelly_events`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import inlined, inner
from scepter.rdf.words import load_word

_VARINT, _WORD64, _BYTES, _WORD32 = 0, 1, 2, 5
# The first bytes of an IRI as a word: the key of its prefix (8) or of its name (16), and values of one byte or two.
_PREFIXED, _PREFIX_KEY = np.uint64(0x80FF), np.uint64(0x0008)
_NARROW, _NAME_KEY = np.uint64(0x80FF), np.uint64(0x0010)
_WIDE, _WIDE_NAME = np.uint64(0x8080FF), np.uint64(0x008010)
_NONE, _LOW, _SEVEN, _EIGHT, _SIXTEEN = np.uint64(0), np.uint64(0x7F), np.uint64(7), np.uint64(8), np.uint64(16)


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


@inlined
def short_iri(data: Any, at: Any, end: Any) -> Any:
    """(the index of its prefix, that of its name) of an IRI as nearly all are written, from one word: a prefix below 128 or
    none, a name below 2^14. Of another, the name is -1."""
    word, size, prefix = load_word(data, at), end - at, _NONE
    if size > 3 and word & _PREFIXED == _PREFIX_KEY:
        prefix = word >> _EIGHT & _LOW
        word >>= _SIXTEEN
        size -= 2
    if size == 2 and word & _NARROW == _NAME_KEY:
        return np.int64(prefix), np.int64(word >> _EIGHT & _LOW)
    if size == 3 and word & _WIDE == _WIDE_NAME:
        return np.int64(prefix), np.int64(word >> _EIGHT & _LOW | (word >> _SIXTEEN & _LOW) << _SEVEN)
    return np.int64(0), np.int64(-1)
