"""The V-shape of companies that static data tells of, over the size of the static data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes.stocks import NS, STREAM, Ticks, v_shapes
from scepter.bench.workloads.spaseq_v_shape import QUERY

GRAPH: Final = "http://example.org/companies"
SECONDS: Final = 600


def points(room: Room) -> Iterator[Point]:
    """A point per size."""
    ticks = Ticks.drawn(room.size(200_000, 20_000))
    for triples in (10_000, 100_000, room.size(1_000_000, 200_000)):
        known = f"GRAPH <{GRAPH}> {{ ?c :name ?name ; :address ?address }} }}\nDEFINE GPM B"
        yield Point(
            at=triples,
            query=(QUERY % SECONDS).replace("?c ?p1", "?c ?name ?p1", 1).replace("}\nDEFINE GPM B", known),
            language="spaseq",
            streams={STREAM: room.file("ticks.nq", partial(ticks.write, triples=7))},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(v_shapes(*ticks.by_company(), SECONDS * 1000)),
            background={GRAPH: room.file(f"companies{triples}.nt", partial(write, triples=triples))},
        )


def write(path: Path, triples: int) -> None:
    """Name, address, page and telephone of companies, of which the stream knows the first ones."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for c in range(triples // 4):
            company = f"<http://example.org/company/{c}>"
            out.write(
                f'{company} <{NS}name> "Company {c}" .\n'
                f'{company} <{NS}address> "{c} Main Street" .\n'
                f"{company} <{NS}page> <http://company{c}.example.org/> .\n"
                f'{company} <{NS}telephone> "+45 {c:08d}" .\n'
            )


WORKLOADS: Final = (
    Workload(
        "spaseq-background",
        "SPAseq, figure 18, stock market with static data",
        "static triples",
        points,
        (goals.flat_stream(1.2),),
    ),
)
