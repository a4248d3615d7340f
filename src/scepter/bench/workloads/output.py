"""From text to rows in a file: the V-shape beside pyoxigraph's bare iteration, strict V and pairs beside DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.bench.shapes import ticks_sql
from scepter.bench.shapes.stocks import STREAM, Ticks, pairs, zigzags
from scepter.bench.workloads import spaseq_kleene, spaseq_strict, spaseq_v_shape

SECONDS: Final = 60


def v_shape(room: Room) -> Iterator[Point]:
    """Three triples per event."""
    ticks = Ticks.drawn(room.size(500_000, 25_000))
    given = spaseq_v_shape.point(room, ticks, 3, 600)
    yield replace(given, contenders=("written",), yardsticks={"pyoxigraph": ""})


def against_sql(room: Room) -> Iterator[Point]:
    """Both sort their rows by time and write them as JSON lines."""
    ticks = Ticks.drawn(room.size(500_000, 25_000))
    events, by_company = len(ticks.company), ticks.by_company()
    given = Point(
        at="strict V",
        query=spaseq_strict.query(SECONDS, spaseq_strict.V_SHAPE),
        language="spaseq",
        streams={STREAM: room.file("ticks.nq", partial(ticks.write, triples=3))},
        events=events,
        triples=3 * events,
        answers=int(zigzags(*by_company, SECONDS * 1000, 3)),
        contenders=("written",),
        yardsticks={"duckdb-written": ticks_sql.strict_rows(SECONDS * 1000, "p2 > p1 AND p3 < p2", 3)},
    )
    yield given
    yield replace(
        given,
        at="pairs",
        query=spaseq_kleene.QUERY % (SECONDS, "A: B", "< ?p1 * 0.97"),
        answers=int(pairs(*by_company, SECONDS * 1000)),
        yardsticks={"duckdb-written": ticks_sql.pair_rows(SECONDS * 1000)},
    )


def per_row(results: Results) -> float:
    """Microseconds of a row, over the bare iteration of the input."""
    mine, bare = results[600, "written"], results[600, "pyoxigraph"]
    return 1e6 * (mine.cpu - bare.cpu) / mine.answers


WORKLOADS: Final = (
    Workload(
        "output-v-shape",
        "V-shape to JSON lines in a file",
        "window, s",
        v_shape,
        (Goal("microseconds a row, over pyoxigraph's bare iteration of the input", per_row, most=2.0),),
    ),
    Workload(
        "output-sql",
        "strict V and pairs (skip-till-any) to JSON lines, both writing",
        "pattern",
        against_sql,
        (Goal("CPU against DuckDB's, worst", lambda r: max(r.ratios("written", "duckdb-written")), most=1.0),),
    ),
)
