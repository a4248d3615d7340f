"""From lines to events: the layout rules of spec/00 §2 as a kernel over `rdf.scanner`.

An event's lines are contiguous: lines of one graph name, and lines of the default graph that give that name a time. A change
of name ends the event, and so does MESSAGE_END. A line whose fourth element is a time literal is an event by itself. Where the
user names the time properties (INSIDE), they are also looked for among the lines of the graph, and lines of the default graph
belong to the event that their subject names. In a log (VERSION "1.2-messages") a message without named graphs is one event.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.rdf.directives import GRAPHS, LOG, MESSAGE, directive_at
from scepter.rdf.event_times import instant_of_literal, take_time, time_of
from scepter.rdf.faults import BACKWARDS, HALF_INTERVAL, NO_TIME, NO_TRIPLES, OUTSIDE, TWO_TIMES
from scepter.rdf.graph_sets import drop_repeated, drop_repeated_of_many
from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import BAD_SUBJECT, CR, HASH, LF, UNDERSCORE
from scepter.rdf.scanner import (
    AT_TIME,
    BEGIN,
    CAPACITY,
    CONSUMED,
    ERRORS,
    EVENTS,
    FAULT,
    FAULT_AT,
    FAULT_LINE,
    FINAL,
    FROM_TIME,
    G_END,
    G_KNOWN,
    G_QUOTE,
    G_TYPE,
    HAVE,
    INSIDE,
    LAST_S_SIZE,
    LIMIT,
    LINE,
    LINES,
    MESSAGES,
    NAME,
    NAME_END,
    NAME_SLOW,
    NEXT,
    OPEN,
    OPEN_AT,
    OPEN_ERRORS,
    OPEN_LINE,
    OPEN_ROWS,
    OPEN_SPARE,
    PREDICATES_AT,
    RANK,
    ROWS,
    S_END,
    SALT,
    SLOTS,
    SLOW,
    SLOW_G,
    SLOW_S,
    SPARE,
    STAMP,
    STAMP_SIZE,
    STAMP_TIME,
    STATEMENT,
    STREAM,
    TERMS_AT,
    TIMES,
    TO_TIME,
    TRIPLES,
    G,
    S,
    emit,
    line_end,
    predicate_id,
    same_bytes,
    scan_line,
    wanted,
)  # fmt: skip
from scepter.rdf.spelling import canonical
from scepter.rdf.words import pointer

_HAVE_AT, _HAVE_FROM, _HAVE_TO = 1, 2, 4
_SMALL_EVENT: Final = 24
MESSAGE_END: Final = 0x1E
"""A comment that begins with this byte ends the open event: messages of a broker are read together, and two that follow each
other may use one name for two events."""
_NO_RANK: Final = 1 << 30
_ZERO = np.uint64(0)


@inner
def note_error(code: Any, line: Any, at: Any, errors: Any, state: Any) -> Any:
    """Notes what is wrong with the line at `at`."""
    row = state[ERRORS]
    errors[3 * row] = code
    errors[3 * row + 1] = line
    errors[3 * row + 2] = at
    state[ERRORS] = row + 1


@inner
def _open(start: Any, end: Any, slow: Any, at: Any, state: Any) -> Any:
    state[OPEN] = 1
    state[NAME] = start
    state[NAME_END] = end
    state[NAME_SLOW] = slow
    state[TRIPLES] = 0
    state[LINES] = 0
    state[HAVE] = 0
    state[FAULT] = 0
    state[RANK] = _NO_RANK
    state[SALT] += 1
    state[OPEN_AT] = at
    state[OPEN_LINE] = state[LINE]
    state[OPEN_ROWS] = state[ROWS]
    state[OPEN_ERRORS] = state[ERRORS]
    state[OPEN_SPARE] = state[SPARE]


@inner
def _fault_of(state: Any) -> Any:
    have = state[HAVE]
    if state[FAULT]:
        return state[FAULT]
    if have == 0:
        return NO_TIME
    if have & _HAVE_AT and have != _HAVE_AT:
        return TWO_TIMES
    if have in (_HAVE_FROM, _HAVE_TO):
        return HALF_INTERVAL
    if have != _HAVE_AT and state[FROM_TIME] > state[TO_TIME]:
        return BACKWARDS
    return 0 if state[TRIPLES] else NO_TRIPLES


@inner
def close_event(state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any) -> Any:
    """Ends the open event, if there is one: it is noted, or let go with the reason."""
    if not state[OPEN]:
        return
    state[OPEN] = 0
    fault = _fault_of(state)
    if fault:
        faulty = state[FAULT] != 0
        line = state[FAULT_LINE] if faulty else state[OPEN_LINE]
        note_error(fault, line, state[FAULT_AT] if faulty else state[OPEN_AT], errors, state)
        state[ROWS] = state[OPEN_ROWS]
        state[SPARE] = state[OPEN_SPARE]
        return
    instant = state[HAVE] == _HAVE_AT
    start = state[AT_TIME] if instant else state[FROM_TIME]
    end = state[AT_TIME] if instant else state[TO_TIME]
    _event(start, end, state[NAME], state[STREAM], state, ids, places, number, scale, events)


@inner
def _event(
    start: Any, end: Any, name: Any, stream: Any, state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any
) -> Any:
    """Notes the event of the rows since OPEN_ROWS, a set of triples."""
    first = state[OPEN_ROWS]
    if state[ROWS] - first > _SMALL_EVENT:
        drop_repeated_of_many(first, state, ids, places, number, scale)
    elif state[ROWS] - first > 1:
        drop_repeated(first, state, ids, places, number, scale)
    row, size = state[EVENTS], state[CAPACITY] + 1
    events[row] = start
    events[size + row] = end
    events[2 * size + row] = name
    events[3 * size + row] = first
    events[4 * size + row] = stream
    state[EVENTS] = row + 1


@inner
def _is_open(buffer: Any, start: Any, end: Any, slow: Any, scratch: Any, state: Any) -> Any:
    """Whether the open event has the name `buffer[start:end]`, however it is spelt."""
    if not state[OPEN]:
        return False
    size = end - start
    if state[NAME_END] - state[NAME] == size and same_bytes(buffer, start, state[NAME], size):
        return True
    if not (slow or state[NAME_SLOW]) or buffer[start] == UNDERSCORE or buffer[state[NAME]] == UNDERSCORE:
        return False
    mine = hash_bytes(scratch, np.int64(0), canonical(buffer, start, end, np.int64(0), np.int64(0), scratch), _ZERO, _ZERO)
    other = hash_bytes(
        scratch, np.int64(0), canonical(buffer, state[NAME], state[NAME_END], np.int64(0), np.int64(0), scratch), _ZERO, _ZERO
    )
    return mine == other


@njit(cache=True, nogil=True)
def scan_events(
    buffer: Any, table: Any, prune: Any, scratch: Any, key: Any, time_ids: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any, known_ids: Any, state: Any,
) -> Any:  # fmt: skip
    """Scans `buffer[BEGIN:LIMIT]`, whole lines followed by a sentinel. Unless FINAL, the last event stays open: CONSUMED says
    where it begins, and nothing of it is in the columns."""
    _scan_events(
        pointer(buffer, 0), pointer(table, 0), len(table), prune, pointer(scratch, 0), pointer(key, 0), pointer(time_ids, 0),
        pointer(ids, 0), pointer(places, 0), pointer(number, 0), pointer(scale, 0), pointer(events, 0), pointer(errors, 0),
        pointer(known_ids, 0), pointer(state, 0), pointer(state, TERMS_AT), pointer(state, PREDICATES_AT),
    )  # fmt: skip


@inner
def _scan_events(
    buffer: Any, table: Any, table_size: Any, prune: Any, scratch: Any, key: Any, time_ids: Any, ids: Any, places: Any,
    number: Any, scale: Any, events: Any, errors: Any, known_ids: Any, state: Any, terms: Any, predicates: Any,
) -> Any:  # fmt: skip
    at = state[BEGIN]
    limit = state[LIMIT]
    while at < limit:
        status = scan_line(buffer, at, terms, scratch, state, predicates)
        if status < 0:
            directive = directive_at(buffer, at, state) if status == BAD_SUBJECT else 0
            if directive == 0:
                note_error(status, state[LINE], at, errors, state)
            elif directive == MESSAGE:
                close_event(state, ids, places, number, scale, events, errors)
                state[MESSAGES] = LOG
        elif status == STATEMENT and state[MESSAGES] == LOG and terms[G] != terms[G_END]:
            # the message has named graphs: what was read of it as one event is read again, by graphs
            state[MESSAGES] = GRAPHS
            if state[OPEN]:
                at = _undo_open(state)
            continue
        elif status == STATEMENT:
            found = predicate_id(buffer, terms, scratch, key, state, predicates, known_ids)
            state[LINES] += 1
            if terms[G_QUOTE]:
                fault, instant = _stamp(buffer, at, terms, scratch, state, ids, places, number, scale, events, errors)
                # triples that stand alone have no place in an event: what predicate comes next, the last one tells
                state[LINES] = np.int64(found & np.uint64(SLOTS - 1))
                if fault == 0 and (not prune or wanted(table, table_size, found)):
                    emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
                if fault == 0:
                    _event(instant, instant, np.int64(-1), state[STREAM], state, ids, places, number, scale, events)
            elif place_statement(
                buffer, at, terms, found, time_ids, scratch, state, ids, places, number, scale, events, errors
            ) and (not prune or wanted(table, table_size, found)):
                emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
        elif buffer[terms[NEXT]] == HASH and buffer[terms[NEXT] + 1] == MESSAGE_END:
            close_event(state, ids, places, number, scale, events, errors)
            state[MESSAGES] = 0
        at = _next_line(buffer, terms[NEXT], limit)
        state[LINE] += 1
    _end_scan(state, ids, places, number, scale, events, errors)


@inner
def place_statement(
    buffer: Any, at: Any, terms: Any, found: Any, time_ids: Any, scratch: Any, state: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any,
) -> Any:  # fmt: skip
    """Puts the statement of `terms`, whose fourth element is no time, into its event; whether its triple is one of the
    event's."""
    if state[MESSAGES] == LOG:
        _enter_message(buffer, at, terms, state)
    elif terms[G] == terms[G_END]:
        which = time_of(found, time_ids, state[TIMES])
        if which < 0 and not state[INSIDE]:
            note_error(np.int64(OUTSIDE), state[LINE], at, errors, state)
            return False
        _enter(buffer, terms[S], terms[S_END], terms[SLOW] & SLOW_S, at, scratch, state,
               ids, places, number, scale, events, errors)  # fmt: skip
        if not state[INSIDE]:
            take_time(buffer, which, at, terms, scratch, state)
            return False
    elif not terms[G_KNOWN]:
        _enter(buffer, terms[G], terms[G_END], terms[SLOW] & SLOW_G, at, scratch, state,
               ids, places, number, scale, events, errors)  # fmt: skip
    if state[MESSAGES] == LOG or state[INSIDE]:
        which = time_of(found, time_ids, state[TIMES])
        if which >= 0:
            take_time(buffer, which, at, terms, scratch, state)
    state[TRIPLES] += 1
    return True


