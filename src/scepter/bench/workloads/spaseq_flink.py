"""V-shapes that Flink's MATCH_RECOGNIZE can express, over few events: it keeps every partial match as rows of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes import ticks_sql
from scepter.bench.shapes.stocks import Ticks, zigzags
from scepter.bench.workloads.spaseq_strict import V_SHAPE, query
from scepter.bench.workloads.spaseq_v_shape import point


def points(room: Room) -> Iterator[Point]:
    """Skip-till-next in two windows, and strict contiguity."""
    ticks = Ticks.drawn(room.size(20_000, 2_000))
    for seconds in (10, 60):
        given = point(room, ticks, 7, seconds)
        yield replace(given, at=f"next, {seconds} s", yardsticks={"flink": ticks_sql.flink_v_shape(seconds)})
    yield replace(
        given,
        at="strict, 60 s",
        query=query(60, V_SHAPE),
        answers=int(zigzags(*ticks.by_company(), 60_000, 3)),
        yardsticks={"flink": ticks_sql.flink_strict(60, _defined(V_SHAPE), 3)},
    )


def _defined(conditions: Sequence[str]) -> str:
    """The conditions as MATCH_RECOGNIZE has them."""
    parts = []
    for letter, condition in zip("ABCDEFGHI", conditions, strict=False):
        if condition:
            text = condition.replace("&&", "AND")
            for n, name in enumerate("ABCDEFGHI", 1):
                text = text.replace(f"?p{n}", f"{name}.cents")
            parts.append(f"{letter} AS {text}")
    return ", ".join(parts)


WORKLOADS: Final = (
    Workload("spaseq-flink", "SPAseq, Q4 (V-shape) beside Flink", "selection, window", points, (goals.beats("flink", 10.0),)),
)
