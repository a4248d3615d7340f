"""How fast N-Quads become event batches, against iterating `pyoxigraph.parse` over the same file.

    python -m benchmarks.scan --size 300

CPU time of one process, both on the same file in the same run; counts and sums are checked, not only timed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyoxigraph

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.nquads import BATCH_BYTES, NQuadsReader

XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
SENSOR = "http://example.org/sensor#"
GOAL_FULL, GOAL_PRUNED = 4.0, 7.0


def event_text(index: int) -> str:
    """An event of seven triples and its time."""
    name = f"<http://example.org/stream/power/event/{index}>"
    subject = f"<http://example.org/house/{index % 1000}>"
    triples = [
        f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{SENSOR}PowerReading>",
        f'{subject} <{SENSOR}power> "{index % 977}.{index % 100:02d}"^^<{XSD}decimal>',
        f'{subject} <{SENSOR}voltage> "{230 + index % 7}"^^<{XSD}integer>',
        f'{subject} <{SENSOR}frequency> "{50 + index % 10 / 10}"^^<{XSD}double>',
        f"{subject} <{SENSOR}location> <http://example.org/district/{index % 40}>",
        f'{subject} <{SENSOR}label> "Reading number {index} of the meter"@en',
        f'{subject} <{SENSOR}status> "{"ok" if index % 50 else "over limit"}"',
    ]
    time_line = f'{name} <{PROV}generatedAtTime> "{1_700_000_000_000 + index}"^^<{XSD}integer> .\n'
    return "".join(f"{triple} {name} .\n" for triple in triples) + time_line


def write_stream(path: Path, megabytes: int) -> int:
    """Writes about so many megabytes; gives the number of events."""
    index = 0
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as out:
        while written < megabytes * 1_000_000:
            text = "".join(event_text(i) for i in range(index, index + 1000))
            index += 1000
            written += len(text)
            out.write(text)
    return index


def read_batches(path: Path, key: TermKey, predicates: frozenset[int] | None) -> Iterator[EventBatch]:
    """The batches of a file."""

    def refuse(letter: DeadLetter) -> None:
        raise AssertionError(letter)

    reader = NQuadsReader(key, 0, path.name, refuse, predicates=predicates)
    with path.open("rb", buffering=0) as source:
        while chunk := source.read(BATCH_BYTES):
            if (batch := reader.feed(chunk)) is not None:
                yield batch
    if (batch := reader.finish()) is not None:
        yield batch


def scan(path: Path, key: TermKey, predicates: frozenset[int] | None) -> tuple[int, int, float]:
    """(events, triples, sum of the powers)."""
    power = np.uint64(term_id(key, f"<{SENSOR}power>"))
    events = triples = 0
    total = 0.0
    for batch in read_batches(path, key, predicates):
        events += batch.events
        triples += batch.triples
        total += float(batch.number[batch.predicate == power].sum())
    return events, triples, total


def iterate(path: Path) -> tuple[int, int, float]:
    """The same three numbers by pyoxigraph; what it costs to look at each quad is kept to the least."""
    power = pyoxigraph.NamedNode(f"{SENSOR}power")
    default = pyoxigraph.DefaultGraph()
    events = triples = 0
    total = 0.0
    for quad in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS):
        if quad.graph_name == default:
            events += 1
        else:
            triples += 1
            if quad.predicate == power:
                total += float(quad.object.value)
    return events, triples, total


def iterate_only(path: Path) -> int:
    """Nothing but the iteration."""
    count = 0
    for _ in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS):
        count += 1
    return count


def main() -> int:
    """Runs the comparison; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=300, help="megabytes of N-Quads")
    size = parser.parse_args().size
    key = TermKey.fixed()
    wanted = frozenset(term_id(key, f"<{SENSOR}{name}>") for name in ("power", "location"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.nq"
        events = write_stream(path, size)
        warm = Path(folder) / "warm.nq"
        warm.write_text(event_text(0))
        scan(warm, key, wanted)
        timings: dict[str, float] = {}
        answers: dict[str, object] = {}
        for name, work in (
            ("pyoxigraph, iteration only", lambda: iterate_only(path)),
            ("pyoxigraph, same answer", lambda: iterate(path)),
            ("scan, all", lambda: scan(path, key, None)),
            ("scan, two of seven", lambda: scan(path, key, wanted)),
        ):
            began = time.process_time()
            answers[name] = work()
            timings[name] = time.process_time() - began
        lines = events * 8
        for name, seconds in timings.items():
            print(f"{name:28} {seconds:7.2f} s CPU  {lines / seconds / 1e6:6.2f} M lines/s")
        total = answers["pyoxigraph, same answer"][2]  # type: ignore[index]
        if answers["pyoxigraph, iteration only"] != lines or answers["pyoxigraph, same answer"] != (events, events * 7, total):
            raise AssertionError(answers)
        for name, kept in (("scan, all", 7), ("scan, two of seven", 2)):
            counted, triples, summed = answers[name]  # type: ignore[misc]
            if (counted, triples) != (events, events * kept) or abs(summed - total) > 1e-9 * total:  # type: ignore[has-type]
                raise AssertionError((name, answers))
        full = timings["pyoxigraph, iteration only"] / timings["scan, all"]
        pruned = timings["pyoxigraph, iteration only"] / timings["scan, two of seven"]
        print(f"full scan {full:.1f}x (goal {GOAL_FULL}), two of seven predicates {pruned:.1f}x (goal {GOAL_PRUNED})")
        return 0 if full >= GOAL_FULL and pruned >= GOAL_PRUNED else 1


if __name__ == "__main__":
    sys.exit(main())
