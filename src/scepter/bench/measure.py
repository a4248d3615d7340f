"""The process of one measurement: `python -m scepter.bench.measure CONTENDER REPEATS`, the point as JSON on standard input.

What it measures is the last line of its standard output, as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from scepter.allocation import keep_memory
from scepter.bench.contenders import Outcome, Work, contender
from scepter.bench.model import Point
from scepter.bench.processes import cpu_seconds, peak_bytes

HEAD: Final = 1 << 22
"""Bytes of each stream that warm a contender up."""
_UNCUT: Final = frozenset({".parquet", ".jelly"})
"""What is no lines: a part of such a file is none, and would warm nothing up."""


def measured(work: Work, point: Point, repeats: int) -> dict[str, Any]:
    """Runs of a point, after one over the head of its streams."""
    with tempfile.TemporaryDirectory() as folder:
        work(headed(point, Path(folder)))
    begun = peak_bytes()
    samples: list[tuple[float, float]] = []
    outcomes: list[Outcome] = []
    for _ in range(repeats):
        cpu, wall = cpu_seconds(), time.perf_counter()
        outcomes.append(work(point))
        samples.append((cpu_seconds() - cpu, time.perf_counter() - wall))
    states = [outcome.state for outcome in outcomes if outcome.state is not None]
    return {
        "answers": [outcome.answers for outcome in outcomes],
        "samples": samples,
        "begun": begun,
        "peak": peak_bytes(),
        "state": max(states, default=None),
        "extra": {name: median(outcome.extra[name] for outcome in outcomes) for name in outcomes[-1].extra},
    }


def headed(point: Point, folder: Path) -> Point:
    """The point over the first lines of its streams, where they are lines; how many answers it has there nobody knows."""
    streams = {}
    for number, (iri, path) in enumerate(point.streams.items()):
        if "://" in path:  # a topic has no head of its own
            streams[iri] = path
            continue
        source = Path(path)
        source = min(source.iterdir()) if source.is_dir() else source
        if source.suffix in _UNCUT:
            streams[iri] = str(source)
            continue
        with source.open("rb") as text:
            head = text.read(HEAD)
        target = folder / f"{number}{source.suffix}"
        target.write_bytes(head[: head.rfind(b"\n") + 1])
        streams[iri] = str(target)
    return replace(point, streams=streams)


def main() -> None:
    """Measure what standard input says."""
    keep_memory()  # as the command line does
    name, repeats = sys.argv[1], int(sys.argv[2])
    given: Mapping[str, Any] = json.loads(sys.stdin.read())
    point = Point(**{**given, "contenders": tuple(given["contenders"])})
    found = measured(contender(name), point, repeats)
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
