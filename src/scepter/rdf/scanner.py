"""From N-Quads bytes to the columns of an EventBatch: one pass, no objects.

`scan_line` finds and checks the terms of a line, `scan_events` groups lines into events by the layout rules of spec/00 §2,
`scan_grouped` takes triples whose events are known already. Kernels write into arrays the caller allotted (`Columns`).

A blank node is copied behind the text as `_:b<salt>x<label>`, with the number of its event for salt: from there on its text
and its id say the same, and no two events share one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scepter.inner import inlined, inner, shared
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import (
    AFTER_DOT,
    AT,
    BAD_DATATYPE,
    BAD_GRAPH,
    BAD_OBJECT,
    BAD_PREDICATE,
    BAD_SUBJECT,
    CARET,
    CR,
    DOT,
    HASH,
    LESS,
    LF,
    NO_DOT,
    QUOTE,
    SPACE,
    TAB,
    UNDERSCORE,
    UNTAGGED_LANG_STRING,
    iri_end,
    label_end,
    language_end,
    quoted_end,
    term_end,
)  # fmt: skip
from scepter.rdf.numerals import LANG_STRING_TYPE, OTHER, STRING_TYPE, datatype_code, number_of
from scepter.rdf.spelling import decode, hash_term, salt_label
from scepter.rdf.terms import Term, parse_term
from scepter.rdf.words import load_word

__all__ = ["Columns", "allot", "decode_term", "id_table", "scan_line", "term_end", "term_text"]

# What scan_line notes of each term: where it starts and ends, and for a literal its closing quote and datatype.
S, S_END, P, P_END, OBJ, O_END, G, G_END, O_QUOTE, O_TYPE, G_QUOTE, G_TYPE, SLOW, NEXT, P_KNOWN, G_KNOWN = range(16)
TERMS: Final = 16
SLOW_S, SLOW_P, SLOW_O, SLOW_G = 1, 2, 4, 8
BLANK_LINE: Final = 0
STATEMENT: Final = 1

# The state of a scan, shared by its kernels. What starts with OPEN is how things stood when the open event began.
(KIND, SALT, LINE, ROWS, EVENTS, ERRORS, SPARE, BEGIN, LIMIT, FINAL, CONSUMED, OPEN, NAME, NAME_END, NAME_SLOW, TRIPLES, LINES,
 HAVE, AT_TIME, FROM_TIME, TO_TIME, FAULT, FAULT_LINE, FAULT_AT, OPEN_AT, OPEN_LINE, OPEN_ROWS, OPEN_ERRORS, OPEN_SPARE,
 LAST_S, LAST_S_SIZE, LAST_S_HASHED, CAPACITY, STREAM, STAMP, STAMP_SIZE, STAMP_TIME, TIMES, INSIDE, RANK, MESSAGES,
) = range(41)  # fmt: skip
SLOTS: Final = 32
"""Lines of an event whose predicates are remembered; a power of two."""
TERMS_AT: Final = 41
PREDICATES_AT: Final = TERMS_AT + TERMS
STATE: Final = PREDICATES_AT + 2 * SLOTS
"""The state array also holds the terms of the line and, per slot, the place and size of a remembered predicate."""
_ZERO = np.uint64(0)


@dataclass(slots=True)
class Columns:
    """The arrays a scan fills; `state` says how far."""

    ids: NDArray[np.uint64]
    """A row of subject ids, one of predicates, one of objects."""
    places: NDArray[np.int64]
    """Their offsets, alike."""
    number: NDArray[np.float64]
    scale: NDArray[np.int8]
    events: NDArray[np.int64]
    """Rows of starts, ends, names' offsets, first triple rows and streams, with room for one event more than there are rows."""
    errors: NDArray[np.int64]
    """Per error: code, line, offset of the line."""
    known_ids: NDArray[np.uint64]
    """The ids of the remembered predicates, and of the last subject."""
    state: NDArray[np.int64]


def allot(rows: int, lines: int, before: Columns | None = None) -> Columns:
    """Columns for at most so many rows and lines. Untouched memory costs nothing. What no batch takes over, errors and state,
    stands where it stood `before`, if there is room."""
    if before is None or len(before.errors) <= 2 * lines:
        errors, known_ids = np.empty((2 * lines + 1, 3), np.int64), np.empty(SLOTS + 1, np.uint64)
        state = np.zeros(STATE, np.int64)
    else:
        errors, known_ids, state = before.errors, before.known_ids, before.state
        state.fill(0)
    state[CAPACITY] = rows
    return Columns(
        np.empty((3, rows), np.uint64), np.empty((3, rows), np.int64), np.empty(rows), np.empty(rows, np.int8),
        np.empty((5, rows + 1), np.int64), errors, known_ids, state,
    )  # fmt: skip


def id_table(ids: Iterable[int]) -> NDArray[np.uint64]:
    """An open-addressing table of ids for `wanted`, at most half full."""
    distinct = sorted(set(ids))
    size = 1 << max(1, 2 * len(distinct)).bit_length()
    table = np.zeros(size, dtype=np.uint64)
    for found in distinct:
        slot = found & (size - 1)
        while table[slot]:
            slot = (slot + 1) & (size - 1)
        table[slot] = found
    return table


