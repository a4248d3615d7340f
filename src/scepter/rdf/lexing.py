"""Where an N-Quads term ends and whether it is one: the W3C N-Quads 1.1 terminals as byte kernels.

Each recogniser takes a buffer that holds at least 16 line ends after the text (`SENTINEL`), so that no test for the end of
the buffer is needed: no terminal may contain a line end. It returns the offset after the term, or a negative error code.
Eight bytes are looked at in one go; only a byte that stands out is looked at alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inner, shared
from scepter.rdf.words import load_word, trailing_zeros

SENTINEL: Final = b"\n" * 16

BAD_IRI: Final = -1
RELATIVE_IRI: Final = -2
BAD_ESCAPE: Final = -3
BAD_UTF8: Final = -4
BAD_LITERAL: Final = -5
BAD_LANGUAGE: Final = -6
BAD_DATATYPE: Final = -7
BAD_LABEL: Final = -8
BAD_SUBJECT: Final = -9
BAD_PREDICATE: Final = -10
BAD_OBJECT: Final = -11
BAD_GRAPH: Final = -12
NO_DOT: Final = -13
AFTER_DOT: Final = -14
UNTAGGED_LANG_STRING: Final = -15

TAB, LF, CR, SPACE, QUOTE, HASH, DOT, LESS, GREATER, AT, BACKSLASH, CARET, UNDERSCORE, COLON = (
    9, 10, 13, 32, 34, 35, 46, 60, 62, 64, 92, 94, 95, 58,
)  # fmt: skip

_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_X02 = np.uint64(0x0202020202020202)
_X05 = np.uint64(0x0505050505050505)
_X20 = np.uint64(0x2020202020202020)
_X22 = np.uint64(0x2222222222222222)
_X23 = np.uint64(0x2323232323232323)
_X3E = np.uint64(0x3E3E3E3E3E3E3E3E)
_X5C = np.uint64(0x5C5C5C5C5C5C5C5C)
_X5E = np.uint64(0x5E5E5E5E5E5E5E5E)
_X60 = np.uint64(0x6060606060606060)
_NONE = np.uint64(0)
_HTTP = np.uint64(int.from_bytes(b"<http://", "little"))
_HTTPS = np.uint64(int.from_bytes(b"<https:/", "little"))


def _classes() -> Any:
    """Bit 1: letter, 2: digit, 4: label character of ASCII, 8: forbidden in an IRI, 16: follows a scheme's first letter."""
    table = np.zeros(256, dtype=np.uint8)
    for byte in range(256):
        char = chr(byte)
        ascii_letter = byte < 128 and char.isalpha()
        ascii_digit = byte < 128 and char.isdigit()
        table[byte] = (
            ascii_letter * 1
            | ascii_digit * 2
            | (ascii_letter or ascii_digit or char in "_:-") * 4
            | (byte <= 0x20 or char in '<>"{}|^`\\') * 8
            | (ascii_letter or ascii_digit or char in "+-.") * 16
        )
    return table


_CLASS = _classes()

