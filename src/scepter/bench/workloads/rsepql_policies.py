"""RSEP-QL's selection and consumption policies, evaluated whenever an item comes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Room, Workload
from scepter.bench.shapes.parcels import NS, PATTERNS, STREAM, Items, chained, every, first

QUERY: Final = f"""PREFIX : <{NS}> SELECT ?parcel ?from ?to FROM NAMED <{STREAM}> WIN [RANGE %d STEP 1] AS :w
EVENT ON :w {{ ?parcel :left ?from }} AS E1  EVENT ON :w {{ ?parcel :reached ?to }} AS E2
EVENT ON :w {{ ?parcel :left ?again }} AS E3
WHERE {{ MATCH {{ %s }} }}"""
LINES: Final = f"""
WITH items AS MATERIALIZED (
  SELECT s AS parcel, p = '<{NS}left>' AS left_, CAST(g[strpos(g, 'scan/') + 5:-2] AS BIGINT) AS t
  FROM read_csv('{{0}}', delim = ' ', header = false, quote = '', escape = '', auto_detect = false, null_padding = true,
                columns = {{{{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'g': 'VARCHAR', 'dot': 'VARCHAR'}}}})
  WHERE g IS NOT NULL AND g <> '.'
)"""
EACH: Final = """, later AS (SELECT *, t // WIDTH AS bucket FROM items WHERE NOT left_
  UNION ALL SELECT *, t // WIDTH - 1 FROM items WHERE NOT left_)
SELECT count(*) FROM items a JOIN later b ON a.parcel = b.parcel AND a.t // WIDTH = b.bucket AND a.left_
 AND b.t > a.t AND b.t - a.t < WIDTH"""
NEWEST: Final = """
SELECT count(*) FROM (FROM items WHERE NOT left_) b ASOF JOIN (FROM items WHERE left_) a ON a.parcel = b.parcel AND a.t < b.t
WHERE b.t - a.t < WIDTH"""
SQL: Final = {"E1 SEQ UNRESTRICTED E2": EACH, "LAST E1 SEQ E2": NEWEST, "E1 SEQ NAIVE E2": NEWEST}
"""For DuckDB; policies that consume have no counterpart in SQL."""


def point(room: Room, pattern: str, items: Items, name: str, width: int, at: float | str) -> Point:
    """A pattern over items."""
    count = PATTERNS.get(pattern, chained)
    sql = SQL.get(pattern)
    return Point(
        at=at,
        query=QUERY % (width, pattern),
        language="rsep-ql",
        streams={STREAM: room.file(f"{name}.nq", items.write)},
        events=len(items.parcel),
        triples=len(items.parcel),
        answers=count(items, width),
        yardsticks={"pyoxigraph": "", **({"duckdb": LINES + sql.replace("WIDTH", str(width))} if sql else {})},
    )


def policies(room: Room) -> Iterator[Point]:
    """Windows of 1,000 items."""
    size = room.size(200_000, 10_000)
    few, many = Items.drawn(size, 50), Items.drawn(size, 5_000)
    for pattern, count in PATTERNS.items():
        # with 50 parcels these give five rows per item and more: what is measured then is making them
        items, name = (many, "many") if count in (every, first) else (few, "few")
        yield point(room, pattern, items, name, 1000, pattern)


def chain(room: Room) -> Iterator[Point]:
    """A sequence after one that selects, which is for the operators."""
    for size in (room.size(10_000, 2_000), room.size(20_000, 4_000)):
        yield point(room, "E1 SEQ RECENT E2 SEQ RECENT E3", Items.drawn(size, 50), f"chain{size}", 1000, size)


def hours(room: Room, pattern: str) -> Iterator[Point]:
    """A wide window with a small step against a narrow one: what is inside must not be read again."""
    items = Items.drawn(room.size(200_000, 10_000), 5_000)
    for width in (1_000, 60_000, 3_600_000):
        yield point(room, pattern, items, "many", width, width // 1000)


WORKLOADS: Final = (
    Workload(
        "rsep-ql-policies",
        "RSEP-QL, section 4: selection and consumption policies",
        "pattern",
        policies,
        (
            Goal("slowest, items/s of one core", lambda r: min(m.events_per_cpu_second for m in r.of("local")), least=100_000),
            goals.beats("duckdb", 2.0),
        ),
    ),
    Workload("rsep-ql-chain", "RSEP-QL, section 4: E1 SEQ RECENT E2 SEQ RECENT E3", "items", chain),
    *(
        Workload(
            f"rsep-ql-{name}-windows",
            f"RSEP-QL: {pattern} evaluated at each item",
            "window, s",
            partial(hours, pattern=pattern),
            (Goal("CPU, an hour against a second", lambda r: r[3_600, "local"].cpu / r[1, "local"].cpu, most=2.0),),
        )
        for name, pattern in (("recent", "E1 SEQ RECENT E2"), ("last", "LAST E1 SEQ E2"))
    ),
)
