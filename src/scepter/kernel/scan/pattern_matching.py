"""Basic graph patterns on a batch of events: backtracking over each event's rows, with the pattern as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import TriplePattern
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.lengthening import filled, lengthened, lengthened_table
from scepter.rdf.words import fresh, zeroed


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """Triple patterns as numbers: per pattern and position a constant's id (0 for a variable) and a variable's number."""

    constants: NDArray[np.uint64]
    variables: NDArray[np.int64]
    width: int
    sources: tuple[tuple[int, int], ...]
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
    return CompiledPattern(constants, variables, width, tuple(sources[v] for v in range(width)))


@njit(cache=True)
def match_rows(first, wanted, s, p, o, constants, variables, width):  # type: ignore[no-untyped-def]
    """Every way to lay the patterns on the rows of each wanted event: (event per solution, row per pattern and solution)."""
    depth_max = len(constants)
    capacity = max(16, len(first))
    out_event = fresh(capacity, np.int64)
    out_rows = fresh((capacity, depth_max), np.int64)
    found = np.int64(0)
    row = fresh(depth_max, np.int64)
    value = zeroed(width, np.uint64)
    owner = filled(width, np.int64(-1))
    for e in range(len(first) - 1):
        if not wanted[e] or first[e] == first[e + 1]:
            continue
        depth = 0
        row[0] = first[e] - 1
        while depth >= 0:
            for v in range(width):
                if owner[v] == depth:
                    owner[v] = -1
            row[depth] += 1
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
                out_event, out_rows = lengthened(out_event, found), lengthened_table(out_rows, found, capacity)
            out_event[found] = e
            for j in range(depth_max):  # not by assigning the row: that compiles numba's text of shape mismatches, four seconds
                out_rows[found, j] = row[j]
            found += 1
    return out_event[:found].copy(), out_rows[:found].copy()
