"""Basic graph patterns on a batch of events: backtracking over each event's rows, with the pattern as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import TriplePattern
from scepter.rdf.hashing import TermKey, term_id

_SMALL = 64


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
def duplicate_rows(first, s, p, o):  # type: ignore[no-untyped-def]
    """Per triple: whether an equal one stands before it in its event (a graph is a set)."""
    again = np.zeros(len(s), np.bool_)
    for e in range(len(first) - 1):
        lo, hi = first[e], first[e + 1]
        if hi - lo <= _SMALL:
            for r in range(lo + 1, hi):
                for q in range(lo, r):
                    if o[q] == o[r] and s[q] == s[r] and p[q] == p[r]:
                        again[r] = True
                        break
        else:
            mixed = np.empty(hi - lo, np.uint64)
            for r in range(lo, hi):
                mixed[r - lo] = s[r] ^ (p[r] * np.uint64(0x9E3779B97F4A7C15)) ^ (o[r] * np.uint64(0xC2B2AE3D27D4EB4F))
            order = np.argsort(mixed, kind="mergesort")
            for a in range(1, hi - lo):
                b = a - 1
                while b >= 0 and mixed[order[b]] == mixed[order[a]]:
                    q, r = lo + order[b], lo + order[a]
                    if s[q] == s[r] and p[q] == p[r] and o[q] == o[r]:
                        again[r] = True
                        break
                    b -= 1
    return again


@njit(cache=True)
def match_rows(first, wanted, again, s, p, o, constants, variables, width):  # type: ignore[no-untyped-def]
    """Every way to lay the patterns on the rows of each wanted event: (event per solution, row per pattern and solution)."""
    depth_max = len(constants)
    capacity = max(16, len(first))
    out_event = np.empty(capacity, np.int64)
    out_rows = np.empty((capacity, depth_max), np.int64)
    found = 0
    row = np.empty(depth_max, np.int64)
    value = np.zeros(width, np.uint64)
    owner = np.full(width, -1, np.int64)
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
            if again[r]:
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
                grown_event = np.empty(capacity, np.int64)
                grown_event[:found] = out_event
                out_event = grown_event
                grown_rows = np.empty((capacity, depth_max), np.int64)
                grown_rows[:found] = out_rows
                out_rows = grown_rows
            out_event[found] = e
            out_rows[found] = row
            found += 1
    return out_event[:found].copy(), out_rows[:found].copy()
