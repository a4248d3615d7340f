"""The inner loop of admission: streamed triples in, the occurrences that patterns can match out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.kernel.entailment.admitted import END, EVENT, EXPIRES, FOR_EVER, NAME, START, STREAM, TRIPLE
from scepter.kernel.entailment.id_table import look_up
from scepter.kernel.rows import Float64, Int8, Int64, Mask, UInt64
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER

SUBJECT, PREDICATE, OBJECT, CONSTANT = range(4)
"""Where a conclusion's term comes from."""
SCHEMA = 1
"""The set of schema statements."""
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_QUOTE = np.uint8(ord('"'))


@inner
def _matched(perhaps: Any, s: Any, p: Any, o: Any, constants: Any, equal: Any) -> Any:
    """Those of some patterns that a triple matches; their predicates are known to agree."""
    found = _ZERO
    number = 0
    while perhaps != _ZERO:
        if perhaps & _ONE:
            fits = constants[number, 0] in (_ZERO, s) and constants[number, 2] in (_ZERO, o)
            bits = equal[number]
            if bits & 1 and s != p:
                fits = False
            if bits & 2 and s != o:
                fits = False
            if bits & 4 and p != o:
                fits = False
            if fits:
                found |= _ONE << np.uint64(number)
        perhaps >>= _ONE
        number += 1
    return found


class Streamed(NamedTuple):
    """The events of a batch, by event."""

    first: Int64
    wanted: Mask
    stream: Any
    start: Int64
    end: Int64
    name: Int64
    ticks: Int64
    """How long the triples of a stream count."""


class Triples(NamedTuple):
    """The triples of a batch; texts stand in `buffer`, and in the run's texts behind `base`."""

    buffer: Any
    base: int
    subject: UInt64
    predicate: UInt64
    object: UInt64
    subject_at: Int64
    predicate_at: Int64
    object_at: Int64
    number: Float64
    scale: Int8


class Words(NamedTuple):
    """From predicates, and the classes of rdf:type, to sets of conclusions."""

    type_id: Any
    predicate_keys: UInt64
    predicate_values: Int64
    class_keys: UInt64
    class_values: Int64
    otherwise: int
    otherwise_class: int


class ConclusionColumns(NamedTuple):
    """Conclusions, set after set."""

    sets: Int64
    """[set, is the object a literal]: from and to."""
    sources: Int64
    ids: UInt64
    refs: Int64
    number: Float64
    scale: Int8
    sure: UInt64
    perhaps: UInt64
    shown: Mask
    """[conclusion, position]: whether somebody may ask for the term's text."""


class Patterns(NamedTuple):
    """The constants of patterns, and which of their positions must be equal."""

    constants: UInt64
    equal: Int64


@njit(cache=True)
def admit_rows(streamed: Any, triples: Any, event_number: Any, words: Any, patterns: Any, conclusions: Any, out: Any) -> Any:
    """Fill the columns of `out`; how many rows there are, and how many schema statements were seen. What has a name above is
    given as a plain tuple (`inner.plain`).

    Invariants: `rows` is the first free row. A row that feeds no pattern is written over by the next."""
    first, wanted, stream, start, end, name, ticks = streamed
    buffer, base, subject, predicate, object, subject_at, predicate_at, object_at, number, scale = triples
    type_id, predicate_keys, predicate_values, class_keys, class_values, otherwise, otherwise_class = words
    constants, equal = patterns
    sets, sources, const_ids, const_refs, const_number, const_scale, sure, perhaps, shown = conclusions
    out_ids, out_refs, out_number, out_scale, out_when, out_source, out_feeds = out
    rows = 0
    schema = 0
    for e in range(len(end)):
        if not wanted[e]:
            continue
        lasts = ticks[stream[e]]
        expires = FOR_EVER if lasts == FOR_EVER or start[e] > FOR_EVER - lasts else start[e] + lasts
        for r in range(first[e], first[e + 1]):
            s, p, o = subject[r], predicate[r], object[r]
            if p == type_id:
                found = look_up(class_keys, class_values, o, otherwise_class)
            else:
                found = look_up(predicate_keys, predicate_values, p, otherwise)
            if found <= SCHEMA:
                schema += found
                continue
            literal = 1 if buffer[object_at[r]] == _QUOTE else 0
            for c in range(sets[found, literal, 0], sets[found, literal, 1]):
                for position in range(3):
                    source = sources[c, position]
                    if source == SUBJECT:
                        out_ids[rows, position] = s
                        out_refs[rows, position] = subject_at[r] + base
                    elif source == PREDICATE:
                        out_ids[rows, position] = p
                        out_refs[rows, position] = predicate_at[r] + base
                    elif source == OBJECT:
                        out_ids[rows, position] = o
                        out_refs[rows, position] = object_at[r] + base
                    else:
                        out_ids[rows, position] = const_ids[c, position]
                        out_refs[rows, position] = const_refs[c, position]
                    if not shown[c, position]:
                        out_refs[rows, position] = NO_REF
                feeds = sure[c]
                if perhaps[c] != _ZERO:
                    feeds |= _matched(perhaps[c], out_ids[rows, 0], out_ids[rows, 1], out_ids[rows, 2], constants, equal)
                if feeds == _ZERO:
                    continue
                if sources[c, 2] == OBJECT:
                    out_number[rows] = number[r]
                    out_scale[rows] = scale[r]
                elif sources[c, 2] == CONSTANT:
                    out_number[rows] = const_number[c]
                    out_scale[rows] = const_scale[c]
                else:
                    out_number[rows] = np.nan
                    out_scale[rows] = NOT_A_NUMBER
                out_feeds[rows] = feeds
                out_refs[rows, NAME] = name[e]
                out_when[rows, START] = start[e]
                out_when[rows, END] = end[e]
                out_when[rows, EXPIRES] = expires
                out_source[rows, EVENT] = event_number + e
                out_source[rows, STREAM] = stream[e]
                out_source[rows, TRIPLE] = r
                rows += 1
    return rows, schema
