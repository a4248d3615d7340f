"""Prices of companies, one a second, as timestamped N-Triples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.terms import XSD

NS: Final = "http://example.org/"
STREAM: Final = f"{NS}stream"
COMPANIES: Final = 100
TABLE: Final = """
WITH prices AS MATERIALIZED (
  SELECT s AS company, CAST(o[2:strpos(o, '^') - 2] AS BIGINT) AS price, CAST(t[2:strpos(t, '^') - 2] AS BIGINT) AS t
  FROM read_csv('{0}', delim = ' ', header = false, quote = '', escape = '', auto_detect = false,
                columns = {{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 't': 'VARCHAR', 'dot': 'VARCHAR'}})
  WHERE p = '<http://example.org/price>'
)"""
"""For DuckDB."""


@dataclass(frozen=True)
class Prices:
    """A company and its price, which wanders."""

    company: NDArray[np.int64]
    price: NDArray[np.int64]

    @classmethod
    def drawn(cls, events: int, seed: int = 5, companies: int = COMPANIES) -> Prices:
        """The same for the same seed."""
        random = np.random.default_rng(seed)
        company = random.integers(0, companies, events)
        price = np.empty(events, np.int64)
        for c in range(companies):
            rows = np.flatnonzero(company == c)
            price[rows] = np.round(1000 * np.exp(np.cumsum(random.normal(0.0, 0.06, len(rows))) % 1.5)).astype(np.int64)
        return cls(company, price)

    def write(self, path: Path) -> None:
        """A triple and its time on each line."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for t, (c, p) in enumerate(zip(self.company.tolist(), self.price.tolist(), strict=True)):
                out.write(f'<{NS}c{c}> <{NS}price> "{p}"^^<{XSD}integer> "{t}"^^<{XSD}integer> .\n')


@njit(cache=True)
def drops(company, price, window):  # type: ignore[no-untyped-def]
    """Pairs of a company, the second price below 0.7 of the first, less than the window apart."""
    found = 0
    for c in range(company.max() + 1):
        rows = np.flatnonzero(company == c)
        for i in range(len(rows)):
            j = i + 1
            while j < len(rows) and rows[j] - rows[i] < window:
                found += 10 * price[rows[j]] < 7 * price[rows[i]]
                j += 1
    return found
