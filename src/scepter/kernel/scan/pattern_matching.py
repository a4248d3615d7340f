"""Basic graph patterns on a batch of events: backtracking over each event's rows, with the pattern as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import TriplePattern
from scepter.inner import inner
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.lengthening import filled, lengthened, lengthened_table
from scepter.rdf.words import fresh, heed, lacks, zeroed


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """Triple patterns as numbers: per pattern and position a constant's id (0 for a variable) and a variable's number."""

    constants: NDArray[np.uint64]
    variables: NDArray[np.int64]
    sources: NDArray[np.int64]
    """Per variable: the pattern and position where it first stands."""


def compile_pattern(triples: tuple[TriplePattern, ...], width: int, key: TermKey) -> CompiledPattern:
    """Number a pattern whose variables are named "0", "1", …"""
    constants = np.zeros((len(triples), 3), np.uint64)
    variables = np.full((len(triples), 3), -1, np.int64)
    sources: dict[int, tuple[int, int]] = {}
    for i, triple in enumerate(triples):
        for j, node in enumerate((triple.subject, triple.predicate, triple.object)):
            if isinstance(node, Variable):
                variables[i, j] = int(node.name)
                sources.setdefault(int(node.name), (i, j))
            else:
                constants[i, j] = term_id(key, str(node.term))
    return CompiledPattern(constants, variables, np.array([sources[v] for v in range(width)], np.int64).reshape(width, 2))


@njit(cache=True)
def match_table(batch, wanted, constants, variables, sources, base, number_from, named, cells):  # type: ignore[no-untyped-def]
    """The columns of a table of solutions: every way to lay the patterns on the rows of each wanted event. End, start, event
    and name are the rows of one array: each that a kernel gives back costs Python as much as eight it is given. Texts are told
    from `base` on, events are numbered from `number_from` on; their names only if they are asked for. `batch` is what of a
    batch's columns is looked at, in a tuple."""
    first, subject, predicate, object_, subject_at, predicate_at, object_at, numbers, scales, starts, ends, name_at = batch
    width = len(sources)
    event, rows = _match_rows(first, wanted, subject, predicate, object_, constants, variables, width, cells)
    n = 0 if lacks(cells, len(event) * (32 + 25 * width)) else len(event)
    told = fresh((4, n), np.int64)
    ids, refs = fresh((n, width), np.uint64), fresh((n, width), np.int64)
    number, scale = fresh((n, width), np.float64), fresh((n, width), np.int8)
    for i in range(n):
        e = event[i]
        told[0, i] = ends[e]
        told[1, i] = starts[e]
        told[2, i] = e + number_from
        told[3, i] = name_at[e] + base if named and name_at[e] >= 0 else NO_REF
        for v in range(width):
            row = rows[i, sources[v, 0]]
            number[i, v] = np.nan
            scale[i, v] = NOT_A_NUMBER
            if sources[v, 1] == 0:
                ids[i, v] = subject[row]
                refs[i, v] = subject_at[row] + base
            elif sources[v, 1] == 1:
                ids[i, v] = predicate[row]
                refs[i, v] = predicate_at[row] + base
            else:
                ids[i, v] = object_[row]
                refs[i, v] = object_at[row] + base
                number[i, v] = numbers[row]
                scale[i, v] = scales[row]
    return told, ids, refs, number, scale


@inner
def _match_rows(first, wanted, s, p, o, constants, variables, width, cells):  # type: ignore[no-untyped-def]
    """Every way to lay the patterns on the rows of each wanted event: (event per solution, row per pattern and solution)."""
    depth_max = len(constants)
    capacity = max(16, len(first))
    out_event = fresh(capacity, np.int64)
    out_rows = fresh((capacity, depth_max), np.int64)
    found = tried = np.int64(0)
    row = fresh(depth_max, np.int64)
    value = zeroed(width, np.uint64)
    owner = filled(width, np.int64(-1))
    for e in range(len(first) - 1):
        if not wanted[e] or first[e] == first[e + 1]:
            continue
        depth, known = 0, found
        row[0] = first[e] - 1
        while depth >= 0:
            for v in range(width):
                if owner[v] == depth:
                    owner[v] = -1
            row[depth] += 1
            tried += 1
            if tried % 65_536 == 0 and heed(cells, found - known):
                return out_event[:0], out_rows[:0]
            r = row[depth]
            if r >= first[e + 1]:
                depth -= 1
                continue
            fits = True
            for j in range(3):
                term = s[r] if j == 0 else (p[r] if j == 1 else o[r])
                v = variables[depth, j]
                if v < 0:
                    if constants[depth, j] != term:
                        fits = False
                        break
                elif owner[v] >= 0:
                    if value[v] != term:
                        fits = False
                        break
                else:
                    owner[v] = depth
                    value[v] = term
            if not fits:
                continue
            if depth + 1 < depth_max:
                depth += 1
                row[depth] = first[e] - 1
                continue
            if found == capacity:
                capacity *= 2
                if lacks(cells, 8 * capacity * (depth_max + 1)):
                    return out_event[:0], out_rows[:0]
                out_event, out_rows = lengthened(out_event, found), lengthened_table(out_rows, found, capacity)
            out_event[found] = e
            for j in range(depth_max):  # not by assigning the row: that compiles numba's text of shape mismatches, four seconds
                out_rows[found, j] = row[j]
            found += 1
    return out_event[:found], out_rows[:found]
