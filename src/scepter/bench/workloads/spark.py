"""How Spark carries the V-shape: over input, cores and keys; live; the cost of a micro-batch and of the start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from scepter.bench.model import BATCH, STATE_BEFORE, STATE_LAST, Goal, Point, Results, Room, Workload
from scepter.bench.shapes.prices import NS, Prices, drops
from scepter.bench.shapes.prices import STREAM as PRICES
from scepter.bench.shapes.stocks import STREAM, Ticks, v_shapes
from scepter.bench.workloads.spark_languages import split
from scepter.bench.workloads.spaseq_v_shape import QUERY

SECONDS: Final = 60


PAIRS: Final = f"""PREFIX : <{NS}> SELECT DISTINCT ?p1 ?p2
WHERE {{ {{ ?c :price ?p1 }} SEQ {{ ?c :price ?p2 }} FILTER (?p2 < ?p1 * 0.7 && getDURATION() < 100) }}"""
"""Rows hide the key that they are joined by, so that equal ones meet in a second stage."""
_ONE_STAGE, _TWO_STAGES = "20 events", "20 events, two stages"
_MICRO_BATCHES: Final = 4
"""Of a live run, unless it is about small ones."""


def _point(
    room: Room, at: float | str, ticks: Ticks, parts: int, contenders: tuple[str, ...], master: str = "local[2]"
) -> Point:
    events = len(ticks.company)
    return Point(
        at=at,
        query=QUERY % SECONDS,
        language="spaseq",
        streams={STREAM: room.file(f"ticks-{at}", partial(write, ticks=ticks, parts=parts))},
        events=events,
        triples=7 * events,
        answers=int(v_shapes(*ticks.by_company(), SECONDS * 1000)),
        contenders=contenders,
        master=master,
        options={"files": max(1, parts // _MICRO_BATCHES) if parts < 20 else 1},
    )


def write(folder: Path, ticks: Ticks, parts: int) -> None:
    """The ticks as so many files of N-Quads, one after the other."""
    folder.mkdir()
    whole = folder.with_suffix(".nq")
    ticks.write(whole, triples=7)
    lines = 8 * -(-len(ticks.company) // parts)
    with whole.open("rb") as text:
        for number in range(parts):
            path = folder / f"{number:04}.nq"
            with path.open("wb") as out:
                out.writelines(islice(text, lines))
            os.utime(path, (1_000_000 + number, 1_000_000 + number))
    whole.unlink()


def sizes(room: Room) -> Iterator[Point]:
    """More and more of the stream."""
    for events in (100_000, 500_000, 2_000_000) if not room.quick else (10_000, 40_000):
        yield _point(room, events, Ticks.drawn(events), max(4, events // 250_000), ("local", "spark", "live"))


def cores(room: Room) -> Iterator[Point]:
    """One core and two."""
    ticks = Ticks.drawn(room.size(1_000_000, 20_000))
    for count in range(1, min(os.cpu_count() or 1, 4) + 1):
        yield _point(room, count, ticks, 8, ("spark",), f"local[{count}]")


def keys(room: Room) -> Iterator[Point]:
    """Few companies and many."""
    for companies in (100, room.size(100_000, 10_000)):
        yield _point(room, companies, Ticks.drawn(room.size(1_000_000, 20_000), companies=companies), 4, ("local", "spark"))


def micro_batches(room: Room) -> Iterator[Point]:
    """Files of twenty events, one in each micro-batch; with one stateful stage, and with a second one behind it."""
    batches, contenders = room.size(20, 6), ("micro-batches", "empty-micro-batches")
    yield _point(room, _ONE_STAGE, Ticks.drawn(20 * batches), batches, contenders)
    prices = Prices.drawn(20 * batches, companies=4)
    prices.price[-1] = prices.price.max()  # what ends with the last event is not certain at the end
    whole = room.file("prices.nt", prices.write)
    files = room.file("prices", partial(split, whole=Path(whole), lines=20, parts=batches))
    yield Point(
        at=_TWO_STAGES, query=PAIRS, language="ep-sparql", streams={PRICES: files}, events=len(prices.price),
        triples=len(prices.price), answers=int(drops(prices.company, prices.price, 100)), contenders=contenders,
        options={"files": 1, "stages": 2},
    )  # fmt: skip


def start(room: Room) -> Iterator[Point]:
    """A megabyte."""
    yield _point(room, "1 MB", Ticks.drawn(1_200), 1, ("command",))


def _against_one(results: Results) -> float:
    last = max((m for m in results.of("spark")), key=lambda m: m.events)
    return results[last.at, "local"].wall / last.wall


def _live_rate(results: Results) -> float:
    """A query starts once and goes on: what it takes to start is left out on both sides."""
    history, live = results[2_000_000, "spark"], results[2_000_000, "live"]
    return history.wall / (_MICRO_BATCHES * live.extra[BATCH] / 1000)


def _small(at: str, results: Results) -> float:
    return results[at, "micro-batches"].extra[BATCH] / results[at, "empty-micro-batches"].extra[BATCH]


WORKLOADS: Final = (
    Workload(
        "spark-size",
        "V-shape on local[2] over the size of the input; memory does not follow it",
        "events",
        sizes,
        (
            Goal(
                "resident memory of one process, longest stream against 500,000 events",
                lambda r: max(m.peak for m in r.of("local")) / r[500_000, "local"].peak,
                most=1.1,
            ),
            Goal("local[2] against one process, on the wall, longest stream", _against_one, least=1.5),
            Goal("triples/s on local[2], on the wall", lambda r: max(m.triples_per_second for m in r.of("spark")), least=1.2e6),
            Goal("live against history, on the wall, micro-batches of 500,000 events", _live_rate, least=0.5),
            Goal(
                "state of the last micro-batch against the largest before",
                lambda r: r[2_000_000, "live"].extra[STATE_LAST] / r[2_000_000, "live"].extra[STATE_BEFORE],
                most=1.5,
            ),
        ),
    ),
    Workload("spark-cores", "V-shape over history", "cores", cores),
    Workload(
        "spark-keys",
        "V-shape with more and more companies",
        "companies",
        keys,
        (Goal("many against 100, on the wall", lambda r: r.of("spark")[-1].wall / r[100, "spark"].wall, most=2.0),),
    ),
    Workload(
        "spark-micro-batches",
        "a micro-batch of 20 events beside one of as many operators that do nothing",
        "input",
        micro_batches,
        tuple(
            Goal(f"{at}: milliseconds against those of the empty one", partial(_small, at), most=2.0)
            for at in (_ONE_STAGE, _TWO_STAGES)
        ),
    ),
    Workload(
        "spark-start",
        "`scepter run` from the command to its end",
        "input",
        start,
        (Goal("seconds on the wall", lambda r: r["1 MB", "command"].wall, most=15.0),),
    ),
)
