"""SPAseq's V-shape over stock ticks, skip-till-next, over window sizes; seven triples per event, and three."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes import ticks_sql
from scepter.bench.shapes.stocks import NS, STREAM, Ticks, v_shapes

WINDOWS: Final = (10, 60, 600, 3_600)
QUERY: Final = f"""PREFIX : <{NS}> SELECT ?c ?p1 ?p2 ?p3 WITHIN %d SECONDS SLIDING FROM STREAM S <{STREAM}>
WHERE {{ SEQ (A; B; C)
DEFINE GPM A ON S {{ ?c :price ?p1 }}
DEFINE GPM B ON S {{ ?c :price ?p2 FILTER (?p2 >= ?p1 * 1.02) }}
DEFINE GPM C ON S {{ ?c :price ?p3 FILTER (?p3 <= ?p2 * 0.98) }} }}"""


def points(room: Room, triples: int) -> Iterator[Point]:
    """A point per window."""
    ticks = Ticks.drawn(room.size(200_000, 25_000))
    for seconds in WINDOWS:
        yield point(room, ticks, triples, seconds)


def point(room: Room, ticks: Ticks, triples: int, seconds: int) -> Point:
    """The ticks through a window."""
    events = len(ticks.company)
    return Point(
        at=seconds,
        query=QUERY % seconds,
        language="spaseq",
        streams={STREAM: room.file("ticks.nq", partial(ticks.write, triples=triples))},
        events=events,
        triples=triples * events,
        answers=int(v_shapes(*ticks.by_company(), seconds * 1000)),
        yardsticks={"pyoxigraph": "", "duckdb": ticks_sql.v_shape(seconds * 1000)},
    )


def _goals(rate: float) -> tuple[Goal, ...]:
    return (
        goals.rate(rate),
        goals.flat(2.0),
        goals.beats("duckdb", 2.0),
        Goal("CPU against pyoxigraph's iteration, 60 s", lambda r: r[60, "local"].cpu / r[60, "pyoxigraph"].cpu, most=1.0),
        Goal("slowest, triples/s on local[2]", lambda r: min(m.triples_per_second for m in r.of("spark")), least=1.2e6),
    )


def _workload(name: str, triples: int, rate: float) -> Workload:
    shaped: Callable[[Room], Iterator[Point]] = partial(points, triples=triples)
    return Workload(
        name,
        f"SPAseq, figures 15 and 16, stock market, Q4 by skip-till-next; {triples} triples per event",
        "window, s",
        shaped,
        _goals(rate),
    )


WORKLOADS: Final = (_workload("spaseq-v-shape", 7, 2e6), _workload("spaseq-v-shape-3", 3, 1e6))
