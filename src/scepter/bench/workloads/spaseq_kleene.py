"""Kleene+ against a plain sequence, and skip-till-any pairs, over window sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.bench.shapes import ticks_sql
from scepter.bench.shapes.stocks import NS, STREAM, Ticks, pairs, rises, zigzags

QUERY: Final = f"""PREFIX : <{NS}> SELECT ?c ?p1 ?p2 WITHIN %d SECONDS SLIDING PARTITION BY (?c) FROM STREAM S <{STREAM}>
WHERE {{ SEQ (%s)
DEFINE GPM A ON S {{ ?c :price ?p1 }}
DEFINE GPM B ON S {{ ?c :price ?p2 FILTER (?p2 %s) }} }}"""


def points(room: Room, sequence: str, condition: str, windows: tuple[int, ...], count: Callable[..., int]) -> Iterator[Point]:
    """A point per window."""
    ticks = Ticks.drawn(room.size(200_000, 25_000))
    for seconds in windows:
        any_pairs = sequence == "A: B"
        yield Point(
            at=seconds,
            query=QUERY % (seconds, sequence, condition),
            language="spaseq",
            streams={STREAM: room.file("ticks.nq", partial(ticks.write, triples=7))},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(count(*ticks.by_company(), seconds * 1000)),
            yardsticks={
                "duckdb": ticks_sql.any_pairs(seconds * 1000),
                **({"spark-join": ticks_sql.spark_pairs(seconds)} if seconds == windows[0] else {}),
            }
            if any_pairs
            else {},
        )


def next_ticks(starts: Any, times: Any, cents: Any, window: int) -> int:
    """Each tick with the company's next, if that is above it."""
    return int(zigzags(starts, times, cents, window, 2))


def growth(results: Results) -> float:
    """Of CPU over that of the output, from the narrowest window to the widest."""
    found = sorted(results.of("local"), key=lambda m: m.answers)
    return (found[-1].cpu / found[0].cpu) / (found[-1].answers / found[0].answers)


WINDOWS: Final = (60, 600, 2_400)
KINDS: Final = {
    "Kleene+": partial(points, sequence="A, B+", condition="> ?p1", windows=WINDOWS, count=rises),
    "plain": partial(points, sequence="A, B", condition="> ?p1", windows=WINDOWS, count=next_ticks),
}
PROPORTIONAL: Final = Goal("growth of CPU over growth of output", growth, most=1.2)
WORKLOADS: Final = (
    Workload(
        "spaseq-kleene",
        "SPAseq, figure 20, Kleene+ over the stock market",
        "window, s",
        KINDS["Kleene+"],
        (PROPORTIONAL,),
    ),
    Workload(
        "spaseq-plain",
        "SPAseq, figure 20, the plain sequence beside Kleene+",
        "window, s",
        KINDS["plain"],
        (goals.flat(1.2),),
    ),
    Workload(
        "spaseq-any",
        "SPAseq, skip-till-any: pairs of ticks, the second 3 % below the first",
        "window, s",
        partial(points, sequence="A: B", condition="< ?p1 * 0.97", windows=(20, 60, 120), count=pairs),
        (PROPORTIONAL, goals.beats("duckdb", 2.0), goals.beats("spark-join", 2.0)),
    ),
)
