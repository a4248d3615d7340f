"""Windows over sensor observations: averages per sensor, and three streams joined with a static repository."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes.sensors import CITY, KINDS, SSN, STATIC, STREAM, TRIPLES, Observations, joined, write_repository

MINUTE: Final = 60_000
HEAD: Final = f"PREFIX ssn: <{SSN}> PREFIX c: <{CITY}> "
AVERAGE: Final = (
    HEAD
    + f"""SELECT ?s (AVG(?v) AS ?average) FROM STREAM <{STREAM}{KINDS[0]}> [RANGE 30m STEP 5m]
WHERE {{ ?o ssn:observedBy ?s ; c:hasValue ?v }} GROUP BY ?s"""
)
ROAD: Final = 7
JOIN: Final = (
    HEAD
    + "SELECT ?v0 ?v1 ?v2 "
    + " ".join(f"FROM STREAM <{STREAM}{kind}> [RANGE 1h STEP 5m]" for kind in KINDS)
    + f" FROM <{STATIC}> WHERE {{ "
    + " . ".join(
        f"?o{i} ssn:observedBy ?s{i} ; ssn:observedProperty <{CITY}{kind}/property> ; c:hasValue ?v{i} . "
        f"?s{i} c:onRoad <{CITY}road/{ROAD}>"
        for i, kind in enumerate(KINDS)
    )
    + " }"
)
_CONTENT: Final = JOIN[JOIN.index("WHERE") :]
SPARQL: Final = HEAD + "SELECT ?v0 ?v1 ?v2 " + _CONTENT
"""The same over what the windows hold, for one that evaluates it anew."""


def averages(room: Room) -> Iterator[Point]:
    """One point: an average for each sensor at every step."""
    given = Observations.drawn(room.size(450_000, 45_000))
    path = room.file(f"sensors-{len(given.time)}.nq", given.write)
    events = len(given.time)
    wanted = given.averages(30 * MINUTE, 5 * MINUTE)
    table = room.file(f"sensors-{events}.csv", given.write_csv)
    yield Point(
        at=events, query=AVERAGE, language="sparkwave", streams={STREAM + KINDS[0]: path}, events=events,
        triples=TRIPLES * events, answers=wanted, contenders=("written", "spark"), yardsticks={"pandas": ""},
        options={"csv": table, "width": 30 * MINUTE, "step": 5 * MINUTE},
    )  # fmt: skip


def joins(room: Room, sizes: tuple[int, ...]) -> Iterator[Point]:
    """A point per size of the static repository."""
    every = [Observations.drawn(room.size(45_000, 9_000), kind=kind) for kind in KINDS]
    streams = {STREAM + each.kind: room.file(f"{each.kind}-{len(each.time)}.nq", each.write) for each in every}
    events = sum(len(each.time) for each in every)
    wanted = joined([each.of(ROAD) for each in every], 60 * MINUTE, 5 * MINUTE)
    for triples in sizes:
        static = room.file(f"repository-{triples}.nt", partial(write_repository, triples=triples))
        yield Point(
            at=triples, query=JOIN, language="sparkwave", streams=streams, events=events, triples=TRIPLES * events,
            answers=wanted, background={STATIC: static}, contenders=("written", "spark"),
            yardsticks={"pyoxigraph-windows": SPARQL} if triples == 100_000 else {},
            options={"width": 60 * MINUTE, "step": 5 * MINUTE},
        )  # fmt: skip


def rate(least: float) -> Goal:
    """So many triples a second of one core, from the first batch on."""
    return Goal(
        "slowest, triples/s of one core from the first batch on, to written rows",
        lambda r: min(m.triples / m.streaming for m in r.of("written")),
        least=least,
    )


WORKLOADS: Final = (
    Workload("window-average", "AVG per sensor, RANGE 30m STEP 5m, 450 sensors", "observations", averages, (rate(1e6),)),
    Workload(
        "window-join",
        "three sensor streams and a static repository, RANGE 1h STEP 5m",
        "static triples",
        partial(joins, sizes=(10_000, 100_000, 1_000_000)),
        (
            rate(5e5),
            Goal("most against least static data, CPU", lambda r: r.growth("written", lambda m: m.streaming), most=1.2),
            Goal(
                "CPU of pyoxigraph at every changed window against this, from the first batch on",
                lambda r: r[100_000, "pyoxigraph-windows"].cpu / r[100_000, "written"].streaming,
                least=10.0,
            ),
        ),
    ),
)
