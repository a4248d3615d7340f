"""`Engine.push`: one event at a time, with many runs alive."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench.contenders.push import LATE, MEDIAN
from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes.stocks import NS, PROV, STREAM
from scepter.bench.workloads.spaseq_v_shape import QUERY
from scepter.rdf.terms import XSD


def points(room: Room) -> Iterator[Point]:
    """So many runs alive before events are pushed one at a time."""
    pushed = room.size(5_000, 200)
    for live in (1_000, room.size(100_000, 5_000)):
        yield Point(
            at=live,
            query=QUERY % 1_000_000,
            language="spaseq",
            streams={STREAM: room.file(f"falling{live}.nq", partial(write, events=live + pushed))},
            events=live + pushed,
            triples=live + pushed,
            answers=0,
            contenders=("push",),
            options={"ahead": live},
        )


def write(path: Path, events: int) -> None:
    """Prices that fall: each event begins a run that nothing continues."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for i in range(events):
            cents, name = 10_000_000 - i, f"<http://example.org/tick/{i}>"
            price = f'"{cents // 100}.{cents % 100:02d}"^^<{XSD}decimal>'
            out.write(f"<http://example.org/company/{i % 1000}> <{NS}price> {price} {name} .\n")
            out.write(f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n')


WORKLOADS: Final = (
    Workload(
        "push",
        "one pushed event of the V-shape with many runs alive",
        "live runs",
        points,
        (
            Goal("median, ms of CPU", lambda r: max(m.extra[MEDIAN] for m in r.of("push")), most=1.0),
            Goal("99th percentile, ms of CPU", lambda r: max(m.extra[LATE] for m in r.of("push")), most=5.0),
        ),
    ),
)
