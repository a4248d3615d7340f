"""How fast RSEP-QL queries are answered: from N-Quads to rows, evaluated at every item.

    python -m benchmarks.rsepql            # the sizes of docs/benchmarks/rsepql.md
    python -m benchmarks.rsepql --quick    # a tenth of it

One item per millisecond in windows of a second: 1,000 items. CPU time of one process, the better of two, and every count
checked against a plain loop over the items that knows nothing of operators.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measured import Measured, cpu, report

from scepter import parse
from scepter.io.sources import open_source
from scepter.runtime.local import run_local

STREAM = "http://example.org/parcels"
NS = "http://example.org/parcel#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
GOAL = 100_000
"""Items per CPU-second."""

QUERY = """PREFIX : <%s> SELECT ?parcel ?from ?to FROM NAMED <%s> WIN [RANGE %d STEP %d] AS :w
EVENT ON :w { ?parcel :left ?from } AS E1  EVENT ON :w { ?parcel :reached ?to } AS E2
EVENT ON :w { ?parcel :left ?again } AS E3
WHERE { MATCH { %s } }"""


@dataclass(frozen=True)
class Items:
    """One item per millisecond: a parcel that left a place (even) or reached one (odd)."""

    parcel: list[int]
    reached: list[bool]

    @classmethod
    def drawn(cls, items: int, parcels: int, seed: int = 7) -> Items:
        """The same for the same seed."""
        random = np.random.default_rng(seed)
        return cls(random.integers(0, parcels, items).tolist(), (random.random(items) < 0.5).tolist())

    def write(self, path: Path) -> Path:
        """As N-Quads: a triple and a time per item."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for i, (parcel, reached) in enumerate(zip(self.parcel, self.reached, strict=True)):
                name, what = f"<http://example.org/scan/{i}>", "reached" if reached else "left"
                out.write(
                    f"<http://example.org/parcel/{parcel}> <{NS}{what}> <http://example.org/place/{i % 97}> {name} .\n"
                    f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n'
                )
        return path

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        return zip(range(len(self.parcel)), self.parcel, self.reached, strict=True)


# What each pattern gives, item by item: `left` are the times at which each parcel left, within the window.

Left = dict[int, deque[int]]


def _live(left: Left, parcel: int, after: int) -> deque[int]:
    times = left.setdefault(parcel, deque())
    while times and times[0] <= after:
        times.popleft()
    return times


def every(items: Items, width: int) -> int:
    """E1 SEQ E2: each time it left, with each time it is reached later."""
    left: Left = {}
    found = 0
    for t, parcel, reached in items:
        times = _live(left, parcel, t - width)
        if reached:
            found += len(times)
        else:
            times.append(t)
    return found


def last(items: Items, width: int) -> int:
    """LAST E1 SEQ E2, and NAIVE where every item is evaluated: one row per item reached after one left."""
    left: Left = {}
    found = 0
    for t, parcel, reached in items:
        times = _live(left, parcel, t - width)
        if reached:
            found += bool(times)
        else:
            times.append(t)
    return found


def first(items: Items, width: int) -> int:
    """FIRST E1 SEQ E2: also a new row for each time reached whose first departure has gone out of the window."""
    left: Left = {}
    reached_at: Left = {}
    going: dict[int, int] = {}
    found = 0
    for t, parcel, reached in items:
        gone = going.pop(t - width, None)  # the parcel that left when the window now begins
        if gone is not None:
            times, arrivals = _live(left, gone, t - width), _live(reached_at, gone, t - width)
            found += sum(1 for arrival in arrivals if times and times[0] < arrival)
        times = _live(left, parcel, t - width)
        if reached:
            found += bool(times)
            reached_at.setdefault(parcel, deque()).append(t)
        else:
            times.append(t)
            going[t] = parcel
    return found


def consuming(newest: bool) -> Callable[[Items, int], int]:
    """CHRONOLOGICAL and RECENT: the first or last time it left goes with the item that is reached, and both are gone."""

    def count(items: Items, width: int) -> int:
        left: Left = {}
        found = 0
        for t, parcel, reached in items:
            times = _live(left, parcel, t - width)
            if not reached:
                times.append(t)
            elif times:
                _ = times.pop() if newest else times.popleft()
                found += 1
        return found

    return count


