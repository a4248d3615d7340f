"""How Spark carries a workload of each language: over history, live, and how evenly its buckets are filled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from scepter.bench.model import BATCH, SLOWEST, STATE_BEFORE, STATE_LAST, Goal, Point, Results, Room, Workload
from scepter.bench.shapes.offers import TRIPLES, Offers, write_producers
from scepter.bench.shapes.parcels import Items
from scepter.bench.shapes.prices import STREAM as PRICES
from scepter.bench.shapes.prices import Prices, drops
from scepter.bench.shapes.rooms import HOT, Observations
from scepter.bench.shapes.stocks import STREAM as TICKS
from scepter.bench.shapes.stocks import Ticks, v_shapes
from scepter.bench.workloads.epsparql import DROP
from scepter.bench.workloads.obep_rooms import observed
from scepter.bench.workloads.rsepql_policies import point as matched
from scepter.bench.workloads.sparkwave import PATTERNS, offered
from scepter.bench.workloads.spaseq_v_shape import QUERY

LANGUAGES: Final = ("SPAseq", "EP-SPARQL", "Sparkwave", "RSEP-QL", "OBEP")
_PARTS: Final = 4
"""Files, each of which is a micro-batch of a live run."""
_MANY_PARTS: Final = 10
"""Of a long one."""
_BUCKETS: Final = 64
_DIVIDED: Final = "{}, in buckets"
_COMPANIES: Final = 6_400
"""A hundred for each of the buckets."""
_WINDOW: Final = 16_000


def points(room: Room) -> Iterator[Point]:
    """Two points per language, each divided by a key or by slices of time: what Spark does with much, and how its buckets
    compare, which less tells."""
    for at, lines, given in _given(room, room.size(2_000_000, 20_000)):
        yield _point(room, at, lines, given, _PARTS, ("local", "spark", "live"))
    fewer = replace(room, folder=room.folder / "fewer")
    fewer.folder.mkdir(exist_ok=True)
    for at, lines, given in _given(fewer, room.size(400_000, 20_000)):
        yield _point(fewer, _DIVIDED.format(at), lines, given, 1, ("tasks",))


def long_runs(room: Room) -> Iterator[Point]:
    """A point per language, of five million events."""
    for at, lines, given in _given(room, room.size(5_000_000, 20_000)):
        yield _point(room, at, lines, given, _MANY_PARTS, ("live",))


def _given(room: Room, events: int) -> Iterator[tuple[str, int, Point]]:
    """The language, the lines of an event, and a point over so many events; of Sparkwave a triple counts as one, in graphs of
    which each is an offer."""
    ticks = Ticks.drawn(events, companies=room.size(20_000, 500))  # some hundred for each of the buckets
    yield "SPAseq", 4, Point(
        at="", query=QUERY % 60, language="spaseq", streams={TICKS: room.file("ticks.nq", partial(ticks.write, triples=3))},
        events=events, triples=3 * events, answers=int(v_shapes(*ticks.by_company(), 60_000)),
    )  # fmt: skip
    prices = Prices.drawn(events, companies=_COMPANIES)
    yield "EP-SPARQL", 1, Point(
        at="", query=DROP % _WINDOW, language="ep-sparql", streams={PRICES: room.file("prices.nt", prices.write)},
        events=events, triples=events, answers=int(drops(prices.company, prices.price, _WINDOW)),
    )  # fmt: skip
    offers = Offers.drawn(events // TRIPLES)
    static = room.file("static.nt", partial(write_producers, triples=50_000))
    wanted = offers.count(1, vendors=False, producers=False)
    yield "Sparkwave", TRIPLES + 1, offered(room, offers, 1, PATTERNS[1], 1, wanted, static)
    yield "RSEP-QL", 2, matched(room, "E1 SEQ UNRESTRICTED E2", Items.drawn(events, 5_000), "many", 1000, "")
    yield "OBEP", 4, observed(room, "rooms", Observations.drawn(events // 2, HOT, 2), HOT)


def _point(room: Room, at: str, lines: int, given: Point, parts: int, contenders: tuple[str, ...]) -> Point:
    """The point over its stream in several files; an event has so many lines."""
    [(stream, path)] = given.streams.items()
    whole, many = Path(path), lines * -(-given.events // parts)
    files = room.file(f"{at}-files", partial(split, whole=whole, lines=many, parts=parts))
    options = {"files": 1, "buckets": _BUCKETS}
    return replace(given, at=at, streams={stream: files}, contenders=contenders, yardsticks={}, options=options)


def split(folder: Path, whole: Path, lines: int, parts: int) -> None:
    """A file as several, of so many lines each, one later than the other."""
    folder.mkdir()
    with whole.open("rb") as text:
        for number in range(parts):
            path = folder / f"{number:04}{whole.suffix}"
            with path.open("wb") as out:
                out.writelines(islice(text, lines))
            os.utime(path, (1_000_000 + number, 1_000_000 + number))
    whole.unlink()


def _live(at: str, results: Results) -> float:
    """A query starts once and goes on: what it takes to start is left out on both sides."""
    return results[at, "spark"].wall / (_PARTS * results[at, "live"].extra[BATCH] / 1000)


def _state(at: str, results: Results) -> float:
    told = results[at, "live"].extra
    return told[STATE_LAST] / told[STATE_BEFORE]


def _goals(at: str) -> Iterator[Goal]:
    yield Goal(
        f"{at}: local[2] against one process, on the wall", lambda r: r[at, "local"].wall / r[at, "spark"].wall, least=1.5
    )
    yield Goal(f"{at}: live against history, on the wall", partial(_live, at), least=0.5)
    divided = _DIVIDED.format(at)
    yield Goal(
        f"{at}: CPU of the slowest of {_BUCKETS} buckets against the mean",
        lambda r: r[divided, "tasks"].extra[SLOWEST],
        most=1.3,
    )


WORKLOADS: Final = (
    Workload(
        "spark-languages",
        "a workload of each language over history, live, and in 64 buckets",
        "language",
        points,
        tuple(goal for at in LANGUAGES for goal in _goals(at)),
    ),
    Workload(
        "spark-state",
        "a workload of each language, live over five million events",
        "language",
        long_runs,
        tuple(
            Goal(f"{at}: state of the last micro-batch against the largest before", partial(_state, at), most=1.5)
            for at in LANGUAGES
        ),
    ),
)
