"""Trades of 1,000 companies, a tick each: a price always, often a volume, seldom a halt, as timestamped N-Triples.

A price is the tick's number, so that no two solutions are one; plain loops count what patterns over them give.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from scepter.rdf.terms import XSD

NS: Final = "http://example.org/trade#"
STREAM: Final = "http://example.org/trades"
COMPANIES: Final = 1_000
MOST: Final = 10_000
"""Volumes are below it."""


@dataclass(frozen=True)
class Trades:
    """Per tick: the company, the volume that was traded (-1: none is told), whether trading was halted."""

    company: list[int]
    volume: list[int]
    halted: list[bool]

    @classmethod
    def drawn(cls, ticks: int, seed: int = 7) -> Trades:
        """The same for the same seed."""
        random = np.random.default_rng(seed)
        volume = np.where(random.random(ticks) < 0.3, random.integers(0, MOST, ticks), -1)
        return cls(random.integers(0, COMPANIES, ticks).tolist(), volume.tolist(), (random.random(ticks) < 0.01).tolist())

    def __iter__(self) -> Iterator[tuple[int, int, int, bool]]:
        return zip(range(len(self.company)), self.company, self.volume, self.halted, strict=True)

    @property
    def events(self) -> int:
        """How many lines they are."""
        return len(self.company) + sum(v >= 0 for v in self.volume) + sum(self.halted)

    def write(self, path: Path) -> None:
        """A triple and its time on each line."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for t, company, volume, halted in self:
                at = f'"{t}"^^<{XSD}integer> .\n'
                out.write(f'<{NS}c{company}> <{NS}price> "{t}"^^<{XSD}integer> {at}')
                if volume >= 0:
                    out.write(f'<{NS}c{company}> <{NS}volume> "{volume}"^^<{XSD}integer> {at}')
                if halted:
                    out.write(f'<{NS}c{company}> <{NS}halted> "{t}"^^<{XSD}integer> {at}')

    def joined(self, width: int, below: int = MOST) -> int:
        """Pairs of a price and a volume below a bound, in any order, less than the width apart."""
        prices, volumes = self._times()
        return sum(
            bisect_left(prices[company], t + width) - bisect_right(prices[company], t - width)
            for company, times in volumes.items()
            for t in times
            if self.volume[t] < below
        )

    def followed(self, width: int, below: int = MOST) -> int:
        """A volume below a bound after a price, less than the width apart."""
        prices, volumes = self._times()
        return sum(
            bisect_left(prices[company], t) - bisect_right(prices[company], t - width)
            for company, times in volumes.items()
            for t in times
            if self.volume[t] < below
        )

    def _times(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        prices: dict[int, list[int]] = {}
        volumes: dict[int, list[int]] = {}
        for t, company, volume, _ in self:
            prices.setdefault(company, []).append(t)
            if volume >= 0:
                volumes.setdefault(company, []).append(t)
        return prices, volumes

    def chronological(self, width: int) -> int:
        """The same where each volume takes the first price that is left, and both are gone."""
        left: dict[int, deque[int]] = {}
        found = 0
        for t, company, volume, _ in self:
            prices = left.setdefault(company, deque())
            while prices and t - prices[0] >= width:
                prices.popleft()
            if volume >= 0 and prices:
                prices.popleft()
                found += 1
            prices.append(t)
        return found

    def perhaps_halted(self, width: int, *, strictly: bool) -> int:
        """Each price with the halts before it (or with it) less than the width away; alone where there never was one."""
        halts: dict[int, list[int]] = {}
        found = 0
        for t, company, _, halted in self:
            known = halts.setdefault(company, [])
            if halted and not strictly:
                known.append(t)
            found += len(known) - bisect_right(known, t - width) if known else 1
            if halted and strictly:
                known.append(t)
        return found


def write_sectors(path: Path) -> None:
    """The sector of each company."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for company in range(COMPANIES):
            out.write(f"<{NS}c{company}> <{NS}sector> <{NS}sector{company % 11}> .\n")
