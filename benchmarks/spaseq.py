"""How fast SPAseq queries are answered: from N-Quads to matches, and one pushed event at a time.

    python -m benchmarks.spaseq            # the sizes of docs/benchmarks/spaseq.md
    python -m benchmarks.spaseq --quick    # a tenth of it

CPU time of one process, ratios taken within one run, and every count checked against a plain loop over the prices.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyoxigraph
from benchmarks.measured import Measured, cpu, report
from numba import njit
from numpy.typing import NDArray

from scepter import Engine, Event, parse
from scepter.io.sources import open_source
from scepter.rdf.terms import IRI, Literal
from scepter.runtime.local import run_local

STREAM = "http://example.org/stocks"
NS = "http://example.org/stock#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
COMPANIES = 110

V_SHAPE = """PREFIX : <%s> SELECT ?c ?p1 ?p2 ?p3 WITHIN %d SECONDS SLIDING FROM STREAM S <%s> WHERE { SEQ (A; B; C)
DEFINE GPM A ON S { ?c :price ?p1 }
DEFINE GPM B ON S { ?c :price ?p2 FILTER (?p2 >= ?p1 * 1.02) }
DEFINE GPM C ON S { ?c :price ?p3 FILTER (?p3 <= ?p2 * 0.98) } }"""
ANY_PAIRS = """PREFIX : <%s> SELECT ?c ?p1 ?p2 WITHIN %d SECONDS SLIDING FROM STREAM S <%s> WHERE { SEQ (A: B)
DEFINE GPM A ON S { ?c :price ?p1 }
DEFINE GPM B ON S { ?c :price ?p2 FILTER (?p2 < ?p1 * 0.97) } }"""
RISES = """PREFIX : <%s> SELECT ?c ?p1 ?p2 WITHIN %d SECONDS SLIDING PARTITION BY (?c) FROM STREAM S <%s> WHERE { SEQ (A, B+)
DEFINE GPM A ON S { ?c :price ?p1 }
DEFINE GPM B ON S { ?c :price ?p2 FILTER (?p2 > ?p1) } }"""


@dataclass(frozen=True)
class Ticks:
    """One event per millisecond: a company and its price in cents."""

    company: NDArray[np.int64]
    cents: NDArray[np.int64]

    @classmethod
    def drawn(cls, events: int, seed: int = 7) -> Ticks:
        """A random walk per company, the same for the same seed."""
        random = np.random.default_rng(seed)
        company = random.integers(0, COMPANIES, events)
        moves = random.normal(0.0, 0.003, events)
        cents = np.empty(events, np.int64)
        for c in range(COMPANIES):
            rows = company == c
            cents[rows] = np.round(10_000 * np.exp(np.cumsum(moves[rows]))).astype(np.int64) + 1
        return cls(company, cents)

    def write(self, path: Path) -> None:
        """As N-Quads: three triples per event and its time."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (c, p) in enumerate(zip(self.company.tolist(), self.cents.tolist(), strict=True)):
                name, who = f"<http://example.org/tick/{i}>", f"<http://example.org/company/{c}>"
                out.write(
                    f'{who} <{NS}price> "{p // 100}.{p % 100:02d}"^^<{XSD}decimal> {name} .\n'
                    f'{who} <{NS}volume> "{100 + i % 900}"^^<{XSD}integer> {name} .\n'
                    f"{who} <{NS}market> <http://example.org/market/{c % 5}> {name} .\n"
                    f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n'
                )

    def by_company(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(where each company begins, times, cents), company after company."""
        order = np.argsort(self.company, kind="stable")
        starts = np.searchsorted(self.company[order], np.arange(COMPANIES + 1))
        return starts, order.astype(np.int64), self.cents[order]


@njit(cache=True)
def _count_v(starts, times, cents, window):  # type: ignore[no-untyped-def]
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
def _count_pairs(starts, times, cents, window):  # type: ignore[no-untyped-def]
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window:
                found += 100 * cents[j] < 97 * cents[i]
                j += 1
    return found


@njit(cache=True)
def _count_rises(starts, times, cents, window):  # type: ignore[no-untyped-def]
    found = 0
    for c in range(len(starts) - 1):
        for i in range(starts[c], starts[c + 1]):
            j = i + 1
            while j < starts[c + 1] and times[j] - times[i] <= window and cents[j] > cents[i]:
                found += 1
                j += 1
    return found


COUNTS = {V_SHAPE: _count_v, ANY_PAIRS: _count_pairs, RISES: _count_rises}


def matches(path: Path, text: str, seconds: int) -> int:
    """How many matches a query has in a file."""
    return sum(1 for _ in run_local(parse(text % (NS, seconds, STREAM)), {STREAM: open_source(path)}))


def iterate(path: Path) -> int:
    """Nothing but pyoxigraph's iteration."""
    return sum(1 for _ in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS))