@inner
def _undo_open(state: Any) -> Any:
    """Forgets the open event; where its first line stands."""
    state[OPEN] = 0
    state[LINE] = state[OPEN_LINE]
    state[ROWS] = state[OPEN_ROWS]
    state[ERRORS] = state[OPEN_ERRORS]
    state[SPARE] = state[OPEN_SPARE]
    state[SALT] -= 1
    state[LAST_S_SIZE] = 0  # its salted label may be written over
    return state[OPEN_AT]


@inner
def _enter_message(buffer: Any, at: Any, terms: Any, state: Any) -> Any:
    """A message without named graphs is one event, called by the first IRI among its subjects."""
    if not state[OPEN]:
        _open(terms[S], terms[S_END], terms[SLOW] & SLOW_S, at, state)
    elif buffer[state[NAME]] == UNDERSCORE and buffer[terms[S]] != UNDERSCORE:
        state[NAME] = terms[S]
        state[NAME_END] = terms[S_END]
        state[NAME_SLOW] = terms[SLOW] & SLOW_S


@inner
def _enter(
    buffer: Any, start: Any, end: Any, slow: Any, at: Any, scratch: Any, state: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any,
) -> Any:  # fmt: skip
    """Makes the event named `buffer[start:end]` the open one."""
    if not _is_open(buffer, start, end, slow, scratch, state):
        close_event(state, ids, places, number, scale, events, errors)
        _open(start, end, slow, at, state)


