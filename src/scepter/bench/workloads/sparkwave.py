"""Sparkwave's three patterns over windows, subclasses and static data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes.offers import (
    DC,
    PROV,
    STATIC,
    STREAM,
    TRIPLES,
    Offers,
    V,
    write_producers,
    write_schema,
    write_static,
)

HEAD: Final = f"PREFIX v: <{V}> PREFIX dc: <{DC}> SELECT * FROM STREAM <{STREAM}> [RANGE %d s] FROM <{STATIC}> WHERE {{ "
OFFER: Final = """?offer a v:Offer ; v:product ?product ; v:vendor ?vendor ; v:price ?price ; v:validFrom ?from ;
v:validTo ?to ; v:deliveryDays ?days ; v:offerWebpage ?page ; dc:publisher ?publisher ; dc:date ?date . ?product a v:Target"""
VENDOR: Final = " . ?vendor v:country v:Country3"
PRODUCER: Final = " . ?product v:producer ?producer . ?producer v:country v:Country4"
PATTERNS: Final = {1: HEAD + OFFER + " }", 2: HEAD + OFFER + VENDOR + " }", 3: HEAD + OFFER + VENDOR + PRODUCER + " }"}
SHORT: Final = HEAD + "?offer a v:Offer ; v:product ?product ; v:vendor ?vendor ; v:price ?price . ?product a v:Target }"
"""Five of the eleven triples: what joins cost, and not that every triple is shown."""
SMALL, LARGE = 329, 22_527
"""Classes of the paper's smallest and largest schema."""
JOIN: Final = """
WITH lines AS MATERIALIZED (
  SELECT s, p, o, CAST(g[strpos(g, 'Graph') + 5:-2] AS BIGINT) AS t
  FROM read_csv('{0}', delim = ' ', header = false, quote = '', escape = '', auto_detect = false, null_padding = true,
                columns = {{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'g': 'VARCHAR', 'dot': 'VARCHAR'}})
  WHERE p <> 'PROV'
), below AS (SELECT DISTINCT o AS kind FROM lines WHERE regexp_matches(o, '/ProductType([0-9]|[1-3][0-9])>$')),
types AS (SELECT s AS product, t, t // WINDOW AS bucket FROM lines WHERE o IN (FROM below)),
near AS (SELECT *, bucket AS b FROM types UNION ALL SELECT *, bucket - 1 FROM types UNION ALL SELECT *, bucket + 1 FROM types)
SELECT count(*) FROM lines a JOIN near ON a.o = near.product AND a.t // WINDOW = near.b AND abs(a.t - near.t) <= WINDOW
WHERE a.p = 'PRODUCT'
"""
"""For DuckDB: offers joined with the types of their products, whose names tell the hierarchy; of the other nine triples of an
offer nothing is asked, since every offer has them."""


def offered(room: Room, offers: Offers, at: float, text: str, seconds: int, answers: int, static: str) -> Point:
    """A pattern over offers."""
    return Point(
        at=at,
        query=text % seconds,
        language="sparkwave",
        streams={STREAM: room.file(f"offers{offers.below}.nq", offers.write)},
        events=len(offers.product),
        triples=TRIPLES * len(offers.product),
        answers=answers,
        background={STATIC: static},
        ontology=room.file(f"schema{offers.below}.nt", partial(write_schema, below=offers.below)),
    )


def windows(room: Room, pattern: int) -> Iterator[Point]:
    """A point per window."""
    offers = Offers.drawn(room.size(100_000, 10_000))
    static = room.file("static.nt", partial(write_producers, triples=50_000))
    for seconds in (1, 5, 25):
        wanted = offers.count(seconds, vendors=pattern > 1, producers=pattern > 2)
        given = offered(room, offers, seconds, PATTERNS[pattern], seconds, wanted, static)
        sql = JOIN.replace("WINDOW", str(seconds * 1000)).replace("PROV", PROV).replace("PRODUCT", f"<{V}product>")
        yield replace(given, yardsticks={"pyoxigraph": "", **({"duckdb": sql} if pattern == 1 else {})})


def joins(room: Room) -> Iterator[Point]:
    """A point per window: offers with their product's type, vendor and price."""
    offers = Offers.drawn(room.size(100_000, 10_000))
    static = room.file("static.nt", partial(write_static, triples=10_000))
    for seconds in (1, 5, 25):
        yield offered(room, offers, seconds, SHORT, seconds, offers.count(seconds), static)


