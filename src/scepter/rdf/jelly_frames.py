"""Frames of Jelly decoded into statements: protobuf walked byte by byte, each statement four rows of the table of terms.

A term that a statement leaves out is that of the statement before (S_TERM … G_TERM), or none where that one was malformed. A
statement whose predicate nobody asks for is left out, unless it is the first of its frame, subject or graph: then it stands for
an event that is there.

Field numbers are those of the protocol (https://w3id.org/jelly, rdf.proto). Indices into the tables begin with 1; an IRI
without a name's index takes the one behind the last, without a prefix's the last again.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inner
from scepter.rdf.jelly_terms import (
    AT,
    BLANK_TERM,
    BLANKS,
    END,
    FIRST,
    G_TERM,
    GENERALIZED,
    GRAPHED,
    IN_GRAPH,
    IRI_TERM,
    LIMIT,
    LINE_LIMIT,
    LOGICAL,
    NO_TERM,
    O_TERM,
    P_A,
    P_B,
    P_TERM,
    PENDING,
    ROOM,
    S_TERM,
    SIZE,
    SPARE_ROOM,
    STATEMENTS,
    TERM,
    TEXT,
    TOO_LARGE,
    TOO_LONG,
    TOO_NEW,
    TRIPLE_TERM,
    TRUNCATED,
    blank_term,
    iri_term,
    is_asked,
    note_literal,
    resolve,
    take_entry,
    write_pending,
)  # fmt: skip
from scepter.rdf.jelly_wire import field
from scepter.rdf.lexing import UNDERSCORE
from scepter.rdf.spelling import LABEL_ROOM

SUBJECT, PREDICATE, OBJECT, GRAPH = range(4)
_IRI, _BLANK, _LITERAL = range(3)
_NEWEST: Final = 2


@inner
def _object(p: Any, at: Any, end: Any, kind: Any) -> Any:
    """Notes an object, to be written once it is asked for; a fault if it is malformed."""
    state = p.state
    state[O_TERM] = -1
    state[PENDING] = 0
    if kind == _LITERAL:
        return note_literal(p, at, end)
    if kind == _BLANK:
        state[PENDING] = BLANK_TERM
        state[P_A], state[P_B] = at, end
        return 0
    if kind != _IRI:
        return TRIPLE_TERM
    fault, named, begun = resolve(p, at, end)
    if fault:
        return fault
    state[PENDING] = IRI_TERM
    state[P_A], state[P_B] = named, begun
    return 0


@inner
def _name(p: Any, at: Any, end: Any, kind: Any, slot: Any) -> Any:
    """Takes a subject, a predicate or the name of a graph; a fault if it is malformed."""
    p.state[slot] = -1
    if kind == _IRI:
        fault, named, begun = resolve(p, at, end)
        if fault:
            return fault
        found = iri_term(p, named, begun)
    elif kind == _BLANK and slot != P_TERM:
        found = blank_term(p, at, end)
    elif kind > _LITERAL and slot != G_TERM:
        return TRIPLE_TERM
    else:
        return GENERALIZED
    if found < 0:
        return TOO_LARGE
    p.state[slot] = found
    return 0


@inner
def _graph(p: Any, at: Any, end: Any, kind: Any) -> Any:
    """Takes the name of a graph, -1 for the default graph; a fault if it is malformed."""
    if kind == _LITERAL:  # in this place it is the number of the default graph
        p.state[G_TERM] = -1
        return 0
    return _name(p, at, end, kind, G_TERM)


@inner
def _statement(p: Any, at: Any, end: Any, quads: Any) -> Any:
    """Takes a triple or a quad; a fault if it is malformed."""
    state = p.state
    fresh = state[FIRST] != 0
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        position, kind = (number - 1) >> 2, (number - 1) & 3
        if position < 0 or position > GRAPH:
            continue
        if position == PREDICATE:
            fault = _name(p, found, at, kind, P_TERM)
        elif position == OBJECT:
            fault = _object(p, found, at, kind)
        else:
            fresh = True
            fault = _name(p, found, at, kind, S_TERM) if position == SUBJECT else _graph(p, found, at, kind)
        if fault:
            return fault
    if state[S_TERM] < 0 or state[P_TERM] < 0 or (state[O_TERM] < 0 and not state[PENDING]):
        return NO_TERM
    if not quads and not state[IN_GRAPH]:
        state[G_TERM] = -1
    asked = is_asked(p, state[P_TERM])
    if asked or fresh:
        return _keep(p, asked)
    return 0


@inner
def _keep(p: Any, asked: Any) -> Any:
    """Notes the statement of the slots, without its object where nobody asks for it; TOO_LARGE if its frame has become so."""
    state, statements, terms = p.state, p.statements, p.terms
    if asked and state[PENDING] and write_pending(p) < 0:
        return TOO_LARGE
    before = state[SIZE]
    at = 4 * state[STATEMENTS]
    state[STATEMENTS] += 1
    for position in range(4):
        term = state[S_TERM + position]
        if position == OBJECT and not asked:
            term = np.int64(-1)
        statements[at + position] = term
        if term >= 0:
            begin, end = terms[TERM * term + AT], terms[TERM * term + END]
            state[SIZE] += end - begin
            if p.out[begin] == UNDERSCORE:
                state[BLANKS] += end - begin + LABEL_ROOM + 1
    if state[G_TERM] >= 0:
        state[GRAPHED] = 1
    state[FIRST] = 0
    if state[SIZE] - before > state[LINE_LIMIT]:
        return TOO_LONG
    return TOO_LARGE if state[SIZE] > state[LIMIT] or state[TEXT] + state[BLANKS] + SPARE_ROOM > state[ROOM] else 0


@inner
def _options(p: Any, at: Any, end: Any) -> Any:
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        if number == -14:
            p.state[LOGICAL] = found
        elif number == -15 and found > _NEWEST:
            return TOO_NEW
    return 0


@inner
def _begin_graph(p: Any, at: Any, end: Any) -> Any:
    state = p.state
    state[IN_GRAPH] = 1
    state[FIRST] = 1
    state[G_TERM] = -1
    if at == end:
        return 0
    number, begun, ended = field(p.data, at, end)
    return TRUNCATED if ended < 0 else _graph(p, begun, ended, number - 1)


@inner
def _row(p: Any, at: Any, end: Any) -> Any:
    """Takes a row of a frame; a fault if it is malformed."""
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        fault = 0
        if number == 2 or number == 3:
            fault = _statement(p, found, at, number == 3)
        elif number >= 9 and number <= 11:
            fault = take_entry(p, found, at, number - 9)
        elif number == 1:
            fault = _options(p, found, at)
        elif number == 4:
            fault = _begin_graph(p, found, at)
        elif number == 5:
            p.state[IN_GRAPH] = 0
            p.state[G_TERM] = -1
        if fault:
            return fault
    return 0


@inner
def decode_frame(p: Any, at: Any, end: Any) -> Any:
    """Takes the rows of a frame; the first fault in it. Behind a malformed statement the entries are taken all the same: the
    next frames build upon them."""
    state = p.state
    state[STATEMENTS] = state[SIZE] = state[BLANKS] = state[GRAPHED] = 0
    state[FIRST] = 1
    fault = 0
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        if number != 1:
            continue
        wrong = _row(p, found, at)
        if wrong == TRUNCATED or wrong == TOO_NEW:  # noqa: SIM109
            return wrong
        if wrong == TOO_LARGE:
            state[STATEMENTS] = state[SIZE] = state[BLANKS] = 0  # its room serves for the rest of the frame
        fault = fault or wrong
    return fault