def chained(items: Items, width: int) -> int:
    """E1 SEQ RECENT E2 SEQ RECENT E3, E3 as E1: left, last reached after it, and now left again; all three are gone."""
    left: Left = {}
    reached_at: Left = {}
    found = 0
    for t, parcel, reached in items:
        times, arrivals = _live(left, parcel, t - width), _live(reached_at, parcel, t - width)
        if reached:
            arrivals.append(t)
        elif times and arrivals and times[0] < arrivals[-1]:
            arrival = arrivals.pop()
            times.remove(max(time for time in times if time < arrival))
            found += 1
        else:
            times.append(t)
    return found


PATTERNS: dict[str, Callable[[Items, int], int]] = {
    "E1 SEQ CHRONOLOGICAL E2": consuming(False),
    "E1 SEQ RECENT E2": consuming(True),
    "LAST E1 SEQ E2": last,
    "FIRST E1 SEQ E2": first,
    "E1 SEQ NAIVE E2": last,
    "E1 SEQ UNRESTRICTED E2": every,
}


CHAIN = "E1 SEQ RECENT E2 SEQ RECENT E3"


def rows(path: Path, pattern: str, width: int, step: int) -> int:
    """How many rows a query gives."""
    query = parse(QUERY % (NS, STREAM, width, step, pattern))
    return sum(1 for _ in run_local(query, {STREAM: open_source(path)}))


def patterns(folder: Path, items: int) -> list[Measured]:
    """Windows of 1,000 items, evaluated at each of them."""
    found = []
    few = Items.drawn(items, 50)
    many = Items.drawn(items, 5_000)
    few_path, many_path = few.write(folder / "few.nq"), many.write(folder / "many.nq")
    warm = Items.drawn(2_000, 50).write(folder / "warm.nq")
    for pattern, count in PATTERNS.items():
        rows(warm, pattern, 1000, 1)
        # with 50 parcels these give five rows per item and more: what is measured then is making them
        drawn, path = (many, many_path) if count in (every, first) else (few, few_path)
        wanted = count(drawn, 1000)
        taken = cpu(lambda path=path, pattern=pattern: rows(path, pattern, 1000, 1), wanted)  # type: ignore[misc]
        rate = items / taken
        found.append(Measured(f"{pattern}, items/s", rate, f"{wanted} rows in {taken:.2f} s", least=GOAL))
    return found


def hour(folder: Path, items: int) -> list[Measured]:
    """A wide window with a small step against a narrow one: what is inside must not be read again."""
    drawn = Items.drawn(items, 5_000)
    path = drawn.write(folder / "hour.nq")
    found = []
    for pattern in ("E1 SEQ RECENT E2", "LAST E1 SEQ E2"):
        narrow, wide = (
            cpu(lambda width=width, pattern=pattern: rows(path, pattern, width, 1), PATTERNS[pattern](drawn, width))  # type: ignore[misc]
            for width in (1000, 3_600_000)
        )
        detail = f"{narrow:.2f} s, {wide:.2f} s for {items} items inside"
        found.append(Measured(f"{pattern}, window of 1 h against 1 s", wide / narrow, detail, most=2))
    return found


def chains(folder: Path, items: int) -> list[Measured]:
    """A sequence after one that selects, which is for the operators: no goal but that it ends."""
    drawn = Items.drawn(items, 50)
    path, wanted = drawn.write(folder / "chain.nq"), chained(drawn, 1000)
    taken = cpu(lambda: rows(path, CHAIN, 1000, 1), wanted)
    return [Measured(f"{CHAIN}, items/s", items / taken, f"{wanted} rows in {taken:.2f} s")]


def main() -> int:
    """Measures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    items = 20_000 if parser.parse_args().quick else 200_000
    with tempfile.TemporaryDirectory() as folder:
        results = patterns(Path(folder), items) + hour(Path(folder), items) + chains(Path(folder), items // 10)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
