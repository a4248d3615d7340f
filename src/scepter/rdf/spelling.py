"""One term, many spellings: escapes decoded, language tags lowered, blank nodes salted; and the id of what comes out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inner
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import AT, BACKSLASH, LF, UNDERSCORE, string_escape
from scepter.rdf.numerals import STRING_TYPE


@inner
def _put_char(char: Any, out: Any, size: Any) -> Any:
    if char < 0x80:
        out[size] = char
        return size + 1
    if char < 0x800:
        out[size] = 0xC0 | char >> 6
        out[size + 1] = 0x80 | char & 0x3F
        return size + 2
    if char < 0x10000:
        out[size] = 0xE0 | char >> 12
        out[size + 1] = 0x80 | char >> 6 & 0x3F
        out[size + 2] = 0x80 | char & 0x3F
        return size + 3
    out[size] = 0xF0 | char >> 18
    out[size + 1] = 0x80 | char >> 12 & 0x3F
    out[size + 2] = 0x80 | char >> 6 & 0x3F
    out[size + 3] = 0x80 | char & 0x3F
    return size + 4


@inner
def decode(buffer: Any, at: Any, end: Any, out: Any, size: Any) -> Any:
    """Copies `buffer[at:end]` behind `out[:size]` with its escapes decoded; gives the new size."""
    while at < end:
        if buffer[at] == BACKSLASH:
            char, length = string_escape(buffer, at)
            size = _put_char(char, out, size)
            at += length
        else:
            out[size] = buffer[at]
            size += 1
            at += 1
    return size


@inner
def canonical(buffer: Any, at: Any, end: Any, quote: Any, code: Any, scratch: Any) -> Any:
    """Writes the hashed form (`hashing.canonical_text`) to the scratch; gives its size."""
    if quote == 0:
        return decode(buffer, at, end, scratch, np.int64(0))
    size = decode(buffer, at, quote + 1, scratch, np.int64(0))
    if code == STRING_TYPE:
        return size
    if buffer[quote + 1] != AT:
        return decode(buffer, quote + 1, end, scratch, size)
    for i in range(quote + 1, end):
        byte = buffer[i]
        scratch[size] = byte + 32 if 65 <= byte <= 90 else byte
        size += 1
    return size


@inner
def hash_term(buffer: Any, at: Any, end: Any, quote: Any, code: Any, slow: Any, scratch: Any, key: Any) -> Any:
    """The id of the term `buffer[at:end]`; `slow` says that its bytes are not its canonical form."""
    if slow:
        return hash_bytes(scratch, np.int64(0), canonical(buffer, at, end, quote, code, scratch), key[0], key[1])
    stop = quote + 1 if quote and code == STRING_TYPE else end
    return hash_bytes(buffer, at, stop, key[0], key[1])


LABEL_ROOM: Final = 25
"""Bytes that a salted label takes beyond the label itself."""


@inner
def salt_label(buffer: Any, at: Any, end: Any, salt: Any, start: Any) -> Any:
    """Copies the blank node's label with its salt behind the text; to `start`; gives the end of the copy."""
    out = start
    buffer[out] = UNDERSCORE
    buffer[out + 1] = 58
    buffer[out + 2] = 98
    out += 3
    divisor = np.int64(1)
    while salt // divisor >= 10:
        divisor *= 10
    while divisor > 0:
        buffer[out] = 48 + salt // divisor % 10
        out += 1
        divisor //= 10
    buffer[out] = 120
    out += 1
    for i in range(at + 2, end):
        buffer[out] = buffer[i]
        out += 1
    buffer[out] = LF
    return out
