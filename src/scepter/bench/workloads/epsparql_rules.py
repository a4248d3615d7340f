"""EP-SPARQL's queries (5) and (6), the sliding average by recursion that figure 1 (a) measures, and what reaches what."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes.prices import NS, STREAM
from scepter.rdf.terms import XSD

_POINT: Final = "?point :hasCount ?n ; :hasSum ?s"
AVERAGE: Final = f"""PREFIX : <{NS}>
CONSTRUCT {{ _:p :hasCount 1 . _:p :hasSum ?price }} WHERE {{ :ACME :hasStockPrice ?price }}
CONSTRUCT {{ _:p :hasCount ?count . _:p :hasSum ?sum }} WHERE {{
  {{ {_POINT} }} SEQ {{ :ACME :hasStockPrice ?price }} EQUALSOPTIONAL
  {{ {{ {_POINT} }} SEQ {{ :ACME :hasStockPrice ?between }} SEQ {{ :ACME :hasStockPrice ?price }} }}
  FILTER (!BOUND(?between) && getDURATION() < %d) BIND (?n + 1 AS ?count) BIND (?s + ?price AS ?sum) }}
SELECT (?s / ?n AS ?average) WHERE {{
  {{ :ACME :hasStockPrice ?price }} SEQ {{ {_POINT} }} EQUALSOPTIONAL
  {{ {{ :ACME :hasStockPrice ?price }} SEQ {{ :ACME :hasStockPrice ?between }} SEQ {{ {_POINT} }} }}
  FILTER (!BOUND(?between) && getDURATION() >= %d) }}"""
"""The paper's (5) with the rule that begins, which it leaves out, and (6); prices come one a tick."""
REACHES: Final = f"""PREFIX : <{NS}>
CONSTRUCT {{ ?a :reaches ?b }} WHERE {{ ?a :link ?b }}
CONSTRUCT {{ ?a :reaches ?c }} WHERE {{ {{ ?a :reaches ?b }} SEQ {{ ?b :link ?c }} FILTER (getDURATION() < 100) }}
SELECT ?a ?b WHERE {{ ?a :reaches ?b }}"""
NODES: Final = 100


def averages(room: Room) -> Iterator[Point]:
    """A row for each price that a whole window stands before."""
    for window, events in ((10, room.size(100_000, 2_000)), (50, room.size(40_000, 500))):
        yield Point(
            at=window,
            query=AVERAGE % (window, window),
            language="ep-sparql",
            streams={STREAM: room.file(f"acme{events}.nt", partial(write_prices, events=events))},
            events=events,
            triples=events,
            answers=events - window,
            contenders=("local",),
        )


def write_prices(path: Path, events: int) -> None:
    """One a tick."""
    prices = np.random.default_rng(5).integers(100, 1_000, events)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for t, price in enumerate(prices.tolist()):
            out.write(f'<{NS}ACME> <{NS}hasStockPrice> "{price}"^^<{XSD}integer> "{t}"^^<{XSD}integer> .\n')


def links(events: int) -> list[tuple[int, int]]:
    """An edge a tick."""
    drawn = np.random.default_rng(5).integers(0, NODES, (events, 2))
    return [(int(a), int(b)) for a, b in drawn]


def reached(edges: list[tuple[int, int]], window: int) -> int:
    """The different (a, b, start, end) of paths whose edges come one after the other within the window, by a plain loop."""
    ending: dict[int, list[tuple[int, int]]] = {}
    found = 0
    for t, (a, b) in enumerate(edges):
        new = {(a, t)} | {(first, start) for first, start in ending.get(a, []) if t - start < window}
        found += len(new)
        known = [(first, start) for first, start in ending.get(b, []) if t - start < window]
        ending[b] = [*known, *new]
    return found


def closures(room: Room) -> Iterator[Point]:
    """What reaches what by links that come one after the other."""
    for events in (room.size(20_000, 500), room.size(100_000, 2_000)):
        edges = links(events)
        yield Point(
            at=events,
            query=REACHES,
            language="ep-sparql",
            streams={STREAM: room.file(f"links{events}.nt", partial(write_links, edges=edges))},
            events=events,
            triples=events,
            answers=reached(edges, 100),
            contenders=("local",),
        )


def write_links(path: Path, edges: list[tuple[int, int]]) -> None:
    """One a tick."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for t, (a, b) in enumerate(edges):
            out.write(f'<{NS}n{a}> <{NS}link> <{NS}n{b}> "{t}"^^<{XSD}integer> .\n')


WORKLOADS: Final = (
    Workload(
        "ep-sparql-figure-1a",
        "EP-SPARQL, test 1, figure 1 (a): queries (5) and (6), the sliding average by recursion",
        "events in the window",
        averages,
        (
            Goal("events/s of one core, 10 in the window", lambda r: r[10, "local"].events_per_cpu_second, least=100_000),
            Goal("events/s of one core, 50 in the window", lambda r: r[50, "local"].events_per_cpu_second, least=50_000),
        ),
    ),
    Workload(
        "ep-sparql-reaches",
        "EP-SPARQL: a recursive rule over events, what reaches what within 100 ticks",
        "events",
        closures,
        (Goal("events/s of one core", lambda r: max(m.events_per_cpu_second for m in r.of("local")), least=200_000),),
    ),
)
