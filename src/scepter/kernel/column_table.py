"""Columns of one length, by name: what batches, runs, occurrences and the rows of an index have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64] | NDArray[np.bool_]


class ColumnTable:
    """A slotted dataclass whose fields are its columns, with a row of each at each place.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Pair(ColumnTable):
    ...     a: NDArray[np.int64]
    ...     b: NDArray[np.int64]
    >>> pairs = Pair(np.array([1, 2, 3]), np.array([4, 5, 6]))
    >>> Pair.joined([pairs.take(pairs.b > 4), pairs.between(0, 1)])
    Pair(a=array([2, 3, 1]), b=array([5, 6, 4]))
    """

    __slots__ = ()
    NAMES: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        cls.NAMES = tuple(cls.__annotations__)

    def __len__(self) -> int:
        return len(getattr(self, self.NAMES[-1]))

    def take(self, rows: Places) -> Self:
        """The rows at some places, or where a mask is true. To take by places costs a tenth of indexing."""
        at = places(rows)
        return type(self)(*(getattr(self, name).take(at, axis=0) for name in self.NAMES))

    def between(self, low: int, high: int) -> Self:
        """The rows from `low` to before `high`, not copied."""
        return type(self)(*(getattr(self, name)[low:high] for name in self.NAMES))

    def replace(self, **columns: NDArray[Any]) -> Self:
        """The same rows with some columns exchanged."""
        return type(self)(*(columns.get(name, getattr(self, name)) for name in self.NAMES))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All rows of at least one table, one after the other."""
        filled = parts if len(parts) == 1 else [part for part in parts if len(part)] or parts
        if len(filled) == 1 or not len(filled[0]):
            return filled[0]
        return cls(*(np.concatenate([getattr(part, name) for part in filled]) for name in cls.NAMES))

    def dump(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """The columns as state is written, their names behind a prefix."""
        return {f"{prefix}.{name}" if prefix else name: getattr(self, name) for name in self.NAMES}

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> Self:
        return cls(*(arrays[f"{prefix}.{name}" if prefix else name] for name in cls.NAMES))


def places(rows: Places) -> NDArray[np.int64]:
    """The places of rows, given as such or as a mask."""
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)
