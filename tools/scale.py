#!/usr/bin/env python3
"""How a run on Spark grows beyond the machine it was measured on: the cost model of docs/inside/scale.md, simulated.

Usage: tools/scale.py [--events 1000000000] [--keys 100000] [--skew uniform|zipf|hot]

The constants are measured on one core (CPU time, `WORKLOADS`) or told by docs/inside/scale.md. The simulation draws the keys,
hashes them to buckets, gives buckets to cores as Spark does (the next one to whoever is free), and lets one task in fifty take
three times as long. It says how long a billion events take, live and over history, and what is the bottleneck.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Workload:
    """What an event costs: microseconds of CPU and bytes."""

    name: str
    read: float
    """To parse an event's text and find its solutions or rows, pack them."""
    upper: float
    """Of the stateful stage."""
    shuffled: float
    """Bytes that cross the network."""
    state: float
    """Bytes of state for a key; without any, history is cut into slices of time."""
    cut: bool = True
    """Whether the history of a hot key is cut into slices of time as well (decision 0171)."""
    grid: bool = False
    """Whether two sides of a join meet in a grid of one bucket for each core (decision 0240)."""


READ_TEXT = 2.0
"""Microseconds to parse an event of some three triples of N-Quads."""
WORKLOADS = (
    Workload("SPAseq, pairs in 200 ticks", READ_TEXT + 0.34, 0.64, 57, 720),
    Workload("EP-SPARQL, OPTIONAL and SEQ", READ_TEXT + 0.47, 2.22, 90, 540),
    Workload("Sparkwave and RSEP-QL, AVG per key", READ_TEXT + 0.54, 3.80, 85, 870, cut=False),
    Workload("EP-SPARQL, a join without a key, grid", READ_TEXT + 0.47, 2.22, 90, 540, grid=True),
    Workload("OBEP and what has no key, slices", READ_TEXT + 0.30, 6.00, 300, 0),
)
NETWORK = 100e6
"""Bytes a second that one core can send or take."""
LAUNCH = 0.004
"""Seconds of the driver for each task."""
MICRO_BATCH = 0.35
"""Seconds of a micro-batch that does nothing."""
TOUCH = 0.0015
"""Seconds for each touched bucket: state read, written, committed."""
LIVE_BUCKETS = 256


PARTS, OVERLAP, MOST_HOT = 4, 1.25, 64
"""A key is hot with more than one part in so many of a task's share; its slices overlap by a quarter; so many keys are looked
at."""


def loads(keys: int, buckets: int, skew: str, random: np.random.Generator, *, cut: bool = False) -> Float64:
    """The share of all events that each bucket gets, and with `cut` each place of a hot key."""
    weight = np.ones(keys)
    if skew == "zipf":
        weight = 1 / np.arange(1, keys + 1) ** 1.2
    weight /= weight.sum()
    if skew == "hot":
        weight *= 0.5
        weight[0] += 0.5
    places: list[Float64] = []
    for key in np.argsort(-weight)[:MOST_HOT] if cut else ():
        count = int(np.ceil(PARTS * weight[key] * buckets))
        if count > 1:
            places.append(np.full(count, OVERLAP * weight[key] / count))
            weight[key] = 0
    of = random.integers(0, buckets, keys)
    return np.concatenate([np.bincount(of, weight, buckets).astype(np.float64), *places])


def in_grid(cells: int) -> Float64:
    """The share of all events that each bucket of a square grid gets: of two equal sides one row or one column."""
    return np.full(cells, 1 / cells**0.5)


def makespan(tasks: Float64, cores: int, random: np.random.Generator) -> float:
    """When the last of the tasks is done: each goes to the core that is free first; one in fifty takes three times as long."""
    slow = np.where(random.random(len(tasks)) < 0.02, 3.0, 1.0)
    free = [0.0] * min(cores, len(tasks))
    for task in tasks * slow:
        heapq.heappush(free, heapq.heappop(free) + float(task))
    return max(free)


@dataclass(frozen=True)
class Outcome:
    """Of one workload on so many cores."""

    history: float
    speedup: float
    live: float
    """Events a second in micro-batches of ten seconds."""
    bottleneck: str


def simulated(work: Workload, cores: int, events: int, keys: int, skew: str, seed: int = 1) -> Outcome:
    """A run over history, and what a live one can take."""
    random = np.random.default_rng(seed)
    reading = np.full(2 * cores, events * work.read * 1e-6 / (2 * cores))
    buckets = 4 * cores
    shares = in_grid(cores) if work.grid else loads(keys, buckets, skew if work.state else "uniform", random, cut=work.cut)
    upper = shares * events * work.upper * 1e-6
    parts = {
        "reading": makespan(reading, cores, random),
        "the network": max(1.0, float(shares.sum())) * events * work.shuffled / (cores * NETWORK),
        "the largest bucket" if upper.max() > 4 * upper.mean() else "stateful tasks": makespan(upper, cores, random),
        "the driver": LAUNCH * (len(reading) + len(upper)),
    }
    history = sum(parts.values())
    alone = events * (work.read + work.upper) * 1e-6
    live = loads(keys, LIVE_BUCKETS, skew if work.state else "one", random)
    if work.grid:
        live = in_grid(min(cores, LIVE_BUCKETS // 4))
    elif not work.state:
        live = np.array([1.0])
    # the largest micro-batch of ten seconds: reading in parallel, then the slowest core's buckets
    tasks = min(cores, LIVE_BUCKETS)
    fixed = MICRO_BATCH + TOUCH * len(live) / min(cores, len(live)) + LAUNCH * 2 * tasks
    per_event = work.read * 1e-6 / cores + max(live.max(), 1 / cores) * work.upper * 1e-6
    return Outcome(history, alone / history, max(0.0, 10 - fixed) / per_event / 10, max(parts, key=parts.__getitem__))


def main() -> None:
    """Print a table for each skew."""
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("--events", type=int, default=1_000_000_000)
    told.add_argument("--keys", type=int, default=100_000)
    told.add_argument("--skew", choices=("uniform", "zipf", "hot"), action="append")
    given = told.parse_args()
    for skew in given.skew or ("uniform", "zipf", "hot"):
        sys.stdout.write(f"\n{skew} keys\n\n| workload | cores | history, s | speed-up | live, events/s | bottleneck |" + "\n")
        sys.stdout.write("| --- | ---: | ---: | ---: | ---: | --- |" + "\n")
        for work in WORKLOADS:
            for cores in (10, 100, 1000):
                found = simulated(work, cores, given.events, given.keys, skew)
                row = f"{found.history:,.0f} | {found.speedup:,.0f} | {found.live:,.0f} | {found.bottleneck}"
                sys.stdout.write(f"| {work.name} | {cores:,} | {row} |" + "\n")


if __name__ == "__main__":
    main()