def files(folder: Path, events: int) -> list[Measured]:
    """Everything that reads a file."""
    ticks, path = Ticks.drawn(events), folder / "ticks.nq"
    ticks.write(path)
    warm = folder / "warm.nq"
    Ticks.drawn(2_000).write(warm)
    for text in COUNTS:
        matches(warm, text, 60)
    starts, times, cents = ticks.by_company()

    def timed(text: str, seconds: int) -> tuple[float, int]:
        wanted = int(COUNTS[text](starts, times, cents, seconds * 1000))
        return cpu(lambda: matches(path, text, seconds), wanted), wanted

    iteration = cpu(lambda: iterate(path), 4 * events)
    found = []
    short, _ = timed(V_SHAPE, 10)
    middle, count = timed(V_SHAPE, 60)
    long, _ = timed(V_SHAPE, 600)
    rate = f"{events / middle / 1e6:.2f} M events/s, {count} matches; pyoxigraph {iteration:.2f} s, this {middle:.2f} s"
    found.append(Measured("V-shape 60 s, CPU against pyoxigraph's iteration", middle / iteration, rate, most=1.0))
    found.append(Measured("V-shape, window 600 s against 10 s", long / short, f"{short:.2f} s, {long:.2f} s", most=2.0))
    for name, text, few, many in (("skip-till-any pairs", ANY_PAIRS, 2, 10), ("Kleene+", RISES, 1, 10)):
        (less, low), (more, high) = timed(text, few), timed(text, many)
        detail = f"{low} in {less:.2f} s, {high} in {more:.2f} s, {high / more / 1e6:.2f} M matches/s"
        found.append(Measured(f"{name}, growth of CPU over growth of output", (more / less) / (high / low), detail, most=1.2))
    return found


def pushes(live: int, pushed: int) -> list[Measured]:
    """One event at a time, with so many runs alive."""
    engine = Engine(parse(V_SHAPE % (NS, 1_000_000, STREAM)))
    price = IRI(f"{NS}price")

    def event(i: int, at: int) -> Event:
        # prices that fall: each event begins a run that nothing continues
        cents = 10_000_000 - i
        term = Literal(f"{cents // 100}.{cents % 100:02d}", f"{XSD}decimal")
        return Event(STREAM, [(IRI(f"http://example.org/company/{i % 1000}"), price, term)], at)

    engine.push_all(event(i, i // 1000) for i in range(live))
    runs = engine.state_size()["runs"]
    if runs < live:
        raise AssertionError(f"{runs} live runs")
    taken = []
    for i in range(live, live + pushed):
        made = event(i, i)
        began = time.process_time()
        engine.push(made)
        taken.append(time.process_time() - began)
    middle, late = np.percentile(np.array(taken) * 1000, [50, 99])
    detail = f"{runs} live runs, {pushed} events"
    return [
        Measured("push of one event, median CPU ms", float(middle), detail, most=1.0),
        Measured("push of one event, 99th percentile CPU ms", float(late), detail, most=5.0),
    ]


def main() -> int:
    """Measures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        results = files(Path(folder), 50_000 if quick else 500_000)
    results += pushes(10_000 if quick else 100_000, 500 if quick else 5_000)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
