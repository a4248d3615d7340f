"""OBEP's rooms: logical events over static assertions, composite ones within five minutes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from scepter.bench import goals
from scepter.bench.model import LOAD, Goal, Point, Room, Workload
from scepter.bench.shapes.rooms import (
    HOT,
    NS,
    ONTOLOGY,
    QUERY,
    STEP,
    STREAM,
    VISIT,
    WINDOW,
    Observations,
    entered,
    write_assertions,
    write_new_rooms,
)

SQL: Final = f"""
WITH lines AS MATERIALIZED (
  SELECT s, p[{len(NS) + 2}:-2] AS p, CAST(g[strpos(g, 'item/') + 5:-2] AS BIGINT) * {STEP} AS t
  FROM read_csv('{{0}}', delim = ' ', header = false, quote = '', escape = '', auto_detect = false, null_padding = true,
                columns = {{{{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'g': 'VARCHAR', 'dot': 'VARCHAR'}}}})
  WHERE p LIKE '%#observes%'
), later AS (
  SELECT *, t // {WINDOW} AS bucket FROM lines WHERE p IN ('observesPerson', 'observesNobody')
  UNION ALL SELECT *, t // {WINDOW} - 1 FROM lines WHERE p IN ('observesPerson', 'observesNobody'))
SELECT count(*) FROM lines a JOIN later b ON a.s = b.s AND a.t // {WINDOW} = b.bucket AND b.t > a.t AND b.t - a.t <= {WINDOW}
WHERE (a.p, b.p) IN (('observesOpenDoor', 'observesPerson'), ('observesPerson', 'observesNobody'))
"""
"""For DuckDB, which is spared all reasoning: each sensor is taken to stand in a room."""


def observed(room: Room, at: float | str, items: Observations, rooms: int) -> Point:
    """Items, and static assertions about so many rooms."""
    return Point(
        at=at,
        query=QUERY,
        language="obep",
        streams={STREAM: room.file(f"items-{at}.nq", items.write)},
        events=len(items.room),
        triples=3 * len(items.room),
        answers=items.answers(),
        background={"": room.file(f"rooms{rooms}.ttl", partial(write_assertions, rooms=rooms))},
        ontology=room.file("ontology.ttl", lambda path: path.write_text(ONTOLOGY, encoding="utf-8")),
        yardsticks={"pyoxigraph": "", "duckdb": SQL},
    )


def people(room: Room) -> Iterator[Point]:
    """More people make more different contents; with "own" each item has a person of its own."""
    items = room.size(500_000, 20_000)
    yield observed(room, "2", Observations.drawn(items, HOT, 2), HOT)
    yield observed(room, "20", Observations.drawn(items, HOT, 20), HOT)
    yield observed(room, "own", Observations.drawn(items // 5, HOT, 0), HOT)


def assertions(room: Room) -> Iterator[Point]:
    """More static assertions about rooms that no item is about."""
    items = Observations.drawn(room.size(300_000, 20_000), HOT, 2)
    for rooms in (HOT, room.size(333_334, 10_000)):
        yield observed(room, 3 * rooms, items, rooms)


def composites(room: Room) -> Iterator[Point]:
    """Items that each say all about a room that is new, and three events in a row."""
    new = room.size(50_000, 2_000)
    ontology = room.file("ontology.ttl", lambda path: path.write_text(ONTOLOGY, encoding="utf-8"))
    yield Point(
        at="new rooms",
        query=QUERY,
        language="obep",
        streams={STREAM: room.file("new.nq", partial(write_new_rooms, items=new))},
        events=new,
        triples=4 * new,
        answers=entered(new),
        ontology=ontology,
        contenders=("written",),
    )
    items = Observations.drawn(room.size(200_000, 20_000), HOT, 2)
    three = observed(room, "three", items, HOT)
    yield replace(three, query=VISIT, answers=items.visits(), contenders=("written",), yardsticks={})


WORKLOADS: Final = (
    Workload(
        "obep-rooms",
        "OBEP, section 5: entering and leaving rooms",
        "people",
        people,
        (
            Goal("items/s of one core, two people", lambda r: r["2", "local"].events_per_cpu_second, least=100_000),
            goals.beats("duckdb", 2.0),
        ),
    ),
    Workload(
        "obep-assertions",
        "OBEP, section 5: static assertions about more rooms",
        "static assertions",
        assertions,
        (
            goals.flat_stream(1.2),
            Goal("CPU seconds until the first item is read", lambda r: max(m.extra[LOAD] for m in r.of("local")), most=10.0),
        ),
    ),
    Workload(
        "obep-composites",
        "OBEP: items about rooms never seen before, and a composite of three",
        "items",
        composites,
        (
            Goal("items/s to written rows, new rooms", lambda r: r["new rooms", "written"].events_per_cpu_second, least=50_000),
            Goal("items/s to written rows, three", lambda r: r["three", "written"].events_per_cpu_second, least=100_000),
        ),
    ),
)
