"""Keys that have grown too large: found and let go, so that the state of all others stays.

A key is what an operator compares its rows by. An operator that knows it `Sheds`: of a key with more rows of state than there
may be, it forgets all, as if the events before had not come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from scepter.kernel.rows import Int64, Mask, UInt64
from scepter.rdf.distinct import distinct


@dataclass(frozen=True, slots=True)
class Shed:
    """A key that was let go."""

    rows: int
    key: tuple[tuple[str, int], ...]
    """Its variables, and where the texts of their terms stand; empty where an operator compares by nothing."""


@runtime_checkable
class Sheds(Protocol):
    """An operator that can forget one key and keep the others."""

    def shed(self, most: int) -> list[Shed]:
        """Forget every key that has more rows than `most`."""
        ...


def heavy(ids: UInt64, most: int) -> tuple[Mask, Int64, Int64]:
    """Of rows by their keys: which belong to a key with more than `most`; of each such key, its first row and how many it has.

    >>> mask, first, counts = heavy(np.array([[7], [8], [7], [7]], np.uint64), 2)
    >>> mask.tolist(), first.tolist(), counts.tolist()
    ([True, False, True, True], [0], [3])
    """
    if not ids.shape[1]:
        ids = np.zeros((len(ids), 1), np.uint64)
    first, group = distinct(np.ascontiguousarray(ids))
    counts = np.bincount(group, minlength=len(first))
    many = counts > most
    return many[group], first[many], counts[many]


def told(names: Sequence[str], refs: Int64, first: Int64, counts: Int64) -> list[Shed]:
    """The keys whose first rows stand at `first`; `refs` has a row for each row, a column for each name."""
    return [
        Shed(count, tuple(zip(names, refs[at].tolist(), strict=True)))
        for at, count in zip(first.tolist(), counts.tolist(), strict=True)
    ]
