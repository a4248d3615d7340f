"""EP-SPARQL's tests 1 and 2: sequences in time windows, aggregation over counted ones, membership in a class above 40,080."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.bench.shapes.prices import NS, STREAM, TABLE, Prices, drops
from scepter.rdf.terms import TYPE, XSD

CLASSES: Final = 40_080
DROP: Final = f"""PREFIX : <{NS}> SELECT ?c ?p1 ?p2
WHERE {{ {{ ?c :price ?p1 }} SEQ {{ ?c :price ?p2 }} FILTER (?p2 < ?p1 * 0.7 && getDURATION() < %d) }}"""
MEAN: Final = f"PREFIX : <{NS}> SELECT ?c (AVG(?p) AS ?mean) WHERE {{ ?c :price ?p }} WINDOW [ROWS %d] GROUP BY ?c"
MEMBER: Final = f"PREFIX : <{NS}> SELECT ?x WHERE {{ ?x a :Top }}"
PROV: Final = "http://www.w3.org/ns/prov#generatedAtTime"
SUB_CLASS_OF: Final = "http://www.w3.org/2000/01/rdf-schema#subClassOf"


def sequences(room: Room) -> Iterator[Point]:
    """Two steps, joined by the company, the second price below 0.7 of the first."""
    prices = Prices.drawn(room.size(200_000, 20_000))
    path = room.file("prices.nt", prices.write)
    for window in (250, 1_000, 4_000):
        sql = f"""{TABLE}, later AS (
  SELECT *, t // {window} AS bucket FROM prices UNION ALL SELECT *, t // {window} - 1 FROM prices)
SELECT count(*) FROM prices a JOIN later b ON a.company = b.company AND a.t // {window} = b.bucket
 AND b.t > a.t AND b.t - a.t < {window} AND 10 * b.price < 7 * a.price"""
        events = len(prices.company)
        yield Point(
            at=window,
            query=DROP % window,
            language="ep-sparql",
            streams={STREAM: path},
            events=events,
            triples=events,
            answers=int(drops(prices.company, prices.price, window)),
            yardsticks={"duckdb": sql},
        )


def counted(room: Room) -> Iterator[Point]:
    """The mean of the last prices of a company: a row for each event."""
    prices = Prices.drawn(room.size(20_000, 2_000))
    for size in (10, 100, 1_000):
        events = len(prices.company)
        sql = f"""{TABLE}
SELECT count(mean) FROM (
  SELECT avg(price) OVER (PARTITION BY company ORDER BY t ROWS {size - 1} PRECEDING) AS mean FROM prices)"""
        yield Point(
            at=size,
            query=MEAN % size,
            language="ep-sparql",
            streams={STREAM: room.file("prices.nt", prices.write)},
            events=events,
            triples=events,
            answers=events,
            yardsticks={"duckdb": sql},
        )


def members(room: Room, most: int = 500_000, graphs: bool = False) -> Iterator[Point]:
    """Half of the things are members; with `graphs`, each triple is a graph with its time behind it."""
    classes = room.size(CLASSES, 4_000)
    for count in (1_000, room.size(most, 20_000)):
        yield Point(
            at=count,
            query=MEMBER,
            language="ep-sparql",
            streams={
                STREAM: room.file(
                    f"types{count}.{'nq' if graphs else 'nt'}", partial(_types, count=count, classes=classes, graphs=graphs)
                )
            },
            events=count,
            triples=count,
            answers=count // 2,
            ontology=room.file("schema.nt", partial(_schema, classes=classes)),
        )


def _schema(path: Path, classes: int) -> None:
    """A tree with four branches at each class, and so of eight levels, as deep as the paper's."""
    path.write_text(
        "".join(f"<{NS}C{i}> <{SUB_CLASS_OF}> <{NS}{f'C{(i - 1) // 4}' if i else 'Top'}> .\n" for i in range(classes)),
        encoding="utf-8",
    )


def _types(path: Path, count: int, classes: int, graphs: bool) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for t in range(count):
            kind = f"{'C' if t % 2 else 'D'}{t * 7919 % classes}"
            if graphs:
                out.write(f'<{NS}x{t}> <{TYPE}> <{NS}{kind}> <urn:e{t}> .\n<urn:e{t}> <{PROV}> "{t}"^^<{XSD}integer> .\n')
            else:
                out.write(f'<{NS}x{t}> <{TYPE}> <{NS}{kind}> "{t}"^^<{XSD}integer> .\n')


def growth(results: Results) -> float:
    """Of CPU over that of the output, from 1,000 to 4,000 seconds."""
    narrow, wide = results[1_000, "local"], results[4_000, "local"]
    return (wide.cpu / narrow.cpu) / (wide.answers / narrow.answers)


def each(results: Results) -> float:
    """Microseconds per triple, without what a short stream takes too."""
    few, many = sorted(results.of("local"), key=lambda m: m.triples)
    return 1e6 * (many.cpu - few.cpu) / (many.triples - few.triples)


WORKLOADS: Final = (
    Workload(
        "ep-sparql-sequence",
        "EP-SPARQL: a sequence in a time window",
        "window, s",
        sequences,
        (
            Goal("events/s of one core, 1,000 s", lambda r: r[1_000, "local"].events_per_cpu_second, least=300_000),
            Goal("growth of CPU over growth of output", growth, most=1.0),
            goals.beats("duckdb", 2.0),
        ),
    ),
    Workload(
        "ep-sparql-figure-1b",
        "EP-SPARQL, test 1, figure 1 (b): aggregation over a counted window",
        "window, solutions",
        counted,
    ),
    Workload(
        "ep-sparql-classes",
        "EP-SPARQL, test 2: member of a class above 40,080 others, over history",
        "triples",
        members,
        (Goal("microseconds per triple", each, most=0.5),),
    ),
)
