"""SPAseq's V-shape (Q4) and head-and-shoulders (Q3) by strict contiguity, over window sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes import ticks_sql
from scepter.bench.shapes.stocks import NS, STREAM, Ticks, heads_and_shoulders, zigzags

WINDOWS: Final = (10, 60, 600, 3_600)
V_SHAPE: Final = ("", "?p2 > ?p1", "?p3 < ?p2")
HEAD_AND_SHOULDERS: Final = (
    "",
    "?p2 > ?p1",
    "?p3 < ?p2 && ?p3 > ?p1",
    "?p4 > ?p2",
    "?p5 < ?p4 && ?p5 > ?p3",
    "?p6 > ?p5 && ?p6 < ?p4",
    "?p7 < ?p6 && ?p7 > ?p5",
)


def query(seconds: int, conditions: Sequence[str], operator: str = ",") -> str:
    """A clause for each condition on the price of a company's next tick, ?p1, ?p2, …"""
    letters = "ABCDEFGHI"[: len(conditions)]
    clauses = "\n".join(
        f"DEFINE GPM {letter} ON S {{ ?c :price ?p{n} {f'FILTER ({condition})' if condition else ''} }}"
        for n, (letter, condition) in enumerate(zip(letters, conditions, strict=True), 1)
    )
    shown = " ".join(f"?p{n}" for n in range(1, len(conditions) + 1))
    return f"""PREFIX : <{NS}> SELECT ?c {shown} WITHIN {seconds} SECONDS SLIDING PARTITION BY (?c) FROM STREAM S <{STREAM}>
WHERE {{ SEQ ({f"{operator} ".join(letters)})\n{clauses} }}"""


def points(room: Room, conditions: Sequence[str]) -> Iterator[Point]:
    """A point per window."""
    ticks = Ticks.drawn(room.size(200_000, 25_000))
    path = room.file("ticks.nq", partial(ticks.write, triples=7))
    wanted = [condition for condition in conditions if condition]
    sql = " AND ".join(wanted).replace("?", "").replace("&&", "AND")
    for seconds in WINDOWS:
        arguments = (*ticks.by_company(), seconds * 1000)
        found = zigzags(*arguments, 3) if conditions is V_SHAPE else heads_and_shoulders(*arguments)
        yield Point(
            at=seconds,
            query=query(seconds, conditions),
            language="spaseq",
            streams={STREAM: path},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(found),
            yardsticks={"pyoxigraph": "", "duckdb": ticks_sql.strict(seconds * 1000, sql, len(conditions))},
        )


GOALS: Final = (goals.rate(2e6), goals.flat(1.2), goals.beats("duckdb", 2.0))
WORKLOADS: Final = (
    Workload(
        "spaseq-strict",
        "SPAseq, figures 15 and 16, stock market, Q4 (V-shape), strict contiguity",
        "window, s",
        partial(points, conditions=V_SHAPE),
        GOALS,
    ),
    Workload(
        "spaseq-shoulders",
        "SPAseq, Q3 (head and shoulders, seven clauses), strict contiguity",
        "window, s",
        partial(points, conditions=HEAD_AND_SHOULDERS),
        GOALS,
    ),
)
