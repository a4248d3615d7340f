"""The terms of Jelly's frames: each is written, checked and hashed once for a batch, as a row of the batch's table of terms.

The same pair of a prefix and a name, and the same short literal, are the same row: a look-up, no text. What a term's text must
be is asked of the scanner of N-Quads (`rdf.lexing`, `rdf.scanner`), so that both formats refuse the same.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from scepter.inner import inlined, inner
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.jelly_wire import field
from scepter.rdf.lexing import LF, iri_end, label_end, quoted_end
from scepter.rdf.numerals import OTHER, STRING_TYPE
from scepter.rdf.putting import IN_IRI, LABEL, LITERAL, NOT_IN_IRI, put
from scepter.rdf.scanner import literal_end, read_number, wanted
from scepter.rdf.spelling import hash_term
from scepter.rdf.words import load_word, store_word

NAMES, PREFIXES, DATATYPES = range(3)
ENTRIES: Final = 1 << 16
"""How many entries a lookup table has at most."""
BEGIN, LENGTH, SET, SERIAL, MADE_BY, MADE, MADE_BY_BEFORE, MADE_BEFORE = range(8)
"""A row of a lookup table: its text, whether it is set, a number that no other setting has; and of a name the two terms that it
made last: by which setting of a prefix, and which one, counted since the stream began."""
CODE: Final = MADE_BY
"""Of a datatype: its code (`numerals`), -1 as long as no literal has told it."""
ENTRY: Final = 8
AT, END, LEXED, STATUS, ROLE, SCALE, ID, NUMBER = range(8)
"""A row of the table of terms, one line of the cache: its text and what the scanner finds in it, STATUS a fault of `lexing` or
0; ROLE says which. ID and NUMBER are read and written as what they are by `Pools.ids` and `Pools.numbers`."""
TERM: Final = 8
QUOTE_AT: Final = 16
"""LEXED holds from this bit on where the closing quote stands, 0 for none; below it the datatype's code, then whether the term
must be canonicalised."""
KNOWN, ASKED, TIMED, BLANK = 1, 2, 4, 8
"""Of a predicate, once it is KNOWN: that a query asks for it, that it gives times. Of another term: that it is a blank node."""
MEMO: Final = 1 << 12
"""Short literals that are remembered; a power of two."""
MEMO_ROW: Final = 5
SHORT: Final = 24
"""The longest of them: a dateTime."""

# The state of a stream: what its frames build upon, and how far a call came. FORMER counts the terms of batches before.
(LAST_PREFIX, LAST_NAME, NEW_NAME, NEW_PREFIX, NEW_DATATYPE, LOGICAL, TABLE_SIZE, FAULTS, CONSUMED, FIRST, IN_GRAPH, BAD,
 S_TERM, P_TERM, O_TERM, G_TERM, PENDING, P_A, P_B, P_TAG, P_TAG_END, P_TYPE, ERA, TERMS, TEXT, ROOM, PRUNE, WANTED, TIMES,
 STATEMENTS, SIZE, BLANKS, LIMIT, LINE_LIMIT, GRAPHED, AS_TEXT, ENOUGH, SETTINGS, FORMER) = range(39)  # fmt: skip
STATE: Final = 39
IRI_TERM, BLANK_TERM, LITERAL_TERM = 1, 2, 3
"""What PENDING says of an object that nobody has asked for yet: it is written when a statement that is asked for repeats it."""
TRUNCATED, NO_ENTRY, TRIPLE_TERM, GENERALIZED, BAD_TAG, NO_TERM, TOO_NEW, TOO_LARGE, TOO_LONG = range(1, 10)
"""Why a frame is not used."""
_PLAIN, _ESCAPED = 1, 2
_LONGEST_ESCAPE: Final = 6
SPARE_ROOM: Final = 128
"""More than brackets, quotes, a line end and what words are read beyond the end take."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xC2B2AE3D27D4EB4F)
_EIGHT = np.uint64(8)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Pools(NamedTuple):
    """The arrays that the kernels of a stream share, as pointers: numba counts references of arrays at every call, which costs
    more than the work on a term."""

    data: Any
    tables: Any
    texts: Any
    """The texts of the entries."""
    memo: Any
    """Per short literal: three words, its size, datatype and era, its term."""
    terms: Any
    ids: Any
    numbers: Any
    """The table of terms, as integers, ids and numbers."""
    out: Any
    """The texts of the terms; the batch takes it over."""
    scratch: Any
    key: Any
    asked: Any
    times: Any
    statements: Any
    """Subject, predicate, object and graph of each statement, rows of the table of terms; -1: none."""
    tokens: Any
    """The tokens of some rows (`jelly_wire`)."""
    state: Any


