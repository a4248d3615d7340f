"""The V-shape from a topic of four partitions, beside the same events from a file. Without a broker, the file alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench.broker import NoBroker, broker, create_topics, send
from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.bench.shapes.stocks import STREAM, Ticks, v_shapes
from scepter.bench.workloads.spaseq_v_shape import QUERY

SECONDS: Final = 60
PARTITIONS: Final = 4
_LINES: Final = 8
"""Of an event: seven triples and its time."""
FILE, TOPIC = "file", "topic"


def messages(path: Path, ticks: Ticks) -> Iterator[tuple[bytes, int, int]]:
    """A message for each event, those of a company in one partition, with the events' times."""
    with path.open("rb") as text:
        for number, company in enumerate(ticks.company.tolist()):
            yield b"".join(text.readline() for _ in range(_LINES)), company % PARTITIONS, 1 + number * ticks.step


def points(room: Room) -> Iterator[Point]:
    """The file, then the topic."""
    ticks = Ticks.drawn(room.size(300_000, 5_000))
    path = room.file("ticks.nq", partial(ticks.write, triples=_LINES - 1))
    file = Point(
        at=FILE,
        query=QUERY % SECONDS,
        language="spaseq",
        streams={STREAM: path},
        events=len(ticks.company),
        triples=(_LINES - 1) * len(ticks.company),
        answers=int(v_shapes(*ticks.by_company(), SECONDS * 1000)),
        contenders=("local", "spark"),
    )
    yield file
    try:
        with broker() as running:
            create_topics(running.address, {"ticks": PARTITIONS})
            send(running.address, "ticks", messages(Path(path), ticks))
            yield replace(file, at=TOPIC, streams={STREAM: f"kafka://{running.address}/ticks?format=nq"})
    except NoBroker:
        return


def _rate(results: Results) -> float:
    return results[FILE, "spark"].wall / results[TOPIC, "spark"].wall


WORKLOADS: Final = (
    Workload(
        "kafka",
        "V-shape from a topic of four partitions, and from a file",
        "source",
        points,
        (
            Goal("rate of a topic against a file on local[2], on the wall", _rate, least=0.5),
            Goal(
                "events/s of CPU of a topic against a file, in this process",
                lambda r: r[FILE, "local"].cpu / r[TOPIC, "local"].cpu,
                least=0.5,
            ),
        ),
    ),
)
