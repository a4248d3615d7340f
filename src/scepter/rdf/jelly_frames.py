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

from scepter.inner import inlined, inner
from scepter.rdf.jelly_terms import (
    ASKED,
    AT,
    BLANK,
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
    P_TAG,
    P_TAG_END,
    P_TERM,
    PENDING,
    ROLE,
    ROOM,
    S_TERM,
    SIZE,
    SPARE_ROOM,
    STATEMENTS,
    TERM,
    TEXT,
    TIMED,
    TOO_LARGE,
    TOO_LONG,
    TOO_NEW,
    TRIPLE_TERM,
    TRUNCATED,
    blank_term,
    indices_of,
    iri_term,
    note_literal,
    note_parts,
    resolve,
    role_of,
    take_entry,
    write_pending,
)  # fmt: skip
from scepter.rdf.jelly_wire import IRI_TOKEN, LITERAL_TOKEN, SHORT_QUAD, TOKENS, cut_rows, field
from scepter.rdf.spelling import LABEL_ROOM

SUBJECT, PREDICATE, OBJECT, GRAPH = range(4)
_IRI, _BLANK, _LITERAL = range(3)
_TRIPLE, _QUAD, _GRAPH_START = 2, 3, 4
_NEWEST: Final = 2


@inlined
def _take_iri(p: Any, prefix: Any, name: Any, position: Any) -> Any:
    """Takes an IRI of a statement; a fault if it is malformed. An object is noted, to be written once it is asked for."""
    state = p.state
    state[S_TERM + position] = -1
    if position == OBJECT:
        state[PENDING] = 0
    fault, named, begun = resolve(p, prefix, name)
    if fault:
        return fault
    if position == OBJECT:
        state[PENDING] = IRI_TERM
        state[P_A], state[P_B] = named, begun
        return 0
    found = iri_term(p, named, begun)
    if found < 0:
        return TOO_LARGE
    state[S_TERM + position] = found
    return 0


@inner
def _take(p: Any, at: Any, end: Any, kind: Any, position: Any) -> Any:
    """Takes a term of a statement, however it is written; a fault if it is malformed."""
    state = p.state
    if kind == _IRI:
        prefix, name, behind = indices_of(p.data, at, end)
        if behind >= 0:
            return _take_iri(p, prefix, name, position)
    state[S_TERM + position] = -1
    if position == OBJECT:
        state[PENDING] = 0
    if kind == _IRI:
        return TRUNCATED
    if kind == _LITERAL and position == OBJECT:
        return note_parts(p, at, end)
    if kind == _LITERAL and position == GRAPH:  # in this place it is the number of the default graph
        return 0
    if kind == _BLANK and position == OBJECT:
        state[PENDING] = BLANK_TERM
        state[P_A], state[P_B] = at, end
        return 0
    if kind != _BLANK or position == PREDICATE:
        return TRIPLE_TERM if kind > _LITERAL and position != GRAPH else GENERALIZED
    found = blank_term(p, at, end)
    if found < 0:
        return TOO_LARGE
    state[S_TERM + position] = found
    return 0


@inner
def _statement(p: Any, at: Any, end: Any, row: Any) -> Any:
    """Takes a triple or a quad, or the graph of the triples that follow; a fault if it is malformed."""
    state = p.state
    before = 0
    if row == _GRAPH_START:
        before = 4 * GRAPH
        state[IN_GRAPH] = state[FIRST] = 1
        state[G_TERM] = -1
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        place = before + number - 1
        if number < 1 or place > 4 * GRAPH + 3:
            continue
        position = place >> 2
        if position != PREDICATE and position != OBJECT:
            state[FIRST] = 1
        fault = _take(p, found, at, place & 3, position)
        if fault:
            return fault
    return 0 if row == _GRAPH_START else _end_statement(p, row == _QUAD)


@inlined
def _take_tokens(p: Any, row: Any) -> Any:
    """Takes a statement by its tokens; a fault if it is malformed."""
    state, tokens = p.state, p.tokens
    for position in range(4):
        token = tokens[row + 1 + position]
        if token == 0:
            continue
        if position != PREDICATE and position != OBJECT:
            state[FIRST] = 1
        kind, fault = token & 255, 0
        if kind == IRI_TOKEN:
            fault = _take_iri(p, token >> 8 & 255, token >> 16, position)
        elif kind == LITERAL_TOKEN:
            low = token >> 32
            state[O_TERM] = -1
            state[P_TAG] = state[P_TAG_END] = 0
            fault = note_literal(p, low, low + (token >> 8 & 255), (token >> 16 & 255) - 1)
        else:
            state[G_TERM] = -1
        if fault:
            return fault
    return _end_statement(p, tokens[row] == SHORT_QUAD)


@inlined
def _end_statement(p: Any, quad: Any) -> Any:
    """Notes the statement of the slots, if it is asked for; a fault if a term is not there."""
    state = p.state
    if state[S_TERM] < 0 or state[P_TERM] < 0 or (state[O_TERM] < 0 and not state[PENDING]):
        return NO_TERM
    if not quad and not state[IN_GRAPH]:
        state[G_TERM] = -1
    asked = role_of(p, state[P_TERM]) & (ASKED | TIMED)
    return _keep(p, asked) if asked or state[FIRST] else 0


@inlined
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
            size = terms[TERM * term + END] - terms[TERM * term + AT]
            state[SIZE] += size
            if terms[TERM * term + ROLE] == BLANK:
                state[BLANKS] += size + LABEL_ROOM + 1
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
def _row(p: Any, at: Any, end: Any) -> Any:
    """Takes a row of a frame; a fault if it is malformed."""
    while at < end:
        number, found, at = field(p.data, at, end)
        if at < 0:
            return TRUNCATED
        fault = 0
        if number >= _TRIPLE and number <= _GRAPH_START:
            fault = _statement(p, found, at, number)
        elif number >= 9 and number <= 11:
            fault = take_entry(p, found, at, number - 9)
        elif number == 1:
            fault = _options(p, found, at)
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
        rows, at = cut_rows(p.data, at, end, p.tokens)
        for row in range(0, TOKENS * rows, TOKENS):
            wrong = _take_tokens(p, row) if p.tokens[row] < 0 else _row(p, p.tokens[row], p.tokens[row + 1])
            if wrong == TRUNCATED or wrong == TOO_NEW:  # noqa: SIM109
                return wrong
            if wrong == TOO_LARGE:
                state[STATEMENTS] = state[SIZE] = state[BLANKS] = 0  # its room serves for the rest of the frame
            fault = fault or wrong
        if at < 0:
            return TRUNCATED
    return fault