@inner
def take_entry(p: Any, at: Any, end: Any, which: Any) -> Any:
    """Takes an entry of a lookup table; a fault if it is none."""
    state, tables = p.state, p.tables
    index, value, value_end = np.int64(0), np.int64(0), np.int64(0)
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        if number == -1:
            index = found
        elif number == 2:
            value, value_end = found, at
    last = NEW_NAME + which
    index = state[last] + 1 if index == 0 else index
    if index >= ENTRIES:
        return NO_ENTRY
    state[last] = index
    row = ENTRY * (which * ENTRIES + index)
    if state[PENDING] and (row == state[P_A] or row == state[P_B] or row == state[P_TYPE]) and write_pending(p) < 0:
        return TOO_LARGE  # what it means is about to change
    size = state[TABLE_SIZE]
    tables[row + BEGIN] = size
    tables[row + LENGTH] = value_end - value
    tables[row + SET] = _PLAIN
    state[SETTINGS] += 1
    tables[row + SERIAL] = state[SETTINGS]
    tables[row + MADE_BY] = tables[row + MADE_BY_BEFORE] = -1
    for i in range(value_end - value):
        p.texts[size + i] = p.data[value + i]
        if NOT_IN_IRI[p.data[value + i]]:
            tables[row + SET] = _ESCAPED
    state[TABLE_SIZE] = size + value_end - value
    if which == DATATYPES:
        state[ERA] += 1
    return 0


@inner
def indices_of(data: Any, at: Any, end: Any) -> Any:
    """(the index of its prefix, that of its name, the end or -1 if it is cut off) of an IRI."""
    prefix, name = np.int64(0), np.int64(0)
    while at < end:
        number, found, at = field(data, at, end)
        if at < 0:
            break
        if number == -1:
            prefix = found
        elif number == -2:
            name = found
    return prefix, name, at


@inlined
def resolve(p: Any, prefix: Any, name: Any) -> Any:
    """(0 or a fault, the row of its name, the row of its prefix) of an IRI; a name's row is never 0."""
    state, tables = p.state, p.tables
    prefix = state[LAST_PREFIX] if prefix == 0 else prefix
    name = state[LAST_NAME] + 1 if name == 0 else name
    if prefix >= ENTRIES or name >= ENTRIES:
        return np.int64(NO_ENTRY), np.int64(0), np.int64(0)
    state[LAST_PREFIX] = prefix
    state[LAST_NAME] = name
    named = ENTRY * (NAMES * ENTRIES + name)
    begun = ENTRY * (PREFIXES * ENTRIES + prefix)
    if not tables[named + SET] or (prefix and not tables[begun + SET]):
        return np.int64(NO_ENTRY), np.int64(0), np.int64(0)
    return np.int64(0), named, begun


@inner
def _put_entry(p: Any, row: Any, at: Any) -> Any:
    """Writes the text of an entry; gives the place behind it."""
    begin, size = p.tables[row + BEGIN], p.tables[row + LENGTH]
    if p.tables[row + SET] == _ESCAPED:
        at, _ = put(p.texts, begin, begin + size, IN_IRI, p.out, at)
        return at
    _copy(p.texts, begin, p.out, at, size)
    return at + size


@inlined
def _copy(data: Any, low: Any, out: Any, at: Any, size: Any) -> Any:
    """Copies a text by words: up to seven bytes behind it are written too, and what follows is written over them."""
    for i in range(0, size, 8):
        store_word(out, at + i, load_word(data, low + i))


@inner
def _add(p: Any, begin: Any, end: Any, status: Any, quote: Any, code: Any, slow: Any, role: Any) -> Any:
    """A new row for the term written at `begin`; gives its number."""
    state, out = p.state, p.out
    out[end] = LF
    state[TEXT] = end + 1
    number = state[TERMS]
    state[TERMS] = number + 1
    row = TERM * number
    terms = p.terms
    terms[row + AT] = begin
    terms[row + END] = end
    terms[row + LEXED] = quote << QUOTE_AT | code << 1 | slow
    terms[row + STATUS] = status
    terms[row + ROLE] = role
    terms[row + SCALE] = NOT_A_NUMBER
    p.numbers[row + NUMBER] = 0.0
    if status == 0:
        p.ids[row + ID] = hash_term(out, begin, end, quote, code, slow, p.scratch, p.key)
    return number


