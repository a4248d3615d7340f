"""From lines to events: the layout rules of spec/00 §2 as a kernel over `rdf.scanner`.

An event's lines are contiguous: lines of one graph name, and lines of the default graph that give that name a time. A change
of name ends the event. A line whose fourth element is a time literal is an event by itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from scepter.rdf.hashing import hash_bytes
from scepter.rdf.lexing import CR, LF, UNDERSCORE
from scepter.rdf.numerals import instant_of
from scepter.rdf.scanner import (
    AT_TIME,
    BEGIN,
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
    KIND,
    LIMIT,
    LINE,
    LINES,
    NAME,
    NAME_END,
    NAME_SLOW,
    NEXT,
    O_QUOTE,
    O_TYPE,
    OBJ,
    OPEN,
    OPEN_AT,
    OPEN_ERRORS,
    OPEN_LINE,
    OPEN_ROWS,
    OPEN_SPARE,
    ROWS,
    S_END,
    SALT,
    SLOTS,
    SLOW,
    SLOW_G,
    SLOW_O,
    SLOW_S,
    SPARE,
    STATEMENT,
    TERMS,
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
from scepter.rdf.spelling import canonical, decode

# Reasons beside those of `lexing` why a line or an event is not used
(OUTSIDE, BAD_TIME, TIME_RANGE, MIXED_KINDS, TWO_TIMES, NO_TIME, NO_TRIPLES, HALF_INTERVAL, BACKWARDS) = range(-32, -41, -1)

_HAVE_AT, _HAVE_FROM, _HAVE_TO = 1, 2, 4
_SMALL_EVENT: Final = 24
_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def _error(code: Any, line: Any, at: Any, errors: Any, state: Any) -> Any:
    row = state[ERRORS]
    errors[0, row] = code
    errors[1, row] = line
    errors[2, row] = at
    state[ERRORS] = row + 1


@njit(cache=True, nogil=True)
def _open(start: Any, end: Any, slow: Any, at: Any, state: Any) -> Any:
    state[OPEN] = 1
    state[NAME] = start
    state[NAME_END] = end
    state[NAME_SLOW] = slow
    state[TRIPLES] = 0
    state[LINES] = 0
    state[HAVE] = 0
    state[FAULT] = 0
    state[SALT] += 1
    state[OPEN_AT] = at
    state[OPEN_LINE] = state[LINE]
    state[OPEN_ROWS] = state[ROWS]
    state[OPEN_ERRORS] = state[ERRORS]
    state[OPEN_SPARE] = state[SPARE]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _close(state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any) -> Any:
    if not state[OPEN]:
        return
    state[OPEN] = 0
    fault = _fault_of(state)
    if fault:
        faulty = state[FAULT] != 0
        line = state[FAULT_LINE] if faulty else state[OPEN_LINE]
        _error(fault, line, state[FAULT_AT] if faulty else state[OPEN_AT], errors, state)
        state[ROWS] = state[OPEN_ROWS]
        state[SPARE] = state[OPEN_SPARE]
        return
    instant = state[HAVE] == _HAVE_AT
    start = state[AT_TIME] if instant else state[FROM_TIME]
    end = state[AT_TIME] if instant else state[TO_TIME]
    _event(start, end, state[NAME], state, ids, places, number, scale, events)


@njit(cache=True, nogil=True)
def _event(start: Any, end: Any, name: Any, state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any) -> Any:
    """Notes the event of the rows since OPEN_ROWS, a set of triples."""
    first = state[OPEN_ROWS]
    if state[ROWS] - first > 1:
        _drop_repeated(first, state, ids, places, number, scale)
    row = state[EVENTS]
    events[0, row] = start
    events[1, row] = end
    events[2, row] = name
    events[3, row] = first
    state[EVENTS] = row + 1


@njit(cache=True, nogil=True)
def _drop_repeated(first: Any, state: Any, ids: Any, places: Any, number: Any, scale: Any) -> Any:
    """A graph is a set: keeps the first of equal triples among the rows from `first` on."""
    stop = state[ROWS]
    large = stop - first > _SMALL_EVENT
    size = 1
    while large and size < 2 * (stop - first):
        size *= 2
    table = np.zeros(size, np.int64) if large else np.zeros(1, np.int64)
    out = first
    for row in range(first, stop):
        if large:
            repeated = _in_table(row, out, size - 1, table, ids)
        else:
            repeated = False
            for other in range(first, out):
                if ids[2, other] == ids[2, row] and ids[1, other] == ids[1, row] and ids[0, other] == ids[0, row]:
                    repeated = True
                    break
        if repeated:
            continue
        if out != row:
            for i in range(3):
                ids[i, out] = ids[i, row]
                places[i, out] = places[i, row]
            number[out] = number[row]
            scale[out] = scale[row]
        out += 1
    state[ROWS] = out


@njit(cache=True, nogil=True)
def _in_table(row: Any, out: Any, mask: Any, table: Any, ids: Any) -> Any:
    """Whether an equal row is in the table of kept rows (row + 1; 0 is free); adds it as `out` if not."""
    mixed = (ids[0, row] * np.uint64(3) + ids[1, row]) * np.uint64(5) + ids[2, row]
    i = np.int64(mixed & np.uint64(mask))
    while table[i]:
        other = table[i] - 1
        if ids[2, other] == ids[2, row] and ids[1, other] == ids[1, row] and ids[0, other] == ids[0, row]:
            return True
        i = (i + 1) & mask
    table[i] = out + 1
    return False


@njit(cache=True, nogil=True)
def _is_open(buffer: Any, start: Any, end: Any, slow: Any, scratch: Any, state: Any) -> Any:
    """Whether the open event has the name `buffer[start:end]`, however it is spelt."""
    if not state[OPEN]:
        return False
    size = end - start
    if state[NAME_END] - state[NAME] == size and same_bytes(buffer, start, state[NAME], size):
        return True
    if not (slow or state[NAME_SLOW]) or buffer[start] == UNDERSCORE or buffer[state[NAME]] == UNDERSCORE:
        return False
    mine = hash_bytes(scratch, 0, canonical(buffer, start, end, 0, 0, scratch), _ZERO, _ZERO)
    other = hash_bytes(scratch, 0, canonical(buffer, state[NAME], state[NAME_END], 0, 0, scratch), _ZERO, _ZERO)
    return mine == other


@njit(cache=True, nogil=True)
def _instant(buffer: Any, at: Any, quote: Any, code: Any, slow: Any, scratch: Any, state: Any) -> Any:
    """(0 or a fault, the instant) of the literal at `at`; the first kind of time that a run sees rules it."""
    if quote == 0:
        return BAD_TIME, np.int64(0)
    if slow:
        kind, instant = instant_of(scratch, 0, decode(buffer, at + 1, quote, scratch, 0), code)
    else:
        kind, instant = instant_of(buffer, at + 1, quote, code)
    if kind <= 0:
        return BAD_TIME if kind == 0 else TIME_RANGE, np.int64(0)
    if state[KIND] == 0:
        state[KIND] = kind
    return (0 if state[KIND] == kind else MIXED_KINDS), instant


@njit(cache=True, nogil=True)
def _take_time(buffer: Any, which: Any, at: Any, terms: Any, scratch: Any, state: Any) -> Any:
    fault, instant = _instant(buffer, terms[OBJ], terms[O_QUOTE], terms[O_TYPE], terms[SLOW] & SLOW_O, scratch, state)
    flag = 1 << which
    slot = AT_TIME + which
    if fault == 0:
        if not state[HAVE] & flag:
            state[HAVE] |= flag
            state[slot] = instant
        elif state[slot] != instant:
            fault = TWO_TIMES
    if fault and not state[FAULT]:
        state[FAULT] = fault
        state[FAULT_LINE] = state[LINE]
        state[FAULT_AT] = at


@njit(cache=True, nogil=True)
def _time_of(found: Any, time_ids: Any) -> Any:
    for i in range(len(time_ids)):
        if time_ids[i] == found:
            return i
    return -1


@njit(cache=True, nogil=True)
def scan_events(
    buffer: Any, table: Any, prune: Any, scratch: Any, key: Any, time_ids: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any, state: Any,
) -> Any:  # fmt: skip
    """Scans `buffer[BEGIN:LIMIT]`, whole lines followed by a sentinel. Unless FINAL, the last event stays open: CONSUMED says
    where it begins, and nothing of it is in the columns."""
    terms = np.zeros(TERMS, np.int64)
    predicates = np.zeros((2, SLOTS), np.int64)
    known_ids = np.zeros(SLOTS + 1, np.uint64)
    at = state[BEGIN]
    limit = state[LIMIT]
    while at < limit:
        status = scan_line(buffer, at, terms, scratch, state, predicates)
        if status == STATEMENT:
            found = predicate_id(buffer, terms, scratch, key, state, predicates, known_ids)
            state[LINES] += 1
            which = -1
            if terms[G] == terms[G_END]:
                which = _time_of(found, time_ids)
                if which < 0:
                    _error(OUTSIDE, state[LINE], at, errors, state)
                else:
                    if not _is_open(buffer, terms[S], terms[S_END], terms[SLOW] & SLOW_S, scratch, state):
                        _close(state, ids, places, number, scale, events, errors)
                        _open(terms[S], terms[S_END], terms[SLOW] & SLOW_S, at, state)
                    _take_time(buffer, which, at, terms, scratch, state)
            elif terms[G_QUOTE]:
                _close(state, ids, places, number, scale, events, errors)
                slow = terms[SLOW] & SLOW_G
                fault, instant = _instant(buffer, terms[G], terms[G_QUOTE], terms[G_TYPE], slow, scratch, state)
                if fault:
                    _error(fault, state[LINE], at, errors, state)
                else:
                    state[SALT] += 1
                    state[OPEN_ROWS] = state[ROWS]
                    if not prune or wanted(table, found):
                        emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
                    _event(instant, instant, -1, state, ids, places, number, scale, events)
            else:
                slow = terms[SLOW] & SLOW_G
                if not terms[G_KNOWN] and not _is_open(buffer, terms[G], terms[G_END], slow, scratch, state):
                    _close(state, ids, places, number, scale, events, errors)
                    _open(terms[G], terms[G_END], slow, at, state)
                state[TRIPLES] += 1
                if not prune or wanted(table, found):
                    emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
        elif status < 0:
            _error(status, state[LINE], at, errors, state)
        at = _next_line(buffer, terms[NEXT], limit)
        state[LINE] += 1
    _end_scan(state, ids, places, number, scale, events, errors)


@njit(cache=True, nogil=True)
def _next_line(buffer: Any, at: Any, limit: Any) -> Any:
    end = line_end(buffer, at)
    return end + 2 if buffer[end] == CR and end + 1 < limit and buffer[end + 1] == LF else end + 1


@njit(cache=True, nogil=True)
def _end_scan(state: Any, ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any) -> Any:
    state[CONSUMED] = state[LIMIT]
    if not state[OPEN]:
        return
    if state[FINAL]:
        _close(state, ids, places, number, scale, events, errors)
        return
    state[OPEN] = 0
    state[CONSUMED] = state[OPEN_AT]
    state[LINE] = state[OPEN_LINE]
    state[ROWS] = state[OPEN_ROWS]
    state[ERRORS] = state[OPEN_ERRORS]
    state[SPARE] = state[OPEN_SPARE]
    state[SALT] -= 1


@njit(cache=True, nogil=True)
def scan_grouped(
    buffer: Any, table: Any, prune: Any, scratch: Any, key: Any, bounds: Any, given: Any,
    ids: Any, places: Any, number: Any, scale: Any, events: Any, errors: Any, state: Any,
) -> Any:  # fmt: skip
    """Scans triples whose events are known: event e is `buffer[bounds[e]:bounds[e + 1]]`, with the start, end and name offset
    `given[:, e]`. The fourth element of a line is ignored. LINE of an error is the index of its event."""
    terms = np.zeros(TERMS, np.int64)
    predicates = np.zeros((2, SLOTS), np.int64)
    known_ids = np.zeros(SLOTS + 1, np.uint64)
    for event in range(len(bounds) - 1):
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
                if not prune or wanted(table, found):
                    emit(buffer, terms, found, scratch, key, known_ids, state, ids, places, number, scale)
            elif status < 0:
                _error(status, event, at, errors, state)
            at = _next_line(buffer, terms[NEXT], bounds[event + 1])
        if state[TRIPLES]:
            _event(given[0, event], given[1, event], given[2, event], state, ids, places, number, scale, events)
        else:
            _error(NO_TRIPLES, event, bounds[event], errors, state)
