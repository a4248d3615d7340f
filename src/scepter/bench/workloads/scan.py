"""N-Quads to batches of events, against pyoxigraph's iteration over the same file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench.model import Goal, Point, Room, Workload
from scepter.rdf.terms import TYPE, XSD

PROV: Final = "http://www.w3.org/ns/prov#"
SENSOR: Final = "http://example.org/sensor#"
ALL, TWO = "all predicates", "two of seven"


def event(index: int) -> str:
    """An event of seven triples and its time."""
    name = f"<http://example.org/stream/power/event/{index}>"
    subject = f"<http://example.org/house/{index % 1000}>"
    triples = [
        f"{subject} <{TYPE}> <{SENSOR}PowerReading>",
        f'{subject} <{SENSOR}power> "{index % 977}.{index % 100:02d}"^^<{XSD}decimal>',
        f'{subject} <{SENSOR}voltage> "{230 + index % 7}"^^<{XSD}integer>',
        f'{subject} <{SENSOR}frequency> "{50 + index % 10 / 10}"^^<{XSD}double>',
        f"{subject} <{SENSOR}location> <http://example.org/district/{index % 40}>",
        f'{subject} <{SENSOR}label> "Reading number {index} of the meter"@en',
        f'{subject} <{SENSOR}status> "{"ok" if index % 50 else "over limit"}"',
    ]
    time_line = f'{name} <{PROV}generatedAtTime> "{1_700_000_000_000 + index}"^^<{XSD}integer> .\n'
    return "".join(f"{triple} {name} .\n" for triple in triples) + time_line


def write(path: Path, events: int) -> None:
    """So many events."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(map(event, range(events)))


def points(room: Room) -> Iterator[Point]:
    """With every predicate, and with two of seven."""
    events = room.size(200_000, 20_000)
    for at, kept, predicates in ((ALL, 7, ""), (TWO, 2, f"{SENSOR}power {SENSOR}location")):
        yield Point(
            at=at,
            query="",
            language="",
            streams={"http://example.org/stream/power": room.file("stream.nq", partial(write, events=events))},
            events=events,
            triples=7 * events,
            answers=kept * events,
            contenders=("scan",),
            yardsticks={"pyoxigraph": ""},
            options={"predicates": predicates},
        )


WORKLOADS: Final = (
    Workload(
        "scan",
        "reading alone, seven triples per event",
        "what is kept",
        points,
        (
            Goal(
                "CPU of pyoxigraph's iteration against a full scan",
                lambda r: r[ALL, "pyoxigraph"].cpu / r[ALL, "scan"].cpu,
                least=4.0,
            ),
            Goal(
                "CPU of pyoxigraph's iteration against two of seven",
                lambda r: r[TWO, "pyoxigraph"].cpu / r[TWO, "scan"].cpu,
                least=7.0,
            ),
        ),
    ),
)