@inner
def _has_room(p: Any, size: Any) -> Any:
    # the salted labels of the frame go behind its terms
    return p.state[TEXT] + p.state[BLANKS] + _LONGEST_ESCAPE * size + SPARE_ROOM <= p.state[ROOM]


@inlined
def iri_term(p: Any, named: Any, begun: Any) -> Any:
    """The term of a name and a prefix; -1 where there is no room for it."""
    tables, state = p.tables, p.state
    by = tables[begun + SERIAL]
    if tables[named + MADE_BY] == by and tables[named + MADE] >= state[FORMER]:
        return tables[named + MADE] - state[FORMER]
    if tables[named + MADE_BY_BEFORE] == by and tables[named + MADE_BEFORE] >= state[FORMER]:
        return tables[named + MADE_BEFORE] - state[FORMER]
    return _new_iri(p, named, begun)


@inner
def _new_iri(p: Any, named: Any, begun: Any) -> Any:
    tables, state = p.tables, p.state
    if not _has_room(p, tables[named + LENGTH] + tables[begun + LENGTH]):
        return np.int64(-1)
    begin = state[TEXT]
    p.out[begin] = 60
    at = begin + 1
    if tables[begun + SET]:
        at = _put_entry(p, begun, at)
    at = _put_entry(p, named, at)
    p.out[at] = 62
    p.out[at + 1] = LF
    end, slow = iri_end(p.out, begin)
    found = _add(p, begin, at + 1, end if end < 0 else 0, np.int64(0), np.int64(OTHER), slow, np.int64(0))
    tables[named + MADE_BY_BEFORE], tables[named + MADE_BEFORE] = tables[named + MADE_BY], tables[named + MADE]
    tables[named + MADE_BY], tables[named + MADE] = tables[begun + SERIAL], state[FORMER] + found
    return found


@inner
def blank_term(p: Any, at: Any, end: Any) -> Any:
    """The term of a blank node, its label not yet salted; -1 where there is no room for it."""
    if not _has_room(p, end - at):
        return np.int64(-1)
    begin = p.state[TEXT]
    p.out[begin] = 95
    p.out[begin + 1] = 58
    p.out[begin + 2] = 98
    size, _ = put(p.data, at, end, LABEL, p.out, begin + 3)
    p.out[size] = LF
    status = label_end(p.out, begin)
    return _add(p, begin, size, status if status < 0 else 0, np.int64(0), np.int64(OTHER), np.int64(0), np.int64(BLANK))


@inner
def note_parts(p: Any, at: Any, end: Any) -> Any:
    """Finds the parts of a literal and notes it; a fault if it is malformed."""
    low, high, tag, tag_end, datatype = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        if number == 1:
            low, high = found, at
        elif number == 2:
            tag, tag_end = found, at
        elif number == -3:
            datatype = found
    for i in range(tag, tag_end):
        byte = p.data[i]
        if not (65 <= byte <= 90 or 97 <= byte <= 122 or 48 <= byte <= 57 or byte == 45):
            return BAD_TAG
    state = p.state
    state[P_TAG], state[P_TAG_END] = tag, tag_end
    return note_literal(p, low, high, datatype if tag_end == tag else np.int64(-1))


@inlined
def note_literal(p: Any, low: Any, high: Any, datatype: Any) -> Any:
    """Notes a literal as the pending object; a fault if its datatype, -1 for none, is not there."""
    state = p.state
    row = np.int64(0)
    if datatype >= 0:
        row = ENTRY * (DATATYPES * ENTRIES + datatype)
        if datatype == 0 or datatype >= ENTRIES or not p.tables[row + SET]:
            return NO_ENTRY
    state[PENDING] = LITERAL_TERM
    state[P_A], state[P_B], state[P_TYPE] = low, high, row
    return 0


@inlined
def _literal_term(p: Any) -> Any:
    """The term of the pending literal; -1 where there is no room for it."""
    state, data = p.state, p.data
    low, size = state[P_A], state[P_B] - state[P_A]
    if size > SHORT or state[P_TAG_END] > state[P_TAG]:
        return _written_literal(p)
    first, second, third = np.uint64(0), np.uint64(0), np.uint64(0)
    cut = _FULL >> (_EIGHT * np.uint64(-size & 7))
    if size > 16:
        first, second, third = load_word(data, low), load_word(data, low + 8), load_word(data, low + 16) & cut
    elif size > 8:
        first, second = load_word(data, low), load_word(data, low + 8) & cut
    elif size:
        first = load_word(data, low) & cut
    # size below 2^5, a datatype's row below 2^21, the rest counts eras
    kind = np.uint64(size) | np.uint64(state[P_TYPE]) << np.uint64(5) | np.uint64(state[ERA]) << np.uint64(32)
    mixed = (first ^ (second * _MIX) ^ (third * _ODD) ^ kind) * _MIX
    slot = MEMO_ROW * np.int64((mixed >> np.uint64(40)) & np.uint64(MEMO - 1))
    memo = p.memo
    if memo[slot] == first and memo[slot + 1] == second and memo[slot + 2] == third and memo[slot + 3] == kind:
        return np.int64(memo[slot + 4])
    found = _written_literal(p)
    if found >= 0:
        memo[slot], memo[slot + 1], memo[slot + 2], memo[slot + 3], memo[slot + 4] = (
            first,
            second,
            third,
            kind,
            np.uint64(found),
        )
    return found