@inner
def _stamp(
    buffer: Any, at: Any, terms: Any, scratch: Any, state: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any,
) -> Any:  # fmt: skip
    """(0 or a fault, the instant) of a timestamped triple; ends the open event and prepares one of a single row."""
    close_event(state, ids, places, number, scale, events, errors)
    fault, instant = 0, state[STAMP_TIME]
    if not terms[G_KNOWN]:
        slow = terms[SLOW] & SLOW_G
        fault, instant = instant_of_literal(buffer, terms[G], terms[G_QUOTE], terms[G_TYPE], slow, scratch, state)
        state[STAMP] = terms[G]
        state[STAMP_SIZE] = 0 if fault or slow else terms[G_END] - terms[G]
        state[STAMP_TIME] = instant
    if fault:
        note_error(fault, state[LINE], at, errors, state)
    else:
        state[SALT] += 1
        state[OPEN_ROWS] = state[ROWS]
    return fault, instant


@inner
def _next_line(buffer: Any, at: Any, limit: Any) -> Any:
    end = line_end(buffer, at)
    return end + 2 if buffer[end] == CR and end + 1 < limit and buffer[end + 1] == LF else end + 1


@inner
def _end_scan(state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any) -> Any:
    state[CONSUMED] = state[LIMIT]
    if not state[OPEN]:
        return
    if state[FINAL]:
        close_event(state, ids, places, number, scale, events, errors)
        return
    state[CONSUMED] = _undo_open(state)


