"""One event at a time with matches, and 1 to 1,000 queries in one run, in every language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench.contenders.local import BETWEEN
from scepter.bench.contenders.push import LARGEST, LATE
from scepter.bench.model import Goal, Point, Room, Shown, Workload
from scepter.bench.shapes.stocks import NS, PROV, STREAM
from scepter.rdf.terms import XSD

WITHIN: Final = 1_000
"""Ticks from a price to the halt of its company, at most; the halt comes after one."""
EVERY: Final = 10
"""Each so many-th event halts the company of the event before it."""
PRICES: Final = 2_000
"""So many different prices."""

PAIRS: Final[Mapping[str, str]] = {
    "spaseq": f"""SELECT ?c WITHIN {WITHIN} SLIDING FROM STREAM S <{STREAM}> WHERE {{{{ SEQ (A ; B)
DEFINE GPM A ON S {{{{ ?c :price ?p FILTER (?p >= {{least}}) }}}} DEFINE GPM B ON S {{{{ ?c :halted ?h }}}} }}}}""",
    "ep-sparql": f"""SELECT ?c WHERE {{{{ {{{{ ?c :price ?p }}}} SEQ {{{{ ?c :halted ?h }}}}
FILTER (getDURATION() < {WITHIN} && ?p >= {{least}}) }}}}""",
    "rsep-ql": f"""SELECT ?c FROM NAMED <{STREAM}> WIN [RANGE {WITHIN} STEP 1] AS :w
EVENT ON :w {{{{ ?c :price ?p FILTER (?p >= {{least}}) }}}} AS A EVENT ON :w {{{{ ?c :halted ?h }}}} AS B
WHERE {{{{ MATCH {{{{ A SEQ B }}}} }}}}""",
    "sparkwave": f"""SELECT ?c FROM STREAM <{STREAM}> [RANGE {WITHIN}]
WHERE {{{{ ?c :price ?p . ?c :halted ?h FILTER (?p >= {{least}}) }}}}""",
    "obep": f"""FROM STREAM <{STREAM}> EVENT Price AS price some Thing EVENT Halt AS halted some Thing
EVENT Halted MATCH Price AS A SEQ Halt AS B WITHIN ({WITHIN} ms)
IF {{{{ EVENT A {{{{ ?c :price ?p . }}}} EVENT B {{{{ ?c :halted ?h . }}}} FILTER (?p >= {{least}}) }}}}
RETURN Halted AS RDF STREAM""",
}
"""A price of at least so much, and then a halt of the same company."""
RULES: Final = f"""CONSTRUCT {{{{ ?c :stopped ?p }}}} WHERE {{{{ {{{{ ?c :price ?p }}}} SEQ {{{{ ?c :halted ?h }}}}
FILTER (getDURATION() < {WITHIN}) }}}}
SELECT ?c WHERE {{{{ ?c :stopped ?p FILTER (getDURATION() < {WITHIN} && ?p >= {{least}}) }}}}"""
"""The same, by a rule that derives and a query that reads what it does."""


def text(pattern: str, least: int) -> str:
    """The query for a least price."""
    return f"PREFIX : <{NS}> {pattern.format(least=least)}"


def halted(events: int) -> list[int]:
    """The prices of the companies that are halted."""
    return [price(i - 1) for i in range(EVERY - 1, events, EVERY)]


def price(event: int) -> int:
    """The price that an event tells."""
    return event * 7919 % PRICES


def write(path: Path, events: int) -> None:
    """A company's only price in each event; each tenth event halts the company before it."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for i in range(events):
            halt = i % EVERY == EVERY - 1
            what, value = ("halted", i) if halt else ("price", price(i))
            out.write(f'<http://example.org/company/{i - halt}> <{NS}{what}> "{value}"^^<{XSD}integer> <urn:tick:{i}> .\n')
            out.write(f'<urn:tick:{i}> <{PROV}generatedAtTime> "{i}"^^<{XSD}integer> .\n')


def delays(room: Room) -> Iterator[Point]:
    """Pushed events of which each tenth completes a match."""
    ahead, pushed = room.size(10_000, 1_000), room.size(2_000, 200)
    events = ahead + pushed
    path = room.file("halts.nq", partial(write, events=events))
    for at, pattern in {**PAIRS, "ep-sparql, a rule": RULES}.items():
        yield Point(
            at=at,
            query=text(pattern, 0),
            language=at.partition(",")[0],
            streams={STREAM: path},
            events=events,
            triples=events,
            answers=len(halted(events)),
            contenders=("push",),
            options={"ahead": ahead},
        )


def together(room: Room) -> Iterator[Point]:
    """Queries that differ in the least price, so that the next finds a little less."""
    events = room.size(10_000, 1_000)
    path = room.file("halts-together.nq", partial(write, events=events))
    found = halted(events)
    for language, pattern in PAIRS.items():
        for queries in (1, 10, 100, 1_000) if not room.quick else (1, 10):
            yield Point(
                at=queries,
                query=BETWEEN.join(text(pattern, least) for least in range(queries)),
                language=language,
                streams={STREAM: path},
                events=events,
                triples=events,
                answers=sum(each >= least for least in range(queries) for each in found),
                contenders=("local",),
                line=language,
            )


WORKLOADS: Final = (
    Workload(
        "push-matches",
        "one pushed event of which each tenth completes a match, in every language, and by a rule",
        "language",
        delays,
        (
            Goal("99th percentile, ms of CPU", lambda r: max(m.extra[LATE] for m in r.of("push")), most=2.0),
            Goal("largest, ms of CPU", lambda r: max(m.extra[LARGEST] for m in r.of("push")), most=20.0),
        ),
        (Shown.DELAY,),
    ),
    Workload(
        "queries-together",
        "1 to 1,000 queries in one run, which differ in a constant",
        "queries",
        together,
        shows=(Shown.CPU, Shown.MEMORY),
    ),
)
