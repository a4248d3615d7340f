"""The SPAseq paper's five use cases from end to end, as `scepter generate` writes them; and Q1, Q2 and Q5 over window sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes.use_cases import COUNTS, card_fraud
from scepter.generate import Manifest, write

MINUTES: Final = {"smart grid": 30, "trajectories": 30, "card fraud": 30, "stock market": 1, "traffic": 30}


def point(room: Room, case: str, minutes: int, events: int, at: float | str) -> Point:
    """The first example query of a use case's dataset, with another window."""
    dataset, count, triples = COUNTS[case]
    found: Manifest = write(dataset, room.folder / dataset, events=events)
    text = found.queries[0].read_text(encoding="utf-8")
    streams = {iri: str(path) for iri, path in found.streams.items()}
    return Point(
        at=at,
        query=re.sub(r"WITHIN \d+ \w+", f"WITHIN {minutes * 60} SECONDS", text, count=1),
        language="spaseq",
        streams=streams,
        events=events,
        triples=triples * events,
        answers=count(streams, minutes * 60_000),
        background={graph: str(path) for graph, path in found.background.items()},
        yardsticks={"pyoxigraph": ""},
    )


STRATEGIES: Final = {",": "strict contiguity", ";": "skip-till-next", ":": "skip-till-any"}
COUNTED: Final = 10
"""Events in a window that counts."""


def by_strategy(room: Room, case: str, strategy: str) -> Iterator[Point]:
    """A point per window, one strategy between all atoms."""
    _, count, _ = COUNTS[case]
    for minutes in (1, 10, 60):
        given = point(room, case, minutes, room.size(100_000, 12_000), minutes)
        text = re.sub(r"(?<=SEQ \()[^()]*(?:\([^()]*\)[^()]*)*(?=\))", lambda m: re.sub("[,;:]", strategy, m[0]), given.query)
        yield replace(given, query=text, answers=count(given.streams, minutes * 60_000, strategy))


def counted(room: Room, strategy: str) -> Iterator[Point]:
    """The cards' query in windows of so many events."""
    for events in (COUNTED, 10 * COUNTED):
        (given,) = (each for each in by_strategy(room, "card fraud", strategy) if each.at == 1)
        text = re.sub(r"WITHIN 60 SECONDS", f"WITHIN {events} EVENTS", given.query)
        yield replace(given, at=events, query=text, answers=card_fraud(given.streams, 0, strategy, events))


def cases(room: Room) -> Iterator[Point]:
    """A point per use case."""
    for case, minutes in MINUTES.items():
        yield point(room, case, minutes, room.size(100_000, 12_000), case)


def windows(room: Room, case: str) -> Iterator[Point]:
    """A point per window."""
    for minutes in (1, 10, 60):
        yield point(room, case, minutes, room.size(100_000, 12_000), minutes)


GOALS: Final = (goals.rate(1e6),)
WORKLOADS: Final = (
    Workload("use-cases", "SPAseq, section 2: the five use cases from end to end", "use case", cases, GOALS),
    Workload(
        "spaseq-grid",
        "SPAseq, figures 15 and 16, smart home, Q1 (three streams, Kleene+)",
        "window, min",
        partial(windows, case="smart grid"),
        GOALS,
    ),
    Workload(
        "spaseq-cards",
        "SPAseq, figures 15 and 16, credit cards, Q2 (big after small)",
        "window, min",
        partial(windows, case="card fraud"),
        GOALS,
    ),
    Workload(
        "spaseq-conjunction",
        "SPAseq, figures 15, 16 and 22, traffic, Q5 (conjunction)",
        "window, min",
        partial(windows, case="traffic"),
        GOALS,
    ),
)
