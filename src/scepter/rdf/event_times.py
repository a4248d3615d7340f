"""The times of the open event, as the lines of a scan give them (called by `rdf.grouping`, whose cache watches for it)."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.inner import inner
from scepter.rdf.faults import BAD_TIME, MIXED_KINDS, TIME_RANGE, TWO_TIMES
from scepter.rdf.numerals import DATE_TIME, INTEGER, STRING_TYPE, instant_of
from scepter.rdf.scanner import (
    AT_TIME,
    FAULT,
    FAULT_AT,
    FAULT_LINE,
    HAVE,
    INSIDE,
    KIND,
    LINE,
    O_QUOTE,
    O_TYPE,
    OBJ,
    RANK,
    SLOW,
    SLOW_O,
)
from scepter.rdf.spelling import decode
from scepter.timeline import LAST_INSTANT


@inner
def _read_instant(buffer: Any, at: Any, end: Any, code: Any, lenient: Any) -> Any:
    """As `instant_of`; of a property that the user named, plain strings and datatypes of the vocabulary's own are read too."""
    if not lenient or code > STRING_TYPE:
        return instant_of(buffer, at, end, code)
    kind, instant = instant_of(buffer, at, end, np.int64(DATE_TIME))
    return (kind, instant) if kind else instant_of(buffer, at, end, np.int64(INTEGER))


@inner
def instant_of_literal(buffer: Any, at: Any, quote: Any, code: Any, slow: Any, scratch: Any, state: Any) -> Any:
    """(0 or a fault, the instant) of the literal at `at`; the first kind of time that a run sees rules it."""
    if quote == 0:
        return BAD_TIME, np.int64(0)
    if slow:
        size = decode(buffer, at + 1, quote, scratch, np.int64(0))
        kind, instant = _read_instant(scratch, np.int64(0), size, code, state[INSIDE])
    else:
        kind, instant = _read_instant(buffer, at + 1, quote, code, state[INSIDE])
    if kind <= 0 or instant > LAST_INSTANT or instant < -LAST_INSTANT:
        return BAD_TIME if kind == 0 else TIME_RANGE, np.int64(0)
    if state[KIND] == 0:
        state[KIND] = kind
    return (0 if state[KIND] == kind else MIXED_KINDS), instant


@inner
def take_time(buffer: Any, found: Any, at: Any, terms: Any, scratch: Any, state: Any) -> Any:
    """Notes the time that the line gives by the property `found`; one of a better rank takes the place of what was noted."""
    rank, which = found // 3, found % 3
    if rank > state[RANK]:
        return
    if rank < state[RANK]:
        state[RANK] = rank
        state[HAVE] = 0
        state[FAULT] = 0
    fault, instant = instant_of_literal(buffer, terms[OBJ], terms[O_QUOTE], terms[O_TYPE], terms[SLOW] & SLOW_O, scratch, state)
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


@inner
def time_of(found: Any, time_ids: Any, count: Any) -> Any:
    """Which of the time properties an id is, -1 if none."""
    for i in range(count):
        if time_ids[i] == found:
            return i
    return -1
