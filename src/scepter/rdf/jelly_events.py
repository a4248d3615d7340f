"""From Jelly's statements to events, by the layout rules that N-Quads have (`grouping.place_statement`).

Kernels read and write by pointers, unchecked: `JellyReader._make_room` has to know the most that some bytes can give.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from numba import njit

from scepter.inner import inlined, inner, shared
from scepter.rdf.directives import GRAPHS, LOG
from scepter.rdf.faults import TOO_MUCH
from scepter.rdf.grouping import close_event, note_error, place_statement
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.jelly_frames import GRAPH, OBJECT, PREDICATE, SUBJECT, decode_frame
from scepter.rdf.jelly_terms import (
    AS_TEXT,
    ASKED,
    AT,
    BAD,
    BLANK,
    CONSUMED,
    END,
    ENOUGH,
    FAULTS,
    GRAPHED,
    ID,
    LEXED,
    LOGICAL,
    NUMBER,
    QUOTE_AT,
    ROLE,
    SCALE,
    STATEMENTS,
    STATUS,
    TERM,
    TEXT,
    TIMED,
    TOO_NEW,
    TRUNCATED,
    Pools,
    role_of,
    write_pending,
)  # fmt: skip
from scepter.rdf.jelly_wire import varint
from scepter.rdf.scanner import (
    CAPACITY,
    FAULT,
    G_END,
    G_KNOWN,
    G_QUOTE,
    INSIDE,
    LINE,
    MESSAGES,
    NAME,
    O_END,
    O_QUOTE,
    O_TYPE,
    OBJ,
    OPEN,
    OPEN_SPARE,
    P_END,
    ROWS,
    S_END,
    SALT,
    SLOW,
    SLOW_G,
    SLOW_O,
    SLOW_P,
    SLOW_S,
    SPARE,
    TERMS_AT,
    TRIPLES,
    G,
    P,
    S,
)  # fmt: skip
from scepter.rdf.spelling import salt_label
from scepter.rdf.words import pointer

_BELOW_QUOTE: Final = (1 << QUOTE_AT) - 1


class Table(NamedTuple):
    """The columns of a scan (`scanner.Columns`), as pointers."""

    ids: Any
    places: Any
    number: Any
    scale: Any
    events: Any
    errors: Any
    state: Any
    terms: Any


@shared
def is_flat(logical: Any) -> Any:
    """Whether frames of a logical type mean nothing: their statements are one long document."""
    return logical % 10 == 1 or logical % 10 == 2


@inner
def _lay_out(p: Any, statement: Any, into: Any) -> Any:
    """The terms of a statement where the rules about events look for them: -1, or the term that is malformed."""
    terms, slow = p.terms, 0
    subject, predicate = p.statements[statement + SUBJECT], p.statements[statement + PREDICATE]
    object, graph = p.statements[statement + OBJECT], p.statements[statement + GRAPH]
    row = TERM * subject
    if terms[row + STATUS]:
        return subject
    into[S], into[S_END] = terms[row + AT], terms[row + END]
    slow |= (terms[row + LEXED] & 1) * SLOW_S
    row = TERM * predicate
    if terms[row + STATUS]:
        return predicate
    into[P], into[P_END] = terms[row + AT], terms[row + END]
    slow |= (terms[row + LEXED] & 1) * SLOW_P
    if object >= 0:
        row = TERM * object
        if terms[row + STATUS]:
            return object
        into[OBJ], into[O_END] = terms[row + AT], terms[row + END]
        lexed = terms[row + LEXED]
        into[O_QUOTE], into[O_TYPE] = lexed >> QUOTE_AT, (lexed & _BELOW_QUOTE) >> 1
        slow |= (terms[row + LEXED] & 1) * SLOW_O
    into[G] = into[G_END] = 0
    if graph >= 0:
        row = TERM * graph
        if terms[row + STATUS]:
            return graph
        into[G], into[G_END] = terms[row + AT], terms[row + END]
        slow |= (terms[row + LEXED] & 1) * SLOW_G
    into[SLOW] = slow
    return -1


@inlined
def _node(p: Any, t: Any, term: Any) -> Any:
    """(id, place) of a subject or object; a blank node is salted with the number of its event."""
    at = p.terms[TERM * term + AT]
    if p.terms[TERM * term + ROLE] != BLANK:
        return p.ids[TERM * term + ID], at
    start = t.state[SPARE]
    end = salt_label(p.out, at, p.terms[TERM * term + END], t.state[SALT], start)
    t.state[SPARE] = end + 1
    return hash_bytes(p.out, start, end, p.key[0], p.key[1]), start


@inlined
def _emit(p: Any, t: Any, statement: Any) -> Any:
    """Writes the triple of a statement as a new row."""
    row, capacity = t.state[ROWS], t.state[CAPACITY]
    ids, places, scale, number = t.ids, t.places, t.scale, t.number
    ids[row], places[row] = _node(p, t, p.statements[statement + SUBJECT])
    term = p.statements[statement + PREDICATE]
    ids[capacity + row], places[capacity + row] = p.ids[TERM * term + ID], p.terms[TERM * term + AT]
    term = p.statements[statement + OBJECT]
    ids[2 * capacity + row], places[2 * capacity + row] = _node(p, t, term)
    number[row] = p.numbers[TERM * term + NUMBER]
    scale[row] = p.terms[TERM * term + SCALE]
    t.state[ROWS] = row + 1


@inlined
def _is_within(p: Any, t: Any, statement: Any, role: Any) -> Any:
    """Whether `place_statement` would only count the statement: its graph is the open event, it gives no time, and nothing in
    it is malformed."""
    state, terms = t.state, p.terms
    if not state[OPEN] or state[FAULT] == TOO_MUCH or (role & TIMED and (state[MESSAGES] == LOG or state[INSIDE])):
        return False
    graph, object = p.statements[statement + GRAPH], p.statements[statement + OBJECT]
    if graph < 0 or state[MESSAGES] == LOG or terms[TERM * graph + AT] != state[NAME]:
        return False
    status = (
        terms[TERM * p.statements[statement + SUBJECT] + STATUS] | terms[TERM * p.statements[statement + PREDICATE] + STATUS]
    )
    return status == 0 and (object < 0 or terms[TERM * object + STATUS] == 0)


@inner
def _group(p: Any, t: Any) -> Any:
    """Puts the statements of a frame into events."""
    state, into = t.state, t.terms
    flat = is_flat(p.state[LOGICAL])
    state[MESSAGES] = 0 if flat else GRAPHS if p.state[GRAPHED] else LOG
    state[SPARE] = p.state[TEXT]
    if state[OPEN]:
        state[OPEN_SPARE] = p.state[TEXT]  # salted labels go behind the terms, also those of an event that is let go
    into[G_QUOTE] = 0
    for statement in range(0, 4 * p.state[STATEMENTS], 4):
        role = role_of(p, p.statements[statement + PREDICATE])
        if _is_within(p, t, statement, role):
            state[TRIPLES] += 1
            if role & ASKED:
                _emit(p, t, statement)
            continue
        malformed = _lay_out(p, statement, into)
        if malformed >= 0:
            row = TERM * malformed
            note_error(p.terms[row + STATUS], state[LINE], p.terms[row + AT], t.errors, state)
            continue
        into[G_KNOWN] = state[OPEN] and p.statements[statement + GRAPH] >= 0 and into[G] == state[NAME]
        id = p.ids[TERM * p.statements[statement + PREDICATE] + ID]
        belongs = place_statement(
            p.out, into[S], into, id, p.times, p.scratch, state, t.ids, t.places, t.number, t.scale, t.events, t.errors
        )
        if belongs and state[FAULT] != TOO_MUCH and role & ASKED:
            _emit(p, t, statement)
    if not flat:
        close_event(state, t.ids, t.places, t.number, t.scale, t.events, t.errors)
    p.state[TEXT] = max(p.state[TEXT], state[SPARE])


@inner
def _table(columns: Any) -> Any:
    ids, places, number, scale, events, errors, scan = columns
    return Table(
        pointer(ids, 0), pointer(places, 0), pointer(number, 0), pointer(scale, 0), pointer(events, 0), pointer(errors, 0),
        pointer(scan, 0), pointer(scan, TERMS_AT),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def end_stream(columns: Any) -> Any:
    """Ends the last event of a flat stream."""
    t = _table(columns)
    close_event(t.state, t.ids, t.places, t.number, t.scale, t.events, t.errors)


@njit(cache=True, nogil=True)
def read_frames(
    data: Any, end: Any, delimited: Any, entries: Any, terms: Any, out: Any, scratch: Any, words: Any, found: Any,
    columns: Any, faults: Any, state: Any,
) -> Any:  # fmt: skip
    """Reads the whole frames of `data[:end]` into the columns. `faults` takes a code and the number of each frame that is not
    used. CONSUMED says how far the frames reach; BAD is set where nothing behind them can be read either. A call ends where
    there is enough for a batch: whether that is why, and there may be more frames."""
    tables, texts, memo = entries
    rows, ids, numbers = terms
    key, asked, times = words
    statements, tokens = found
    p = Pools(
        pointer(data, 0), pointer(tables, 0), pointer(texts, 0), pointer(memo, 0), pointer(rows, 0), pointer(ids, 0),
        pointer(numbers, 0), pointer(out, 0), pointer(scratch, 0), pointer(key, 0), pointer(asked, 0), pointer(times, 0),
        pointer(statements, 0), pointer(tokens, 0), pointer(state, 0),
    )  # fmt: skip
    return _read_frames(p, _table(columns), end, delimited, pointer(faults, 0))


@inner
def _read_frames(p: Any, t: Any, end: Any, delimited: Any, faults: Any) -> Any:
    state = p.state
    while state[CONSUMED] < end and state[TEXT] + 32 * t.state[ROWS] < state[ENOUGH]:
        size, at = end, state[CONSUMED] - state[CONSUMED]
        if delimited:
            size, at = varint(p.data, state[CONSUMED], end)
            if at < 0 or size > end - at:
                write_pending(p)
                return False
        t.state[LINE] += 1
        fault = decode_frame(p, at, at + size)
        state[CONSUMED] = at + size
        if fault:
            state[STATEMENTS] = 0
            faults[2 * state[FAULTS]] = fault
            faults[2 * state[FAULTS] + 1] = t.state[LINE]
            state[FAULTS] += 1
            if fault == TRUNCATED or fault == TOO_NEW:  # noqa: SIM109
                state[BAD] = 1
                return False
        elif state[AS_TEXT]:
            break  # one frame at a time
        else:
            _group(p, t)
    write_pending(p)
    return True
