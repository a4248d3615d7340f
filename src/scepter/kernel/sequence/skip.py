"""AFTER MATCH SKIP (SPAseq rule 17): of the matches, in order of detection, those that begin where the search goes on.

State: per partition the time from which on a later match may begin. A match that is kept moves it forward, and nothing moves it
back.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np

from scepter.algebra.query import AfterMatch, Resume
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.sequence.forward_search import NOTHING
from scepter.kernel.sequence.runs import Runs
from scepter.physical.sequence_plan import Mark, QueryPlan


class Skipping:
    """Keeps some of a query's matches. Matches of one instant must come together: which of them is first is decided here."""

    def __init__(self, skip: AfterMatch, plan: QueryPlan, lineage: Lineage, mapping: Callable[[Runs, int], str]) -> None:
        """`mapping` is the text of a run's mapping, by which ties are broken."""
        self._resume = skip.resume
        self._mark = None if skip.label is None else plan.marks.index(Mark(skip.label, skip.resume is Resume.FIRST))
        self._lineage = lineage
        self._mapping = mapping
        self._from: dict[int, int] = {}
        self._saved: dict[int, int] = {}

    def __call__(self, runs: Runs) -> Runs:
        """The runs that are kept, in the order of their detection."""
        resume = self._resumes(runs)
        kept = []
        for row in self._detected(runs):
            group = int(runs.group[row])
            if int(runs.first[row]) >= self._from.get(group, NOTHING):
                kept.append(row)
                self._from[group] = max(self._from.get(group, NOTHING), int(resume[row]))
        return runs.take(np.array(kept, np.int64))

    def _resumes(self, runs: Runs) -> Int64:
        """Where the search goes on after each match."""
        if self._mark is not None:
            return runs.marks[:, self._mark]
        # a trailing negation ends a match with its window; in a tumbling one that is the next window's first instant
        return runs.first + 1 if self._resume is Resume.NEXT else np.minimum(runs.time, runs.limit) + 1

    def _detected(self, runs: Runs) -> list[int]:
        """Rows by end, then by first event; then more events before fewer, then by the text of the mapping."""
        order = np.lexsort((runs.first, runs.time)).tolist()
        found: list[int] = []
        for _, tied in groupby(order, key=lambda row: (runs.time[row], runs.first[row])):
            rows = list(tied)
            found += rows if len(rows) == 1 else sorted(rows, key=self._rank(runs))
        return found

    def _rank(self, runs: Runs) -> Callable[[int], tuple[int, str, list[int]]]:
        def rank(row: int) -> tuple[int, str, list[int]]:
            events = sorted(self._lineage.selection(int(runs.node[row])))
            return -len(events), self._mapping(runs, row), events

        return rank

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = dict(self._from)

    def undo(self) -> None:
        """Back to `save`."""
        self._from = dict(self._saved)

    def columns(self) -> tuple[UInt64, Int64]:
        """(partitions, where the search goes on in each) for the state's written form."""
        return np.array(list(self._from), np.uint64), np.array(list(self._from.values()), np.int64)

    def load(self, groups: UInt64, times: Int64) -> None:
        """Take over what `columns` gave."""
        self._from = dict(zip(groups.tolist(), times.tolist(), strict=True))
