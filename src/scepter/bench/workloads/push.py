"""`Engine.push`: one event at a time, with many runs alive."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench.contenders.push import LARGEST, LATE, MEDIAN
from scepter.bench.model import ONE_BY_ONE, TOGETHER, Goal, Point, Room, Shown, Workload
from scepter.bench.shapes.stocks import NS, PROV, STREAM
from scepter.bench.workloads.spaseq_v_shape import QUERY
from scepter.rdf.terms import XSD

PAIRS: Final = {
    "spaseq": f"""SELECT ?c WITHIN 1000000 SLIDING FROM STREAM S <{STREAM}> WHERE {{ SEQ (A ; B)
DEFINE GPM A ON S {{ ?c :price ?p }} DEFINE GPM B ON S {{ ?c :halted ?h }} }}""",
    "ep-sparql": "SELECT ?c WHERE { { ?c :price ?p } SEQ { ?c :halted ?h } FILTER (getDURATION() < 1000000) }",
    "rsep-ql": f"""SELECT ?c FROM NAMED <{STREAM}> WIN [RANGE 1000000 STEP 1] AS :w
EVENT ON :w {{ ?c :price ?p }} AS A EVENT ON :w {{ ?c :halted ?h }} AS B WHERE {{ MATCH {{ A SEQ B }} }}""",
    "sparkwave": f"SELECT ?c FROM STREAM <{STREAM}> [RANGE 1000000] WHERE {{ ?c :price ?p . ?c :halted ?h }}",
    "obep": f"""FROM STREAM <{STREAM}> EVENT Price AS price some Thing EVENT Halt AS halted some Thing
EVENT Halted MATCH Price AS A SEQ Halt AS B WITHIN (1000000 ms)
IF {{ EVENT A {{ ?c :price ?p . }} EVENT B {{ ?c :halted ?h . }} }} RETURN Halted AS RDF STREAM""",
}
"""A price and then a halt of the same company, in each language."""
EVERY: Final = 100
"""So many events from one halt to the next; its company has no price, but for the last."""


def points(room: Room) -> Iterator[Point]:
    """So many runs alive before events are pushed one at a time."""
    pushed = room.size(5_000, 200)
    for live in (1_000, room.size(100_000, 5_000)):
        yield Point(
            at=live,
            query=QUERY % 1_000_000,
            language="spaseq",
            streams={STREAM: room.file(f"falling{live}.nq", partial(write, events=live + pushed))},
            events=live + pushed,
            triples=live + pushed,
            answers=0,
            contenders=("push",),
            options={"ahead": live},
        )


def languages(room: Room) -> Iterator[Point]:
    """Prices of companies, of which one is halted at last: all others stay partial matches."""
    live, pushed = room.size(10_000, 1_000), room.size(2_000, 200)
    path = room.file("halts.nq", partial(write_halts, events=live + pushed))
    for language, query in PAIRS.items():
        yield Point(
            at=language,
            query=f"PREFIX : <{NS}> {query}",
            language=language,
            streams={STREAM: path},
            events=live + pushed,
            triples=live + pushed,
            answers=1,
            contenders=("push",),
            options={"ahead": live},
        )


def write_halts(path: Path, events: int) -> None:
    """A company's only price in each event; now and then a halt of one that has none; the last halts the company before."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for i in range(events):
            name, last = f"<http://example.org/tick/{i}>", i == events - 1
            what = "halted" if last or (i + 1) % EVERY == 0 else "price"
            out.write(f'<http://example.org/company/{i - last}> <{NS}{what}> "{i}"^^<{XSD}integer> {name} .\n')
            out.write(f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n')


def write(path: Path, events: int) -> None:
    """Prices that fall: each event begins a run that nothing continues."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for i in range(events):
            cents, name = 10_000_000 - i, f"<http://example.org/tick/{i}>"
            price = f'"{cents // 100}.{cents % 100:02d}"^^<{XSD}decimal>'
            out.write(f"<http://example.org/company/{i % 1000}> <{NS}price> {price} {name} .\n")
            out.write(f'{name} <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n')


WORKLOADS: Final = (
    Workload(
        "push",
        "one pushed event of the V-shape with many runs alive",
        "live runs",
        points,
        (
            Goal("median, ms of CPU", lambda r: max(m.extra[MEDIAN] for m in r.of("push")), most=1.0),
            Goal("99th percentile, ms of CPU", lambda r: max(m.extra[LATE] for m in r.of("push")), most=5.0),
            Goal("slowest, events/s one at a time", lambda r: min(m.extra[ONE_BY_ONE] for m in r.of("push")), least=10_000),
            Goal("events/s by push_all", lambda r: max(m.extra[TOGETHER] for m in r.of("push")), least=300_000),
        ),
    ),
    Workload(
        "push-languages",
        "one pushed event with 10,000 partial matches alive, in every language",
        "language",
        languages,
        (
            Goal("99th percentile, ms of CPU", lambda r: max(m.extra[LATE] for m in r.of("push")), most=2.0),
            Goal("largest, ms of CPU", lambda r: max(m.extra[LARGEST] for m in r.of("push")), most=20.0),
        ),
        (Shown.DELAY,),
    ),
)