def forms(room: Room) -> Iterator[Point]:
    """The same offers with their types entailed and asserted, and with a time on every triple, in windows of 5 s."""
    offers = Offers.drawn(room.size(100_000, 10_000))
    static = room.file("static.nt", partial(write_static, triples=10_000))
    given = replace(offered(room, offers, 0, SHORT, 5, offers.count(5), static), at="entailed")
    yield given
    asserted = room.file("asserted.nq", partial(offers.write, asserted=True))
    yield replace(given, at="asserted", streams={STREAM: asserted}, ontology=None)
    stamped = room.file("stamped.nt", partial(offers.write, timestamped=True))
    yield replace(given, at="a time on every triple", streams={STREAM: stamped}, events=given.triples)


def subclasses(room: Room) -> Iterator[Point]:
    """A point per number of subclasses of the target."""
    static = room.file("static.nt", partial(write_static, triples=10_000))
    for below in (4, 40, 400, 1_608):
        offers = Offers.drawn(room.size(100_000, 10_000), below)
        yield offered(room, offers, below, SHORT, 5, offers.count(5), static)


def periodic(room: Room, pattern: int) -> Iterator[Point]:
    """The same windows evaluated each second, as C-SPARQL does: an offer is an answer at every second that its window lasts."""
    offers = Offers.drawn(room.size(100_000, 10_000))
    for given in windows(room, pattern):
        assert isinstance(given.at, int)
        answers = given.at * int(offers.wanted(vendors=pattern > 1, producers=pattern > 2).sum())
        yield replace(given, query=given.query.replace(" s]", " s STEP 1 s]"), answers=answers)


def schemas(room: Room, classes: int) -> Iterator[Point]:
    """A point per number of subclasses of the target, in a schema of so many classes."""
    static = room.file("static.nt", partial(write_producers, triples=50_000))
    for below in (4, 40) if classes < LARGE else (4, 40, 400, 1_608):
        offers = Offers.drawn(room.size(100_000, 10_000), below)
        given = offered(room, offers, below, PATTERNS[1], 5, offers.count(5), static)
        write = partial(write_schema, below=below, others=classes - below)
        schema = room.file(f"schema{classes}-{below}.nt", write)
        yield replace(given, ontology=schema)


def statics(room: Room, pattern: int) -> Iterator[Point]:
    """A point per size of the static data."""
    offers = Offers.drawn(room.size(100_000, 10_000))
    write, least = (write_producers, 50_000) if pattern == 3 else (write_static, 10_000)
    for triples in (least, 100_000, room.size(1_000_000, 200_000)):
        static = room.file(f"static{pattern}-{triples}.nt", partial(write, triples=triples))
        wanted = offers.count(1, vendors=True, producers=pattern > 2)
        yield offered(room, offers, triples, PATTERNS[pattern], 1, wanted, static)


RATE: Final = Goal(
    "slowest, triples/s of one core from the first batch on",
    lambda r: min(m.triples / m.streaming for m in r.of("local")),
    least=1e6,
)
WORKLOADS: Final = (
    *(
        Workload(
            f"sparkwave-pattern-{n}",
            f"Sparkwave, figure 7, pattern {n}, 40 subclasses",
            "window, s",
            partial(windows, pattern=n),
            (RATE, goals.beats("duckdb", 2.0)) if n == 1 else (RATE,),
        )
        for n in PATTERNS
    ),
    Workload("sparkwave-joins", "Sparkwave, figure 7, five of pattern 1's triples", "window, s", joins, (RATE,)),
    Workload(
        "sparkwave-entailment",
        "Sparkwave, figure 7, with reasoning and without",
        "input",
        forms,
        (
            RATE,
            Goal(
                "entailed against asserted, CPU",
                lambda r: r["entailed", "local"].streaming / r["asserted", "local"].streaming,
                most=1.2,
            ),
        ),
    ),
    Workload(
        "sparkwave-subclasses",
        "Sparkwave, section 4: 4 to 1,608 subclasses",
        "subclasses of the target",
        subclasses,
        (goals.flat_stream(1.1),),
    ),
    *(
        Workload(
            f"sparkwave-static-{n}",
            f"Sparkwave, figure 9, pattern {n}",
            "static triples",
            partial(statics, pattern=n),
            (goals.flat_stream(1.1),),
        )
        for n in (2, 3)
    ),
)
