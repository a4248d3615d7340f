"""Keys that are not alike: the V-shape, over history and live, where few companies have most of the ticks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from scepter.bench.model import SLOWEST, Goal, Point, Room, Workload
from scepter.bench.shapes.stocks import STREAM, Ticks, v_shapes
from scepter.bench.workloads.spaseq_v_shape import QUERY

SECONDS: Final = 60
_COMPANIES: Final = 1_000
ZIPF, HALF = "Zipf 1.2", "one has half"
LIVE = "{}, live"


def points(room: Room) -> Iterator[Point]:
    """Ticks by a Zipf distribution, and with one company that has half of them."""
    zipf = np.arange(1, _COMPANIES + 1) ** -1.2
    half = np.concatenate([[_COMPANIES - 1.0], np.ones(_COMPANIES - 1)])
    for at, weights in ((ZIPF, zipf), (HALF, half)):
        ticks = Ticks.drawn(room.size(400_000, 25_000), companies=_COMPANIES, weights=weights / weights.sum())
        point = Point(
            at=at,
            query=QUERY % SECONDS,
            language="spaseq",
            streams={STREAM: room.file(f"ticks-{at.replace(' ', '-')}.nq", partial(ticks.write, triples=3))},
            events=len(ticks.company),
            triples=3 * len(ticks.company),
            answers=int(v_shapes(*ticks.by_company(), SECONDS * 1000)),
            contenders=("tasks",),
        )
        yield point
        yield replace(point, at=LIVE.format(at), options={"live": 1})


WORKLOADS: Final = (
    Workload(
        "spark-skew",
        "V-shape with hot keys, over history and live: CPU of the slowest task against the mean, of eight behind the shuffle",
        "companies",
        points,
        tuple(
            Goal(f"{at}: the slowest task against the mean", partial(lambda at, r: r[at, "tasks"].extra[SLOWEST], at), most=2.0)
            for at in (ZIPF, HALF, LIVE.format(ZIPF), LIVE.format(HALF))
        ),
    ),
)
