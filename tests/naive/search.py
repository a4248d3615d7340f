"""Each run looks at every row: the slow twin of `kernel.sequence.forward_search`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scepter.algebra.query import Selection
from scepter.rdf.terms import Term


@dataclass(frozen=True)
class Row:
    """A run (its last time) or a candidate (its time), with what it binds."""

    time: int
    bindings: Mapping[str, Term]
    limit: int = 0
    """For a run: the last time at which it may take a row."""
    rank_limit: int = 2**62
    only: int = 0
    """For a run under strict contiguity: the one time at which it may take rows."""
    rank: int = 0
    branch: int = 0


def search(
    selection: Selection, runs: Sequence[Row], rows: Sequence[Row], accepts: Callable[[Mapping[str, Term], int], bool]
) -> set[tuple[int, int]]:
    """The pairs (run, row) that a step takes: SPAseq rules 3 to 5, given the window as limits."""
    found = set()
    for i, run in enumerate(runs):
        fitting = [
            (row.time, j)
            for j, row in enumerate(rows)
            if run.time < row.time <= run.limit
            and row.rank <= run.rank_limit
            and all(run.bindings.get(name, term) == term for name, term in row.bindings.items())
            and accepts({**run.bindings, **row.bindings}, row.branch)
        ]
        if selection is Selection.STRICT:
            fitting = [(time, j) for time, j in fitting if time == run.only]
        if selection is Selection.NEXT and fitting:
            first = min(time for time, _ in fitting)
            fitting = [(time, j) for time, j in fitting if time == first]
        found |= {(i, j) for _, j in fitting}
    return found
