"""A match is its events and its mapping, and is reported once (SPAseq rule 11): which of several runs are one match."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64
from scepter.kernel.sequence.runs import Runs
from scepter.rdf.distinct import distinct


def identity(lineage: Lineage, runs: Runs, row: int) -> tuple[frozenset[int], bytes]:
    """The numbers of the events that a run has selected, and its mapping."""
    return lineage.selection(int(runs.node[row])), runs.ids[row].tobytes()


def one_of_each(lineage: Lineage, runs: Runs, told: Callable[[int], object] = lambda row: None) -> Int64:
    """The runs' rows without those that repeat an earlier match; `told` says what else makes a row another match.

    Few runs look like one another; for those alone the sets of events are made.
    """
    _, where = distinct(np.column_stack([lineage.selection_marks(runs.node), runs.ids]))
    alike = np.bincount(where)[where] > 1
    suspects = np.flatnonzero(alike)
    first: dict[tuple[object, ...], int] = {}
    for row in suspects[np.argsort(runs.time[suspects], kind="stable")].tolist():
        first.setdefault((*identity(lineage, runs, row), told(row)), row)
    kept = ~alike
    kept[list(first.values())] = True
    return np.flatnonzero(kept)
