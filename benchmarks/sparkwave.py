"""How fast continuous queries with entailment are answered: from N-Quads to matches.

    python -m benchmarks.sparkwave            # the sizes of docs/benchmarks/sparkwave.md
    python -m benchmarks.sparkwave --quick    # a fifth of it

Offers after the Berlin SPARQL Benchmark: eleven triples each, one offer per millisecond, products of 329 types, 40 of which are
subclasses of the one that is asked for. CPU time of one process, ratios taken within one run, and every count checked against a
plain loop over the offers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from benchmarks.measured import Measured, report
from numba import njit
from numpy.typing import NDArray

from scepter import parse
from scepter.io.sources import open_source
from scepter.runtime.inputs import BackgroundGiven
from scepter.runtime.local import Progress, run_local

STREAM = "http://bsbm.example/stream"
STATIC = "http://bsbm.example/static"
V = "http://bsbm.example/vocabulary/"
I = "http://bsbm.example/instances/"  # noqa: E741
DC = "http://purl.org/dc/elements/1.1/"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
SUB_CLASS_OF = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
TRIPLES = 11
PRODUCTS, VENDORS, COUNTRIES = 20_000, 10_000, 10

HEAD = f"""PREFIX v: <{V}> SELECT * FROM STREAM <{STREAM}> [RANGE %d s] FROM <{STATIC}> WHERE {{ """
FIRST = HEAD + "?offer v:product ?product . ?product a v:Target }"
SECOND = HEAD + "?offer a v:Offer ; v:product ?product ; v:vendor ?vendor ; v:price ?price . ?product a v:Target }"
THIRD = SECOND[:-1] + ". ?vendor v:country v:Country3 }"
PATTERNS = {"pattern 1": FIRST, "pattern 2": SECOND, "pattern 3": THIRD}


@dataclass(frozen=True)
class Offers:
    """One offer per millisecond: its product and its vendor, and each product's type; those below the target come first."""

    product: NDArray[np.int64]
    vendor: NDArray[np.int64]
    kind: NDArray[np.int64]
    below: int

    @classmethod
    def drawn(cls, offers: int, below: int = 40, seed: int = 7) -> Offers:
        """The same for the same seed; whatever the number of subclasses, 40 products in 329 are of one of them."""
        random = np.random.default_rng(seed)
        product, vendor = random.integers(0, PRODUCTS, offers), random.integers(0, VENDORS, offers)
        drawn = random.integers(0, 329, PRODUCTS)
        kind = np.where(drawn < 40, random.integers(0, below, PRODUCTS), below + drawn - 40)
        return cls(product, vendor, kind, below)

    def write(self, path: Path, *, asserted: bool = False, timestamped: bool = False) -> Path:
        """As N-Quads, or a time on every triple; with `asserted`, products are of the target itself."""
        names = [f"<{V}Target>" if asserted and k < self.below else f"<{V}ProductType{k}>" for k in self.kind.tolist()]
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (p, w) in enumerate(zip(self.product.tolist(), self.vendor.tolist(), strict=True)):
                offer, product, vendor = f"<{I}Offer{i}>", f"<{I}Product{p}>", f"<{I}Vendor{w}>"
                graph = f'"{i}"^^<{XSD}integer>' if timestamped else f"<{I}Graph{i}>"
                out.write(
                    f"{offer} {TYPE} <{V}Offer> {graph} .\n"
                    f"{offer} <{V}product> {product} {graph} .\n"
                    f"{offer} <{V}vendor> {vendor} {graph} .\n"
                    f'{offer} <{V}price> "{1 + i % 997}.{i % 100:02d}"^^<{XSD}decimal> {graph} .\n'
                    f'{offer} <{V}validFrom> "2026-03-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f'{offer} <{V}validTo> "2026-06-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f'{offer} <{V}deliveryDays> "{1 + i % 21}"^^<{XSD}integer> {graph} .\n'
                    f"{offer} <{V}offerWebpage> <http://vendor.example/offer/{i}> {graph} .\n"
                    f"{offer} <{DC}publisher> {vendor} {graph} .\n"
                    f'{offer} <{DC}date> "2026-02-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f"{product} {TYPE} {names[p]} {graph} .\n"
                )
                if not timestamped:
                    out.write(f'{graph} {PROV} "{i}"^^<{XSD}integer> .\n')
        return path

    def count(self, text: str, seconds: int) -> int:
        """How many matches there are: an offer with each time that its product's type is said within the window."""
        wanted = self.kind[self.product] < self.below
        chosen = wanted & (self.vendor % COUNTRIES == 3) if text == THIRD else wanted
        return int(_count(self.product, chosen, wanted, PRODUCTS, seconds * 1000))


@njit(cache=True)
def _count(product, chosen, typed, products, window):  # type: ignore[no-untyped-def]
    found = 0
    order = np.argsort(product, kind="mergesort")
    first = 0
    while first < len(order):
        last = first
        while last < len(order) and product[order[last]] == product[order[first]]:
            last += 1
        for a in range(first, last):
            for b in range(first, last):
                if chosen[order[a]] and typed[order[b]] and abs(order[a] - order[b]) <= window:
                    found += 1
        first = last
    return found


def schema(below: int) -> str:
    """Subclasses of the target in a tree with four branches at each class, and the types that are none of them."""
    lines = [f"<{V}ProductType{k}> {SUB_CLASS_OF} <{V}{_above(k)}> ." for k in range(below)]
    lines += [f"<{V}ProductType{below + k}> {SUB_CLASS_OF} <{V}Other> ." for k in range(289)]
    return "\n".join([*lines, ""])


def _above(k: int) -> str:
    return f"ProductType{k // 4 - 1}" if k >= 4 else "Target"


def write_static(path: Path, triples: int) -> Path:
    """The countries of vendors, of which the stream names the first ones."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for k in range(max(triples, VENDORS)):
            out.write(f"<{I}Vendor{k}> <{V}country> <{V}Country{k % COUNTRIES}> .\n")
    return path


@dataclass(frozen=True)
class Run:
    """A query over a file of offers."""

    text: str
    seconds: int
    path: Path
    offers: Offers
    static: Path
    ontology: str | None = None

    @property
    def triples(self) -> int:
        """How many the stream has."""
        return TRIPLES * len(self.offers.product)

    def measured(self) -> tuple[int, float]:
        """How many matches there are, and the CPU seconds from the first event on: looking ahead at the times, and all that
        follows the first batch."""
        query, source = parse(self.text % self.seconds, "sparkwave"), open_source(self.path)
        began = time.process_time()
        source.survey()
        surveyed = time.process_time() - began
        first: list[float] = []

        def look(progress: Progress) -> None:
            if progress.triples and not first:
                first.append(time.process_time())

        given: BackgroundGiven = {STATIC: self.static}
        found = sum(1 for _ in run_local(query, {STREAM: source}, background=given, ontology=self.ontology, progress=look))
        return found, surveyed + time.process_time() - first[0]


def cpu(runs: Sequence[Run], rounds: int) -> list[float]:
    """Microseconds per triple of runs whose answers are checked: the best of several rounds, in each of which every run has
    its turn."""
    best = [float("inf")] * len(runs)
    wanted = [run.offers.count(run.text, run.seconds) for run in runs]
    for _ in range(rounds):
        for i, run in enumerate(runs):
            found, spent = run.measured()
            best[i] = min(best[i], spent)
            if found != wanted[i]:
                raise AssertionError(f"{found} instead of {wanted[i]}")
    return [1e6 * spent / run.triples for spent, run in zip(best, runs, strict=True)]


class Bench:
    """Files of offers, and queries over them."""

    def __init__(self, folder: Path, offers: int, rounds: int) -> None:
        self.folder = folder
        self.rounds = rounds
        self.offers = Offers.drawn(offers)
        self.path = self.offers.write(folder / "offers.nq")
        self.static = write_static(folder / "static.nt", VENDORS)

    def run(self, text: str, seconds: int) -> Run:
        """A query with 40 subclasses of the target."""
        return Run(text, seconds, self.path, self.offers, self.static, schema(40))

    def measure(self, *runs: Run) -> list[float]:
        """Microseconds per triple."""
        return cpu(runs, self.rounds)


def rate(value: float) -> str:
    """Microseconds per triple, the other way round."""
    return f"{1 / value:.2f} M triples/s"


def throughput(bench: Bench) -> Iterator[Measured]:
    """With entailment, for all patterns and windows."""
    for name, text in PATTERNS.items():
        for seconds in (1, 5, 25):
            (value,) = bench.measure(bench.run(text, seconds))
            detail = f"{rate(value)}, {bench.offers.count(text, seconds)} matches"
            yield Measured(f"{name}, window {seconds} s, µs per triple", value, detail, most=1.0)
    stamped = bench.offers.write(bench.folder / "stamped.nt", timestamped=True)
    (value,) = bench.measure(replace(bench.run(SECOND, 5), path=stamped))
    yield Measured("pattern 2, window 5 s, a time on every triple, µs per triple", value, rate(value), most=1.0)


def entailment(bench: Bench) -> Iterator[Measured]:
    """What it costs, and that its cost does not follow the schema's size."""
    asserted = bench.offers.write(bench.folder / "asserted.nq", asserted=True)
    run = bench.run(SECOND, 5)
    entailed, plain = bench.measure(run, replace(run, path=asserted, ontology=None))
    yield Measured("entailment against the same types asserted", entailed / plain, f"{rate(entailed)}, {rate(plain)}", most=1.2)
    sizes = (4, 40, 400, 1608)
    runs = []
    for below in sizes:
        offers = Offers.drawn(len(bench.offers.product), below)
        path = offers.write(bench.folder / f"below{below}.nq")
        runs.append(replace(run, path=path, offers=offers, ontology=schema(below)))
    times = bench.measure(*runs)
    detail = ", ".join(f"{below}: {rate(value)}" for below, value in zip(sizes, times, strict=True))
    yield Measured("slowest against fastest of 4 to 1,608 subclasses", max(times) / min(times), detail, most=1.1)


def memory(bench: Bench) -> Iterator[Measured]:
    """Resident memory at the end of a stream against that after a third of it."""
    seen: list[tuple[float, int]] = []

    def look(progress: Progress) -> None:
        seen.append((progress.done / progress.total, int(Path("/proc/self/statm").read_text().split()[1])))

    query, streams = parse(SECOND % 5, "sparkwave"), {STREAM: open_source(bench.path)}
    for _ in run_local(query, streams, background={STATIC: bench.static}, ontology=schema(40), progress=look):
        pass
    early, all_of_it = max(pages for done, pages in seen if done <= 0.34), max(pages for _, pages in seen)
    detail = f"{all_of_it * 4 // 1024} MiB"
    yield Measured("resident memory at the end against that after a third", all_of_it / early, detail, most=1.1)


def static(bench: Bench, most: int) -> Iterator[Measured]:
    """Static data of different sizes."""
    run = bench.run(THIRD, 5)
    few, many = bench.measure(run, replace(run, static=write_static(bench.folder / "large.nt", most)))
    yield Measured(f"{most:,} static triples against {VENDORS:,}", many / few, f"{rate(few)}, {rate(many)}", most=1.1)


def main() -> int:
    """Measures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCEPTER_CACHE"] = str(Path(folder) / "cache")
        bench = Bench(Path(folder), 20_000 if quick else 100_000, 2 if quick else 5)
        bench.measure(*(bench.run(text, 1) for text in PATTERNS.values()))  # what is compiled is compiled now
        parts = memory(bench), throughput(bench), entailment(bench), static(bench, 100_000 if quick else 1_000_000)
        return report(chain.from_iterable(parts))


if __name__ == "__main__":
    sys.exit(main())
