"""More and more sequence clauses over stock ticks, in windows of forty minutes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.contenders.push import LARGEST, LATE
from scepter.bench.model import Goal, Point, Room, Shown, Workload
from scepter.bench.shapes.stocks import STREAM, Ticks, all_swings, swings, zigzags
from scepter.bench.workloads.spaseq_strict import query

CLAUSES: Final = (3, 5, 7, 9)
MINUTES: Final = 40


def points(room: Room, strict: bool) -> Iterator[Point]:
    """A point per number of clauses: up, down, up, …; by skip-till-next by half a percent each time."""
    ticks = Ticks.drawn(room.size(200_000, 25_000))
    path = room.file("ticks.nq", partial(ticks.write, triples=7))
    count = zigzags if strict else swings
    for clauses in CLAUSES:
        yield Point(
            at=clauses,
            query=query(60 * MINUTES, _conditions(clauses, strict), "," if strict else ";"),
            language="spaseq",
            streams={STREAM: path},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(count(*ticks.by_company(), 60_000 * MINUTES, clauses)),
        )


def pushed(room: Room) -> Iterator[Point]:
    """Three and nine clauses by skip-till-next, the last ticks pushed one at a time."""
    ahead, single = room.size(10_000, 1_000), room.size(2_000, 200)
    ticks = Ticks.drawn(ahead + single, companies=20)
    path = room.file("ticks-pushed.nq", ticks.write)
    for clauses in (CLAUSES[0], CLAUSES[-1]):
        yield Point(
            at=clauses,
            query=query(60 * MINUTES, _conditions(clauses, strict=False), ";"),
            language="spaseq",
            streams={STREAM: path},
            events=ahead + single,
            triples=3 * (ahead + single),
            answers=int(swings(*ticks.by_company(), 60_000 * MINUTES, clauses)),
            contenders=("push",),
            options={"ahead": ahead},
        )


def over_windows(room: Room, strict: bool) -> Iterator[Point]:
    """A point per window: three clauses."""
    ticks = Ticks.drawn(room.size(200_000, 25_000))
    path = room.file("ticks.nq", partial(ticks.write, triples=7))
    count = zigzags if strict else swings
    for minutes in (1, 10, 60):
        yield Point(
            at=minutes,
            query=query(60 * minutes, _conditions(3, strict), "," if strict else ";"),
            language="spaseq",
            streams={STREAM: path},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(count(*ticks.by_company(), 60_000 * minutes, 3)),
        )


def any_over_windows(room: Room) -> Iterator[Point]:
    """The same three clauses by skip-till-any, whose matches grow with the cube of the window: short windows, fewer ticks."""
    ticks = Ticks.drawn(room.size(20_000, 5_000))
    path = room.file("ticks-any.nq", partial(ticks.write, triples=7))
    for seconds in (6, 15, 30):
        yield Point(
            at=seconds / 60,
            query=query(seconds, _conditions(3, strict=False), ":"),
            language="spaseq",
            streams={STREAM: path},
            events=len(ticks.company),
            triples=7 * len(ticks.company),
            answers=int(all_swings(*ticks.by_company(), 1_000 * seconds)),
        )


def _conditions(clauses: int, strict: bool) -> list[str]:
    found = [""]
    for n in range(2, clauses + 1):
        up, down = (f"?p{n} > ?p{n - 1}", f"?p{n} < ?p{n - 1}")
        if not strict:
            up, down = f"?p{n} >= ?p{n - 1} * 1.005", f"?p{n} <= ?p{n - 1} * 0.995"
        found.append(down if n % 2 else up)
    return found


GOALS: Final = (
    goals.rate(2e6),
    Goal("CPU, nine clauses against three", lambda r: r[9, "local"].cpu / r[3, "local"].cpu, most=1.3),
)
DELAY_GOALS: Final = (
    Goal("99th percentile, ms of CPU", lambda r: max(m.extra[LATE] for m in r.of("push")), most=2.0),
    Goal("largest, ms of CPU", lambda r: max(m.extra[LARGEST] for m in r.of("push")), most=20.0),
)
WORKLOADS: Final = (
    Workload(
        "spaseq-clauses",
        "SPAseq, figure 17, skip-till-next, window of 40 minutes",
        "sequence clauses",
        partial(points, strict=False),
        GOALS,
    ),
    Workload(
        "spaseq-clauses-strict",
        "SPAseq, figure 17, strict contiguity, window of 40 minutes",
        "sequence clauses",
        partial(points, strict=True),
        GOALS,
    ),
    Workload("push-clauses", "one pushed tick, skip-till-next", "sequence clauses", pushed, DELAY_GOALS, (Shown.DELAY,)),
)
