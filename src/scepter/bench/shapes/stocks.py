"""Stock ticks as in the SPAseq paper: 110 companies, some fifty events a second."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.terms import XSD

STREAM: Final = "http://example.org/stocks"
NS: Final = "http://example.org/stock#"
PROV: Final = "http://www.w3.org/ns/prov#"
COMPANIES: Final = 110
STEP: Final = 20
"""Milliseconds from one tick to the next: 2.5 million records in twelve hours are about that."""


@dataclass(frozen=True)
class Ticks:
    """One event after another: a company and its price in cents."""

    company: NDArray[np.int64]
    cents: NDArray[np.int64]
    step: int = STEP

    @classmethod
    def drawn(
        cls,
        events: int,
        *,
        companies: int = COMPANIES,
        step: int = STEP,
        seed: int = 7,
        weights: NDArray[np.float64] | None = None,
    ) -> Ticks:
        """A random walk per company, the same for the same seed; `weights`: the share of the ticks that each company has."""
        random = np.random.default_rng(seed)
        company = random.integers(0, companies, events) if weights is None else random.choice(companies, events, p=weights)
        moves = random.normal(0.0, 0.006, events)
        order = np.argsort(company, kind="stable")
        starts = np.searchsorted(company[order], np.arange(companies + 1))
        cents = np.empty(events, np.int64)
        for c in range(companies):
            rows = order[starts[c] : starts[c + 1]]
            cents[rows] = np.round(10_000 * np.exp(np.cumsum(moves[rows]))).astype(np.int64) + 1
        return cls(company, cents, step)

    def write(self, path: Path, triples: int = 3) -> None:
        """As N-Quads: three or seven triples per event, and its time."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (c, p) in enumerate(zip(self.company.tolist(), self.cents.tolist(), strict=True)):
                name, who = f"<http://example.org/tick/{i * self.step}>", f"<http://example.org/company/{c}>"
                out.write(
                    f'{who} <{NS}price> "{p // 100}.{p % 100:02d}"^^<{XSD}decimal> {name} .\n'
                    f'{who} <{NS}volume> "{100 + i % 900}"^^<{XSD}integer> {name} .\n'
                    f"{who} <{NS}sector> <http://example.org/sector/{c % 11}> {name} .\n"
                )
                if triples == 7:
                    out.write(
                        f"{who} <{NS}transaction> <http://example.org/transaction/{i}> {name} .\n"
                        f'{who} <{NS}type> "{"buy" if i % 3 else "sell"}" {name} .\n'
                        f'{who} <{NS}symbol> "C{c:04d}" {name} .\n'
                        f"{who} <{NS}broker> <http://example.org/broker/{i * 7 % 40}> {name} .\n"
                    )
                out.write(f'{name} <{PROV}generatedAtTime> "{i * self.step}"^^<{XSD}integer> .\n')

    def by_company(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(where each company begins, times, cents), company after company."""
        order = np.argsort(self.company, kind="stable")
        starts = np.searchsorted(self.company[order], np.arange(int(self.company.max(initial=0)) + 2))
        return starts, order.astype(np.int64) * self.step, self.cents[order]


@njit(cache=True)
def v_shapes(starts, times, cents, window):  # type: ignore[no-untyped-def]
    """Skip-till-next: 2 % up at last, then 2 % down at last, within the window in milliseconds."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window and 100 * cents[j] < 102 * cents[i]:
                j += 1
            if j == starts[c + 1] or times[j] - times[i] > window:
                continue
            k = j + 1
            while k < starts[c + 1] and times[k] - times[i] <= window and 100 * cents[k] > 98 * cents[j]:
                k += 1
            if k < starts[c + 1] and times[k] - times[i] <= window:
                found += 1
    return found


@njit(cache=True)
def zigzags(starts, times, cents, window, clauses):  # type: ignore[no-untyped-def]
    """Strict contiguity: up, down, up, … from one tick of a company to its next."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1] - clauses + 1):
            if times[i + clauses - 1] - times[i] > window:
                continue
            good = True
            for step in range(1, clauses):
                rise = cents[i + step] - cents[i + step - 1]
                good = good and (rise > 0 if step % 2 else rise < 0)
            found += good
    return found


@njit(cache=True)
def swings(starts, times, cents, window, clauses):  # type: ignore[no-untyped-def]
    """Skip-till-next: 0.5 % up at last, then 0.5 % down at last, and so on."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            at = i
            step = 1
            j = i + 1
            while step < clauses and j < starts[c + 1] and times[j] - times[i] <= window:
                if (1000 * cents[j] >= 1005 * cents[at]) if step % 2 else (1000 * cents[j] <= 995 * cents[at]):
                    at = j
                    step += 1
                j += 1
            found += step == clauses
    return found


@njit(cache=True)
def all_swings(starts, times, cents, window):  # type: ignore[no-untyped-def]
    """Skip-till-any: each tick with each later one 0.5 % above it, and each after that 0.5 % below that one."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window:
                if 1000 * cents[j] >= 1005 * cents[i]:
                    k = j + 1
                    while k < starts[c + 1] and times[k] - times[i] <= window:
                        found += 1000 * cents[k] <= 995 * cents[j]
                        k += 1
                j += 1
    return found


@njit(cache=True)
def pairs(starts, times, cents, window):  # type: ignore[no-untyped-def]
    """Skip-till-any: each tick with each later one that is 3 % below it."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window:
                found += 100 * cents[j] < 97 * cents[i]
                j += 1
    return found


@njit(cache=True)
def rises(starts, times, cents, window):  # type: ignore[no-untyped-def]
    """Kleene+, strict: each tick with each run of ticks above it that follow at once."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window and cents[j] > cents[i]:
                found += 1
                j += 1
    return found


@njit(cache=True)
def heads_and_shoulders(starts, times, cents, window):  # type: ignore[no-untyped-def]
    """Strict contiguity: seven ticks of a company, the fourth the highest, the second and sixth on its sides."""
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1] - 6):
            p = cents[i : i + 7]
            found += (
                times[i + 6] - times[i] <= window
                and p[1] > p[0]
                and p[0] < p[2] < p[1]
                and p[3] > p[1]
                and p[2] < p[4] < p[3]
                and p[4] < p[5] < p[3]
                and p[4] < p[6] < p[5]
            )
    return found