@njit(cache=True, nogil=True)
def scan_grouped(
    buffer: Any, table: Any, prune: Any, scratch: Any, key: Any, bounds: Any, given: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any, known_ids: Any, state: Any,
) -> Any:  # fmt: skip
    """Scans triples whose events are known: event e is `buffer[bounds[e]:bounds[e + 1]]`, with the start, end, name offset
    and stream `given[4 * e : 4 * e + 4]`. The fourth element of a line is ignored.
    LINE of an error is the index of its event."""
    _scan_grouped(
        pointer(buffer, 0), pointer(table, 0), len(table), prune, pointer(scratch, 0), pointer(key, 0), pointer(bounds, 0),
        len(bounds) - 1, pointer(given, 0), pointer(ids, 0), pointer(places, 0), pointer(number, 0), pointer(scale, 0),
        pointer(events, 0), pointer(errors, 0), pointer(known_ids, 0), pointer(state, 0), pointer(state, TERMS_AT),
        pointer(state, PREDICATES_AT),
    )  # fmt: skip


@inner
def _scan_grouped(
    buffer: Any, table: Any, table_size: Any, prune: Any, scratch: Any, key: Any, bounds: Any, count: Any, given: Any, ids: Any,
    places: Any, number: Any, scale: Any, events: Any, errors: Any, known_ids: Any, state: Any, terms: Any, predicates: Any,
) -> Any:  # fmt: skip
    for event in range(count):
        state[SALT] += 1
        state[LINES] = 0
        state[TRIPLES] = 0
        state[OPEN_ROWS] = state[ROWS]
        at = bounds[event]
        while at < bounds[event + 1]:
            status = scan_line(buffer, at, terms, scratch, state, predicates)
            if status == STATEMENT:
                found = predicate_id(buffer, terms, scratch, key, state, predicates, known_ids)
                state[LINES] += 1
                state[TRIPLES] += 1
                if not prune or wanted(table, table_size, found):
                    emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
            elif status < 0:
                note_error(status, event, at, errors, state)
            at = _next_line(buffer, terms[NEXT], bounds[event + 1])
        if state[TRIPLES]:
            start, end, name, stream = given[4 * event], given[4 * event + 1], given[4 * event + 2], given[4 * event + 3]
            _event(start, end, name, stream, state, ids, places, number, scale, events)
        else:
            note_error(NO_TRIPLES, event, bounds[event], errors, state)
