"""RSEP-QL beyond two labels: three with policies, FILTER, CONSTRUCT, ASK, and a window pattern joined with MATCH."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Point, Room, Workload
from scepter.bench.shapes.parcels import NS, PROV, STREAM, Items, chained, consuming
from scepter.rdf.terms import XSD

WEIGHTS: Final = "http://example.org/weights"
WIDTH: Final = 1_000
LASTING: Final = 60_000
EVERY: Final = 10
"""Milliseconds from one weighing to the next."""
_EVENTS: Final = "EVENT ON :w { ?parcel :left ?from } AS E1  EVENT ON :w { ?parcel :reached ?to } AS E2\n"
_THREE: Final = _EVENTS + "EVENT ON :w { ?parcel :left ?again } AS E3\n"
_FROM: Final = f"FROM NAMED <{STREAM}> WIN [RANGE {WIDTH} STEP 1] AS :w\n"
QUERIES: Final = {
    "three labels, RECENT": f"SELECT ?parcel ?from ?to ?again {_FROM}{_THREE}"
    "WHERE { MATCH { E1 SEQ RECENT E2 SEQ RECENT E3 } }",
    "FILTER": f"SELECT ?parcel ?from ?to {_FROM}{_EVENTS}WHERE {{ MATCH {{ E1 SEQ RECENT E2 }} FILTER (?from != ?to) }}",
    "CONSTRUCT": f"CONSTRUCT {{ ?parcel :at ?to }} {_FROM}{_EVENTS}WHERE {{ MATCH {{ E1 SEQ RECENT E2 }} }}",
    "ASK": f"ASK {_FROM}{_EVENTS}WHERE {{ MATCH {{ E1 SEQ RECENT E2 }} FILTER (?from = <{NS}nowhere>) }}",
    "WINDOW and MATCH": f"SELECT ?parcel ?from ?to ?weight {_FROM}"
    f"FROM NAMED WINDOW :v ON <{WEIGHTS}> [RANGE {LASTING} STEP 1]\n{_EVENTS}"
    "WHERE { MATCH { E1 SEQ RECENT E2 } WINDOW :v { ?parcel :weight ?weight } }",
}


def moved(items: Items, width: int) -> int:
    """The newest departure with the arrival that follows it, where the places differ, as policies pair them."""
    left: dict[int, deque[int]] = {}
    found = 0
    for t, parcel, reached in items:
        times = left.setdefault(parcel, deque())
        while times and times[0] <= t - width:
            times.popleft()
        if not reached:
            times.append(t)
        elif times:
            found += times.pop() % 97 != t % 97
    return found


def weighed(parcels: int, until: int) -> Iterator[tuple[int, int, int]]:
    """Each parcel is weighed once, one after the other, before anything leaves: (time, parcel, grams)."""
    return ((n - parcels, n, 100 + n) for n in range(min(parcels, until)))


def write_weights(path: Path, parcels: int) -> None:
    """As N-Quads: a triple and a time per item."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for t, parcel, grams in weighed(parcels, parcels):
            name = f"<http://example.org/scale/{parcel}>"
            out.write(
                f'<http://example.org/parcel/{parcel}> <{NS}weight> "{grams}"^^<{XSD}integer> {name} .\n'
                f'{name} <{PROV}generatedAtTime> "{t}"^^<{XSD}integer> .\n'
            )


def joined(items: Items, width: int, parcels: int) -> int:
    """Pairs that the newest departure makes, while the parcel's weight is in its window."""
    left: dict[int, deque[int]] = {}
    found = 0
    for t, parcel, reached in items:
        times = left.setdefault(parcel, deque())
        while times and times[0] <= t - width:
            times.popleft()
        if not reached:
            times.append(t)
        elif times:
            times.pop()
            found += t - (parcel - parcels) < LASTING
    return found


def points(room: Room) -> Iterator[Point]:
    """A point per form."""
    parcels = 50
    items = Items.drawn(room.size(200_000, 10_000), parcels)
    pairs = consuming(True)
    answers = {
        "three labels, RECENT": chained(items, WIDTH),
        "FILTER": moved(items, WIDTH),
        "CONSTRUCT": pairs(items, WIDTH),
        "ASK": 0,
        "WINDOW and MATCH": joined(items, WIDTH, parcels),
    }
    stream = room.file("items.nq", items.write)
    weights = room.file("weights.nq", lambda path: write_weights(path, parcels))
    for form, query in QUERIES.items():
        also = form == "WINDOW and MATCH"
        events = len(items.parcel) + (parcels if also else 0)
        yield Point(
            at=form,
            query=f"PREFIX : <{NS}> {query}",
            language="rsep-ql",
            streams={STREAM: stream, **({WEIGHTS: weights} if also else {})},
            events=events,
            triples=events,
            answers=answers[form],
            contenders=("written",),
        )


WORKLOADS: Final = (
    Workload(
        "rsep-ql-forms",
        "RSEP-QL: three labels with policies, FILTER, CONSTRUCT, ASK, a window pattern joined with MATCH",
        "form",
        points,
        (goals.events_rate(200_000),),
    ),
)
