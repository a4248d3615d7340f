"""Values written as parts of N-Triples terms: with escapes, percent-encoded, as labels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inner, shared

LITERAL, TEMPLATE_IRI, WHOLE_IRI, LABEL, COPY, IN_IRI = range(6)
"""How a value is written: with N-Triples escapes, percent-encoded, as it stands once it is seen to be an IRI, in letters that a
label may hold, as it stands, or with escapes for what no IRI may hold."""
_HEX: Final = np.frombuffer(b"0123456789ABCDEF", np.uint8)


def _table(kept: bytes) -> Any:
    table = np.zeros(256, np.bool_)
    table[list(kept)] = True
    return table


_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_UNRESERVED: Final = _table(_LETTERS + b"-._~" + bytes(range(128, 256)))
IN_LABEL: Final = _table(_LETTERS)
NOT_IN_IRI: Final = _table(bytes(range(0x21)) + b'<>"{}|^`\\')
_ESCAPED: Final = _table(bytes(range(0x20)) + b'"\\\x7f')


@shared
def room(data: Any, low: Any, high: Any, mode: Any) -> Any:
    """How many bytes the values `data[low:high]` take at most as they are written."""
    size = high - low
    if mode == LITERAL:
        for i in range(low, high):
            if _ESCAPED[data[i]]:
                size += 5
    elif mode == TEMPLATE_IRI:
        for i in range(low, high):
            if not _UNRESERVED[data[i]]:
                size += 2
    elif mode == LABEL:
        for i in range(low, high):
            if not IN_LABEL[data[i]]:
                size += 3
    return size


@inner
def _put_hex(out: Any, at: Any, byte: Any) -> Any:
    out[at] = _HEX[byte >> 4]
    out[at + 1] = _HEX[byte & 15]
    return at + 2


@inner
def _put_escape(out: Any, at: Any, byte: Any) -> Any:
    out[at] = 92
    short = 0
    if byte == 34 or byte == 92:
        short = byte
    elif byte == 10:
        short = 110
    elif byte == 13:
        short = 114
    elif byte == 9:
        short = 116
    if short:
        out[at + 1] = short
        return at + 2
    out[at + 1] = 117
    out[at + 2] = 48
    out[at + 3] = 48
    return _put_hex(out, at + 4, byte)


@inner
def put(data: Any, low: Any, high: Any, mode: Any, out: Any, at: Any) -> Any:
    """Writes one value; gives (the place behind it, whether it was written as it stands)."""
    plain = True
    for i in range(low, high):
        byte = data[i]
        if mode == LITERAL:
            if _ESCAPED[byte]:
                at = _put_escape(out, at, byte)
                plain = False
                continue
        elif mode == TEMPLATE_IRI:
            if not _UNRESERVED[byte]:
                out[at] = 37
                at = _put_hex(out, at + 1, byte)
                continue
        elif mode == IN_IRI:
            if NOT_IN_IRI[byte]:
                out[at] = 92
                out[at + 1] = 117
                out[at + 2] = 48
                out[at + 3] = 48
                at = _put_hex(out, at + 4, byte)
                plain = False
                continue
        elif mode == LABEL and not IN_LABEL[byte]:
            out[at] = 95
            at = _put_hex(out, at + 1, byte)
            out[at] = 95
            at += 1
            continue
        out[at] = byte
        at += 1
    return at, plain