@inner
def _written_literal(p: Any) -> Any:
    state, out, data = p.state, p.out, p.data
    low, high, row = state[P_A], state[P_B], state[P_TYPE]
    if not _has_room(p, high - low + state[P_TAG_END] - state[P_TAG] + (p.tables[row + LENGTH] if row else 0)):
        return np.int64(-1)
    begin = state[TEXT]
    out[begin] = 34
    _copy(data, low, out, begin + 1, high - low)
    at = _put_suffix(p, begin + 1 + high - low, row)
    end, quote, code, slow = _ends(p, begin, at, row)
    if end < 0 or quote != begin + 1 + high - low or slow:
        # a quote, a backslash or a line end within, or a tag with capitals: written anew, with escapes
        at, _ = put(data, low, high, LITERAL, out, begin + 1)
        at = _put_suffix(p, at, row)
        end, quote, code, slow = literal_end(out, begin, p.scratch)
    found = _add(p, begin, at, end if end < 0 else 0, quote, code, slow, np.int64(0))
    if end > 0 and code > STRING_TYPE:
        scales = p.terms
        number, scale = read_number(out, begin, quote, code, slow, p.scratch)
        p.numbers[TERM * found + NUMBER] = number
        scales[TERM * found + SCALE] = scale
    return found


@inlined
def _ends(p: Any, begin: Any, at: Any, row: Any) -> Any:
    """`literal_end` of the text that ends at `at`. What a datatype is needs to be found out once for each of its settings."""
    tables = p.tables
    if row and tables[row + CODE] >= 0:
        quote, slow = quoted_end(p.out, begin)
        return (at if quote >= 0 else quote), quote, tables[row + CODE], slow
    end, quote, code, slow = literal_end(p.out, begin, p.scratch)
    if row and end == at and not slow:
        tables[row + CODE] = code
    return end, quote, code, slow


@inner
def _put_suffix(p: Any, at: Any, row: Any) -> Any:
    """Writes what stands behind the text of the pending literal, and a line end; gives the place behind it."""
    state, out = p.state, p.out
    out[at] = 34
    at += 1
    if state[P_TAG_END] > state[P_TAG]:
        out[at] = 64
        at += 1
        for i in range(state[P_TAG], state[P_TAG_END]):
            out[at] = p.data[i]
            at += 1
    elif row:
        out[at] = 94
        out[at + 1] = 94
        out[at + 2] = 60
        at = _put_entry(p, row, at + 3)
        out[at] = 62
        at += 1
    out[at] = LF
    return at


@inner
def write_pending(p: Any) -> Any:
    """Makes the pending object a term, if there is one: the block that it stands in goes. -1 where there is no room for it."""
    state = p.state
    if state[PENDING] == 0:
        return state[O_TERM]
    if state[PENDING] == IRI_TERM:
        found = iri_term(p, state[P_A], state[P_B])
    elif state[PENDING] == BLANK_TERM:
        found = blank_term(p, state[P_A], state[P_B])
    else:
        found = _literal_term(p)
    state[PENDING] = 0
    state[O_TERM] = found
    return found


@inlined
def role_of(p: Any, predicate: Any) -> Any:
    """What a predicate is asked for: bits of ASKED and TIMED."""
    role = p.terms[TERM * predicate + ROLE]
    return role if role else _found_role(p, predicate)


@inner
def _found_role(p: Any, predicate: Any) -> Any:
    row, state, id = TERM * predicate, p.state, p.ids[TERM * predicate + ID]
    terms = p.terms
    role = np.int64(KNOWN)
    if not state[PRUNE] or terms[row + STATUS] or wanted(p.asked, state[WANTED], id):
        role |= ASKED  # a malformed one is told
    for i in range(state[TIMES]):
        if p.times[i] == id:
            role |= TIMED
    terms[row + ROLE] = role
    return role
