"""What matches show of the rows that they are made of: the terms of variables, times and events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from scepter.kernel.continuous.admitted import END, EVENT, FOR_EVER, START


@njit(cache=True, forceinline=True)
def _later(one: Any, other: Any, when: Any, source: Any) -> Any:
    """Whether a row stands behind another by time and number."""
    if when[one, END] != when[other, END]:
        return when[one, END] > when[other, END]
    if when[one, START] != when[other, START]:
        return when[one, START] > when[other, START]
    return source[one, EVENT] > source[other, EVENT]


@njit(cache=True)
def sightings_of(matches: Any, more: Any, when: Any, source: Any, once: Any) -> Any:
    """The rows that matches are made of, with those of the same occurrences, by time and number: where those of each match
    begin, with the end of the last, and for each the occurrence's row and the row. With `once`, one row for each event."""
    count = 0
    for m in range(matches.shape[0]):
        for i in range(matches.shape[1]):
            row = matches[m, i]
            while row >= 0:
                count += 1
                row = more[row]
    first = np.zeros(len(matches) + 1, np.int64)
    found = np.empty((2, count), np.int64)
    last = 0
    for m in range(matches.shape[0]):
        for i in range(matches.shape[1]):
            row = matches[m, i]
            while row >= 0:
                at = last
                while at > first[m] and _later(found[1, at - 1], row, when, source):
                    at -= 1
                if not (once and at > first[m] and source[found[1, at - 1], EVENT] == source[row, EVENT]):
                    for place in range(last, at, -1):
                        found[0, place] = found[0, place - 1]
                        found[1, place] = found[1, place - 1]
                    found[0, at] = matches[m, i]
                    found[1, at] = row
                    last += 1
                row = more[row]
        first[m + 1] = last
    return first, found[0, :last].copy(), found[1, :last].copy()


@njit(cache=True)
def terms_of(matches: Any, origins: Any, ids: Any, refs: Any, static_ids: Any, static_refs: Any) -> Any:
    """[match, variable]: the ids and the refs of terms, taken from a pattern and position for each variable."""
    found_ids = np.empty((len(matches), len(origins)), np.uint64)
    found_refs = np.empty((len(matches), len(origins)), np.int64)
    for m in range(len(matches)):
        for v in range(len(origins)):
            row, position = matches[m, origins[v, 0]], origins[v, 1]
            if row >= 0:
                found_ids[m, v] = ids[row, position]
                found_refs[m, v] = refs[row, position]
            else:
                found_ids[m, v] = static_ids[-1 - row, position]
                found_refs[m, v] = static_refs[-1 - row, position]
    return found_ids, found_refs


@njit(cache=True)
def spans_of(matches: Any, when: Any) -> Any:
    """When the first of a match's occurrences starts and the last ends; static triples have no time."""
    start = np.full(len(matches), FOR_EVER)
    end = np.full(len(matches), -FOR_EVER)
    for m in range(matches.shape[0]):
        for i in range(matches.shape[1]):
            row = matches[m, i]
            if row >= 0:
                start[m] = min(start[m], when[row, START])
                end[m] = max(end[m], when[row, END])
    return start, end