# PN_CHARS_BASE beyond ASCII, and what PN_CHARS adds to it
_NAME_RANGES = np.array(
    [
        (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F),
        (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
        (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040),
    ],
    dtype=np.int64,
)  # fmt: skip
_BASE_RANGES = 12


@inner
def code_point(buffer: Any, at: Any) -> Any:
    """The character of a UTF-8 sequence of two or more bytes and its length; length 0 if it is none."""
    first = np.int64(buffer[at])
    if first < 0xC2 or first > 0xF4:
        return 0, 0
    second = np.int64(buffer[at + 1])
    if second & 0xC0 != 0x80:
        return 0, 0
    if first < 0xE0:
        return (first & 0x1F) << 6 | (second & 0x3F), 2
    third = np.int64(buffer[at + 2])
    if third & 0xC0 != 0x80:
        return 0, 0
    if first < 0xF0:
        char = (first & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
        return (char, 3) if char >= 0x800 and not 0xD800 <= char <= 0xDFFF else (0, 0)
    fourth = np.int64(buffer[at + 3])
    if fourth & 0xC0 != 0x80:
        return 0, 0
    char = (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
    return (char, 4) if 0x10000 <= char <= 0x10FFFF else (0, 0)


@inner
def _hex(buffer: Any, at: Any, digits: Any) -> Any:
    value = np.int64(0)
    for i in range(at, at + digits):
        byte = np.int64(buffer[i])
        if 48 <= byte <= 57:
            value = value * 16 + byte - 48
        elif 65 <= byte <= 70:
            value = value * 16 + byte - 55
        elif 97 <= byte <= 102:
            value = value * 16 + byte - 87
        else:
            return np.int64(-1)
    return value


@inner
def unicode_escape(buffer: Any, at: Any) -> Any:
    """The character of a \\uXXXX or \\UXXXXXXXX at a backslash and the escape's length; length 0 if it is none."""
    kind = buffer[at + 1]
    digits = 4 if kind == 117 else 8 if kind == 85 else 0
    if digits == 0:
        return np.int64(0), 0
    value = _hex(buffer, at + 2, digits)
    if value < 0 or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        return np.int64(0), 0
    return value, digits + 2


@inner
def string_escape(buffer: Any, at: Any) -> Any:
    """As `unicode_escape`, for the short escapes of strings as well."""
    kind = buffer[at + 1]
    if kind == 110:
        return np.int64(10), 2
    if kind == 116:
        return np.int64(9), 2
    if kind == 114:
        return np.int64(13), 2
    if kind == 98:
        return np.int64(8), 2
    if kind == 102:
        return np.int64(12), 2
    if kind == QUOTE or kind == BACKSLASH or kind == 39:  # noqa: SIM109
        return np.int64(kind), 2
    return unicode_escape(buffer, at)


@inner
def _has_scheme(buffer: Any, at: Any) -> Any:
    """Whether the IRI whose `<` is at `at` starts with a scheme; a scheme may be written with escapes."""
    word = load_word(buffer, at)
    if word == _HTTP or word == _HTTPS:  # noqa: SIM109
        return True
    i = at + 1
    first = True
    while True:
        byte = np.int64(buffer[i])
        step = 1
        if byte == BACKSLASH:
            byte, step = unicode_escape(buffer, i)
            if step == 0 or byte > 127:
                return False
        if byte == COLON:
            return not first
        if not _CLASS[byte] & (1 if first else 16):
            return False
        first = False
        i += step


@inner
def iri_end(buffer: Any, at: Any) -> Any:
    """(end or error, whether it holds escapes) of the IRIREF whose `<` is at `at`."""
    i = at + 1
    escaped = 0
    while True:
        word = load_word(buffer, i)
        angle = (word | _X02) ^ _X3E
        slash = (word | _X02) ^ _X5E
        tick = word ^ _X60
        marks = word | (word + _X05) | ((word - _X23) & ~word)
        marks |= ((angle - _ONES) & ~angle) | ((slash - _ONES) & ~slash) | ((tick - _ONES) & ~tick)
        marks &= _HIGH
        if marks == _NONE:
            i += 8
            continue
        i += trailing_zeros(marks) >> 3
        byte = buffer[i]
        if byte == GREATER:
            break
        if byte == BACKSLASH:
            char, length = unicode_escape(buffer, i)
            if length == 0:
                return BAD_ESCAPE, 0
            if char < 128 and _CLASS[char] & 8:
                return BAD_IRI, 0
            escaped = 1
            i += length
        elif byte >= 128:
            char, length = code_point(buffer, i)
            if length == 0:
                return BAD_UTF8, 0
            i += length
        elif _CLASS[byte] & 8:
            return BAD_IRI, 0
        else:
            i += 1
    if not _has_scheme(buffer, at):
        return RELATIVE_IRI, 0
    return i + 1, escaped


@inner
def quoted_end(buffer: Any, at: Any) -> Any:
    """(offset of the closing quote or error, whether it holds escapes) of the string whose `"` is at `at`."""
    i = at + 1
    escaped = 0
    while True:
        word = load_word(buffer, i)
        quote = word ^ _X22
        slash = word ^ _X5C
        marks = word | ((word - _X20) & ~word) | ((quote - _ONES) & ~quote) | ((slash - _ONES) & ~slash)
        marks &= _HIGH
        if marks == _NONE:
            i += 8
            continue
        i += trailing_zeros(marks) >> 3
        byte = buffer[i]
        if byte == QUOTE:
            return i, escaped
        if byte == BACKSLASH:
            _, length = string_escape(buffer, i)
            if length == 0:
                return BAD_ESCAPE, 0
            escaped = 1
            i += length
        elif byte >= 128:
            _, length = code_point(buffer, i)
            if length == 0:
                return BAD_UTF8, 0
            i += length
        elif byte == LF or byte == CR:  # noqa: SIM109
            return BAD_LITERAL, 0
        else:
            i += 1


@inner
def language_end(buffer: Any, at: Any) -> Any:
    """(end or error, whether it has capitals) of the LANGTAG whose `@` is at `at`."""
    i = at + 1
    capitals = 0
    letters = True
    while True:
        start = i
        while _CLASS[buffer[i]] & (1 if letters else 3):
            if 65 <= buffer[i] <= 90:
                capitals = 1
            i += 1
        if i == start:
            return BAD_LANGUAGE, 0
        if buffer[i] != 45:
            return i, capitals
        letters = False
        i += 1


@inner
def _name_char(char: Any, ranges: Any) -> Any:
    for i in range(ranges):  # noqa: SIM110
        if _NAME_RANGES[i, 0] <= char <= _NAME_RANGES[i, 1]:
            return True
    return False


@inner
def label_end(buffer: Any, at: Any) -> Any:
    """End or error of the BLANK_NODE_LABEL whose `_` is at `at`."""
    if buffer[at + 1] != COLON:
        return BAD_LABEL
    i = at + 2
    end = i
    while True:
        byte = buffer[i]
        if byte < 128:
            if _CLASS[byte] & 4 and not (byte == 45 and i == at + 2):
                i += 1
                end = i
            elif byte == DOT and i > at + 2:
                i += 1
            else:
                break
        else:
            char, length = code_point(buffer, i)
            if length == 0:
                return BAD_UTF8
            if not _name_char(char, _BASE_RANGES if i == at + 2 else len(_NAME_RANGES)):
                break
            i += length
            end = i
    return end if end > at + 2 else BAD_LABEL


@shared
def term_end(buffer: Any, at: Any) -> Any:
    """Where the well-formed term at `at` ends; for any buffer, with or without a sentinel."""
    limit = len(buffer)
    i = at + 1
    if buffer[at] == LESS:
        while buffer[i] != GREATER:
            i += 1
        return i + 1
    if buffer[at] != QUOTE:
        end = at + 2
        i = end
        while i < limit and (buffer[i] >= 128 or _CLASS[buffer[i]] & 4 or buffer[i] == DOT):
            i += 1
            if buffer[i - 1] != DOT:
                end = i
        return end
    while buffer[i] != QUOTE:
        i += 2 if buffer[i] == BACKSLASH else 1
    i += 1
    if i < limit and buffer[i] == AT:
        i += 1
        while i < limit and (_CLASS[buffer[i]] & 3 or buffer[i] == 45):
            i += 1
    elif i + 2 < limit and buffer[i] == CARET and buffer[i + 1] == CARET:
        while buffer[i] != GREATER:
            i += 1
        i += 1
    return i