def term_text(buffer: NDArray[np.uint8], at: int) -> str:
    """The text of the term at an offset, as it is spelt there."""
    return buffer[at : term_end(buffer, at)].tobytes().decode()


def decode_term(buffer: NDArray[np.uint8], at: int) -> Term:
    """The term at an offset."""
    return parse_term(term_text(buffer, at))


@inlined
def _skip(buffer: Any, at: Any) -> Any:
    while buffer[at] == SPACE or buffer[at] == TAB:
        at += 1
    return at


@shared
def line_end(buffer: Any, at: Any) -> Any:
    """The next line end from `at` on."""
    while buffer[at] != LF and buffer[at] != CR:
        at += 1
    return at


@inner
def same_bytes(buffer: Any, a: Any, b: Any, size: Any) -> Any:
    """Whether the `size` bytes at `a` are those at `b`."""
    i = 0
    while i + 8 <= size:
        if load_word(buffer, a + i) != load_word(buffer, b + i):
            return False
        i += 8
    rest = np.uint64(8 * (size - i))
    if rest == _ZERO:
        return True
    return (load_word(buffer, a + i) ^ load_word(buffer, b + i)) << (np.uint64(64) - rest) == _ZERO


@inner
def literal_end(buffer: Any, at: Any, scratch: Any) -> Any:
    """(end or error, closing quote, datatype code, whether it must be canonicalised) of the literal at `at`."""
    quote, slow = quoted_end(buffer, at)
    if quote < 0:
        return quote, 0, 0, 0
    end = quote + 1
    if buffer[end] == AT:
        end, capitals = language_end(buffer, end)
        return end, quote, OTHER, slow | capitals
    if buffer[end] != CARET:
        return end, quote, STRING_TYPE, slow
    if buffer[end + 1] != CARET or buffer[end + 2] != LESS:
        return BAD_DATATYPE, 0, 0, 0
    type_at = end + 2
    end, escaped = iri_end(buffer, type_at)
    if end < 0:
        return end, 0, 0, 0
    if escaped:
        length = decode(buffer, type_at, end, scratch, np.int64(0))
        code = datatype_code(scratch, np.int64(0), length)
    else:
        code = datatype_code(buffer, type_at, end)
    return (UNTAGGED_LANG_STRING if code == LANG_STRING_TYPE else end), quote, code, slow | escaped


@inner
def scan_line(buffer: Any, at: Any, terms: Any, scratch: Any, state: Any, predicates: Any) -> Any:
    """STATEMENT, BLANK_LINE or an error for the line at `at`; its terms go to `terms`.

    A subject or a time that repeats the last line's, a graph that repeats the event's and a predicate that stood at this place
    of the last event, or came after the same one, are known by their bytes and need no second look.
    """
    i = _skip(buffer, at)
    first = buffer[i]
    terms[NEXT] = i
    terms[SLOW] = 0
    if first == LF or first == CR or first == HASH:  # noqa: SIM109
        return BLANK_LINE
    i = _subject(buffer, i, terms, state)
    if i < 0:
        return i
    i = _skip(buffer, i)
    if buffer[i] != LESS:
        return BAD_PREDICATE
    terms[P] = i
    slot = state[LINES] & (SLOTS - 1)
    size = predicates[SLOTS + slot]
    terms[P_KNOWN] = size > 0 and same_bytes(buffer, i, predicates[slot], size)
    if terms[P_KNOWN]:
        i += size
    else:
        i, slow = iri_end(buffer, i)
        if i < 0:
            return i
        terms[SLOW] |= slow * SLOW_P
    terms[P_END] = i
    i = _object(buffer, _skip(buffer, i), terms, scratch)
    if i < 0:
        return i
    i = _graph(buffer, _skip(buffer, i), terms, scratch, state)
    return i if i < 0 else _finish_line(buffer, _skip(buffer, i), terms)


@inner
def _subject(buffer: Any, at: Any, terms: Any, state: Any) -> Any:
    terms[S] = at
    first = buffer[at]
    size = state[LAST_S_SIZE]
    if size and first == LESS and same_bytes(buffer, at, state[LAST_S], size):
        terms[S_END] = at + size
        return at + size
    state[LAST_S_SIZE] = 0
    state[LAST_S_HASHED] = 0
    if first == LESS:
        end, slow = iri_end(buffer, at)
        if slow:
            terms[SLOW] |= SLOW_S
        elif end > 0:
            state[LAST_S] = at
            state[LAST_S_SIZE] = end - at
    else:
        end = label_end(buffer, at) if first == UNDERSCORE else BAD_SUBJECT
    terms[S_END] = end
    return end


@inner
def _object(buffer: Any, at: Any, terms: Any, scratch: Any) -> Any:
    first = buffer[at]
    terms[OBJ] = at
    terms[O_TYPE] = OTHER
    terms[O_QUOTE] = 0
    if first == QUOTE:
        end, quote, code, slow = literal_end(buffer, at, scratch)
        terms[O_QUOTE] = quote
        terms[O_TYPE] = code
        terms[SLOW] |= slow * SLOW_O
    elif first == LESS:
        end, slow = iri_end(buffer, at)
        terms[SLOW] |= slow * SLOW_O
    else:
        end = label_end(buffer, at) if first == UNDERSCORE else BAD_OBJECT
    terms[O_END] = end
    return end


