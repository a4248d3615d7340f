"""Offers after the Berlin SPARQL Benchmark, as Sparkwave streams them: eleven triples each, one offer per millisecond."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.terms import TYPE, XSD

STREAM: Final = "http://bsbm.example/stream"
STATIC: Final = "http://bsbm.example/static"
V: Final = "http://bsbm.example/vocabulary/"
THING: Final = "http://bsbm.example/instances/"
DC: Final = "http://purl.org/dc/elements/1.1/"
PROV: Final = "<http://www.w3.org/ns/prov#generatedAtTime>"
SUB_CLASS_OF: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
TRIPLES: Final = 11
PRODUCTS, VENDORS, PRODUCERS, COUNTRIES = 20_000, 10_000, 500, 10


@dataclass(frozen=True)
class Offers:
    """The product and the vendor of each offer, and each product's type; those below the target come first."""

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

    def write(self, path: Path, *, asserted: bool = False, timestamped: bool = False) -> None:
        """As N-Quads, or a time on every triple; with `asserted`, products are of the target itself."""
        names = [f"<{V}Target>" if asserted and k < self.below else f"<{V}ProductType{k}>" for k in self.kind.tolist()]
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (p, w) in enumerate(zip(self.product.tolist(), self.vendor.tolist(), strict=True)):
                offer, product, vendor = f"<{THING}Offer{i}>", f"<{THING}Product{p}>", f"<{THING}Vendor{w}>"
                graph = f'"{i}"^^<{XSD}integer>' if timestamped else f"<{THING}Graph{i}>"
                out.write(
                    f"{offer} <{TYPE}> <{V}Offer> {graph} .\n"
                    f"{offer} <{V}product> {product} {graph} .\n"
                    f"{offer} <{V}vendor> {vendor} {graph} .\n"
                    f'{offer} <{V}price> "{1 + i % 997}.{i % 100:02d}"^^<{XSD}decimal> {graph} .\n'
                    f'{offer} <{V}validFrom> "2026-03-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f'{offer} <{V}validTo> "2026-06-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f'{offer} <{V}deliveryDays> "{1 + i % 21}"^^<{XSD}integer> {graph} .\n'
                    f"{offer} <{V}offerWebpage> <http://vendor.example/offer/{i}> {graph} .\n"
                    f"{offer} <{DC}publisher> {vendor} {graph} .\n"
                    f'{offer} <{DC}date> "2026-02-{1 + i % 28:02d}"^^<{XSD}date> {graph} .\n'
                    f"{product} <{TYPE}> {names[p]} {graph} .\n"
                )
                if not timestamped:
                    out.write(f'{graph} {PROV} "{i}"^^<{XSD}integer> .\n')

    def wanted(self, *, vendors: bool = False, producers: bool = False) -> NDArray[np.bool_]:
        """The offers whose product is of the target; only with vendors, and producers, of one country."""
        chosen = self.kind[self.product] < self.below
        if vendors:
            chosen = chosen & (self.vendor % COUNTRIES == 3)
        if producers:
            chosen = chosen & (self.product % PRODUCERS % COUNTRIES == 4)
        return chosen

    def count(self, seconds: int, *, vendors: bool = False, producers: bool = False) -> int:
        """How often an offer meets its product's type within the window; only with vendors, and producers, of one country."""
        return int(_count(self.product, self.wanted(vendors=vendors, producers=producers), self.wanted(), seconds * 1000))


@njit(cache=True)
def _count(product, chosen, typed, window):  # type: ignore[no-untyped-def]
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


def write_schema(path: Path, below: int, others: int = 289) -> None:
    """Subclasses of the target in a tree with four branches at each class, and the types that are none of them: so many, of
    which products have the first 289."""
    lines = [f"<{V}ProductType{k}> {SUB_CLASS_OF} <{V}{_above(k)}> ." for k in range(below)]
    lines += [f"<{V}ProductType{below + k}> {SUB_CLASS_OF} <{V}{_beside(k, below)}> ." for k in range(others)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _above(k: int) -> str:
    return f"ProductType{k // 4 - 1}" if k >= 4 else "Target"


def _beside(k: int, below: int) -> str:
    """The first 289 are below one class, the others below these, four each: six levels where there are 22,527 in all."""
    return "Other" if k < 289 else f"ProductType{below + k // 4}"


def write_static(path: Path, triples: int) -> None:
    """The countries of vendors, of which the stream names the first ones."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for k in range(triples):
            out.write(f"<{THING}Vendor{k}> <{V}country> <{V}Country{k % COUNTRIES}> .\n")


def write_producers(path: Path, triples: int) -> None:
    """The countries of vendors, after the producers of products and their countries."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for k in range(PRODUCTS):
            out.write(f"<{THING}Product{k}> <{V}producer> <{THING}Producer{k % PRODUCERS}> .\n")
        for k in range(PRODUCERS):
            out.write(f"<{THING}Producer{k}> <{V}country> <{V}Country{k % COUNTRIES}> .\n")
        for k in range(triples - PRODUCTS - PRODUCERS):
            out.write(f"<{THING}Vendor{k}> <{V}country> <{V}Country{k % COUNTRIES}> .\n")
