"""How fast EP-SPARQL queries are answered in one process: a two-step sequence with a key join, and membership in a class.

    python -m benchmarks.epsparql            # the sizes of docs/benchmarks/epsparql.md
    python -m benchmarks.epsparql --quick    # a tenth of it

CPU time from timestamped N-Triples to matches, the better of two, and every count checked against a plain loop.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measured import Measured, cpu, report
from benchmarks.spaseq import XSD
from numba import njit
from numpy.typing import NDArray

from scepter import parse
from scepter.io.sources import open_source
from scepter.runtime.local import run_local

NS = "http://example.org/"
STREAM = f"{NS}stream"
COMPANIES = 100
CLASSES = 40_080
DROP = """PREFIX : <%s> SELECT ?c ?p1 ?p2
WHERE { { ?c :price ?p1 } SEQ { ?c :price ?p2 } FILTER (?p2 < ?p1 * 0.7 && getDURATION() < %d) }"""
MEMBER = f"PREFIX : <{NS}> SELECT ?x WHERE {{ ?x a :Top }}"


def prices(path: Path, events: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One event a second: a company, and a price that wanders."""
    random = np.random.default_rng(5)
    company = random.integers(0, COMPANIES, events)
    price = np.empty(events, np.int64)
    for c in range(COMPANIES):
        rows = np.flatnonzero(company == c)
        price[rows] = np.round(1000 * np.exp(np.cumsum(random.normal(0.0, 0.06, len(rows))) % 1.5)).astype(np.int64)
    with path.open("w", encoding="utf-8") as out:
        for t, (c, p) in enumerate(zip(company.tolist(), price.tolist(), strict=True)):
            out.write(f'<{NS}c{c}> <{NS}price> "{p}"^^<{XSD}integer> "{t}"^^<{XSD}integer> .\n')
    return company, price


@njit(cache=True)
def _drops(company, price, window, companies):  # type: ignore[no-untyped-def]
    found = 0
    for c in range(companies):
        rows = np.flatnonzero(company == c)
        for i in range(len(rows)):
            j = i + 1
            while j < len(rows) and rows[j] - rows[i] < window:
                found += 10 * price[rows[j]] < 7 * price[rows[i]]
                j += 1
    return found


def matches(path: Path, text: str, ontology: Path | None = None) -> int:
    """How many matches a query has in a file."""
    given = None if ontology is None else [ontology]
    return sum(1 for _ in run_local(parse(text, "ep-sparql"), {STREAM: open_source(path)}, ontology=given))


def sequences(folder: Path, events: int) -> list[Measured]:
    """Two steps, joined by the company, the second price below 0.7 of the first."""
    company, price = prices(folder / "prices.nt", events)
    taken, counts = [], []
    for window in (1_000, 4_000):
        counts.append(int(_drops(company, price, window, COMPANIES)))
        taken.append(cpu(lambda window=window: matches(folder / "prices.nt", DROP % (NS, window)), counts[-1]))  # type: ignore[misc]
    detail = f"{events / taken[0] / 1e3:.0f} k events/s, {counts[0]} matches"
    growth = (taken[1] / taken[0]) / (counts[1] / counts[0])
    return [
        Measured("two steps within 1,000 s, microseconds per event", taken[0] / events * 1e6, detail, most=1e6 / 300_000),
        Measured(
            "window of 4,000 s: growth of CPU over growth of output", growth, f"{counts[1]} in {taken[1]:.2f} s", most=1.0
        ),
    ]


def membership(folder: Path, triples: int) -> list[Measured]:
    """Is it a member of a class with so many classes below it? Half of the triples are."""
    below = "".join(
        f"<{NS}C{i}> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{NS}{f'C{(i - 1) // 20}' if i else 'Top'}> .\n"
        for i in range(CLASSES)
    )
    schema = folder / "schema.nt"
    schema.write_text(below, encoding="utf-8")
    random = np.random.default_rng(6)
    kinds = random.integers(0, CLASSES, triples).tolist()
    taken = []
    for count in (1_000, triples):
        path = folder / f"types{count}.nt"
        with path.open("w", encoding="utf-8") as out:
            for t in range(count):
                kind = f"{'C' if t % 2 else 'D'}{kinds[t]}"
                out.write(
                    f'<{NS}x{t}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{NS}{kind}> "{t}"^^<{XSD}integer> .\n'
                )
        taken.append(cpu(lambda path=path: matches(path, MEMBER, schema), count // 2))  # type: ignore[misc]
    each = (taken[1] - taken[0]) / (triples - 1_000) * 1e6
    return [
        Measured(f"member of a class above {CLASSES} others, microseconds", each, f"schema read in {taken[0]:.2f} s", most=2.0)
    ]


def main() -> int:
    """Measures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = folder / "warm.nt"
        prices(warm, 200)
        matches(warm, DROP % (NS, 1_000))
        results = sequences(folder, 20_000 if quick else 200_000) + membership(folder, 20_000 if quick else 200_000)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
