"""Randomness that depends on the seed, the name of a column and a row's index, and on nothing else.

A counter-based generator (splitmix64's finaliser over the index): the same bytes on every platform and with every version of
numpy, whatever the size of the blocks in which the rows are drawn.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Draws:
    """Columns of reproducible random numbers."""

    seed: int

    def integers(self, column: str, index: Indices, low: int, high: int) -> Indices:
        """Numbers of `low … high`, both included; at most 2^31 different ones.

        >>> Draws(1).integers("x", np.arange(4), 0, 9).tolist() == Draws(1).integers("x", np.arange(4), 0, 9).tolist()
        True
        """
        span = high - low + 1
        if not 0 < span <= 2**31:
            raise ValueError(f"no range of integers to draw from: {low} … {high}")
        bits = self._bits(column, index) >> np.uint64(32)
        scaled: Indices = ((bits * np.uint64(span)) >> np.uint64(32)).astype(np.int64)
        return scaled + low

    @staticmethod
    def rows(count: int) -> Indices:
        """The indices of the first rows."""
        return np.arange(count, dtype=np.int64)

    def chance(self, column: str, index: Indices, per_mille: int) -> NDArray[np.bool_]:
        """True in so many of a thousand rows."""
        return self.integers(column, index, 0, 999) < per_mille

    def _bits(self, column: str, index: Indices) -> NDArray[np.uint64]:
        digest = hashlib.blake2b(f"{self.seed}/{column}".encode(), digest_size=8).digest()
        state = (index.astype(np.uint64) + np.uint64(1)) * _GOLDEN + np.uint64(int.from_bytes(digest, "big"))
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
        return state ^ (state >> np.uint64(31))


@dataclass(slots=True)
class Walk:
    """One random walk per key, folded into `low … high`; it goes on from block to block."""

    low: int
    high: int
    position: Indices

    @classmethod
    def starting(cls, draws: Draws, column: str, keys: int, low: int, high: int) -> Walk:
        """Walks that start anywhere between `low` and `high`."""
        return cls(low, high, draws.integers(column, draws.rows(keys), 0, high - low))

    def advance(self, keys: Indices, steps: Indices) -> Indices:
        """The value of each row's key after its step, rows taken in order."""
        if not len(keys):
            return np.empty(0, np.int64)
        order = np.argsort(keys, kind="stable")
        sorted_keys, total = keys[order], np.cumsum(steps[order])
        first = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]])
        before = np.repeat(total[first] - steps[order][first], np.diff(np.r_[first, len(keys)]))
        walked = self.position[sorted_keys] + total - before
        last = np.r_[first[1:] - 1, len(keys) - 1]
        self.position[sorted_keys[last]] = walked[last]
        values = np.empty_like(walked)
        values[order] = self._fold(walked)
        return values

    def _fold(self, walked: Indices) -> Indices:
        span = self.high - self.low
        folded: Indices = np.abs((walked + span) % (2 * span) - span)
        return folded + self.low