@inner
def _graph(buffer: Any, at: Any, terms: Any, scratch: Any, state: Any) -> Any:
    first = buffer[at]
    terms[G] = at
    terms[G_END] = at
    terms[G_QUOTE] = 0
    terms[G_KNOWN] = 0
    if first == DOT:
        return at
    size = state[NAME_END] - state[NAME]
    if first == LESS:
        terms[G_KNOWN] = state[OPEN] and buffer[state[NAME]] == LESS and same_bytes(buffer, at, state[NAME], size)
        if terms[G_KNOWN]:
            end = at + size
        else:
            end, slow = iri_end(buffer, at)
            terms[SLOW] |= slow * SLOW_G
    elif first == QUOTE:
        size = state[STAMP_SIZE]
        terms[G_KNOWN] = size > 0 and same_bytes(buffer, at, state[STAMP], size)
        if terms[G_KNOWN]:
            end = at + size
            terms[G_QUOTE] = end
        else:
            end, quote, code, slow = literal_end(buffer, at, scratch)
            terms[G_QUOTE] = quote
            terms[G_TYPE] = code
            terms[SLOW] |= slow * SLOW_G
    else:
        end = label_end(buffer, at) if first == UNDERSCORE else BAD_GRAPH
    terms[G_END] = end
    return end


@inner
def _finish_line(buffer: Any, at: Any, terms: Any) -> Any:
    if buffer[at] != DOT:
        return NO_DOT
    at = _skip(buffer, at + 1)
    if buffer[at] == HASH:
        at = line_end(buffer, at)
    terms[NEXT] = at
    return STATEMENT if buffer[at] == LF or buffer[at] == CR else AFTER_DOT


@inner
def predicate_id(buffer: Any, terms: Any, scratch: Any, key: Any, state: Any, predicates: Any, known_ids: Any) -> Any:
    """The id of the line's predicate, from its place's memory where it stands there."""
    slot = state[LINES] & (SLOTS - 1)
    if terms[P_KNOWN]:
        return known_ids[slot]
    slow = terms[SLOW] & SLOW_P
    found = hash_term(buffer, terms[P], terms[P_END], np.int64(0), np.int64(0), slow, scratch, key)
    predicates[slot] = terms[P]
    predicates[SLOTS + slot] = 0 if slow else terms[P_END] - terms[P]
    known_ids[slot] = found
    return found


@inner
def wanted(table: Any, size: Any, found: Any) -> Any:
    """Whether an id is in a table that `id_table` built."""
    mask = size - 1
    i = np.int64(found & np.uint64(mask))
    while table[i] != _ZERO:
        if table[i] == found:
            return True
        i = (i + 1) & mask
    return False


@inner
def emit(
    buffer: Any, terms: Any, found: Any, scratch: Any, key: Any, known_ids: Any, state: Any,
    ids: Any, places: Any, number: Any, scale: Any,
) -> Any:  # fmt: skip
    """Writes the triple of the line as a new row."""
    row = state[ROWS]
    capacity = state[CAPACITY]
    slow = terms[SLOW]
    at, end = terms[S], terms[S_END]
    if buffer[at] == UNDERSCORE:
        start = state[SPARE]
        end = salt_label(buffer, at, end, state[SALT], start)
        at = start
        state[SPARE] = end + 1
        ids[row] = hash_bytes(buffer, at, end, key[0], key[1])
    else:
        if not state[LAST_S_HASHED]:
            known_ids[SLOTS] = hash_term(buffer, at, end, np.int64(0), np.int64(0), slow & SLOW_S, scratch, key)
            state[LAST_S_HASHED] = state[LAST_S_SIZE] > 0
        ids[row] = known_ids[SLOTS]
    places[row] = at
    ids[capacity + row] = found
    places[capacity + row] = terms[P]
    at, end, quote, code = terms[OBJ], terms[O_END], terms[O_QUOTE], terms[O_TYPE]
    if buffer[at] == UNDERSCORE:
        start = state[SPARE]
        end = salt_label(buffer, at, end, state[SALT], start)
        at = start
        state[SPARE] = end + 1
    ids[2 * capacity + row] = hash_term(buffer, at, end, quote, code, slow & SLOW_O, scratch, key)
    places[2 * capacity + row] = at
    scale[row] = NOT_A_NUMBER
    number[row] = 0.0
    if quote and code > STRING_TYPE:
        number[row], scale[row] = read_number(buffer, at, quote, code, slow & SLOW_O, scratch)
    state[ROWS] = row + 1


@inner
def read_number(buffer: Any, at: Any, quote: Any, code: Any, slow: Any, scratch: Any) -> Any:
    """(value, scale) of the literal at `at`, as `number_of`."""
    if slow:
        return number_of(scratch, np.int64(0), decode(buffer, at + 1, quote, scratch, np.int64(0)), code)
    return number_of(buffer, at + 1, quote, code)
