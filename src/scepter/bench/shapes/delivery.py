"""Deliveries in a city of roads that close, and a buoy in the sea: the two applications of EP-SPARQL's test 3.

The city is a square of places; each is joined with its neighbours by roads in both directions. An agent drives from place to
place; when she has arrived the road to her next stop may be told closed, and then she asks for another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from scepter.rdf.terms import XSD

NS: Final = "http://example.org/"
STREAM: Final = f"{NS}milan"
BUOYS: Final = f"{NS}buoys"
SIDE: Final = 5
STEP: Final = 10
"""Ticks from one stop of an agent to the next; all that belongs to a stop happens within them."""
_PROV: Final = "<http://www.w3.org/ns/prov#generatedAtTime>"


def neighbours(place: int) -> list[int]:
    """The places that roads lead to."""
    row, column = divmod(place, SIDE)
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * SIDE + c for r, c in near if 0 <= r < SIDE and 0 <= c < SIDE]


@dataclass(frozen=True)
class Deliveries:
    """The stops of agents, and whether the road to the next one is closed."""

    stops: list[list[int]]
    closed: list[list[bool]]

    @classmethod
    def drawn(cls, agents: int, stops: int, seed: int = 7) -> Deliveries:
        """Each next stop is a neighbour; more than half of the roads there are closed, as in the paper."""
        random = np.random.default_rng(seed)
        tours, closed = [], []
        for _ in range(agents):
            tour = [int(random.integers(0, SIDE * SIDE))]
            while len(tour) <= stops:
                tour.append(int(random.choice(neighbours(tour[-1]))))
            tours.append(tour)
            closed.append([bool(each) for each in random.random(stops) < 0.6])
        return cls(tours, closed)

    def events(self) -> Iterator[tuple[int, str]]:
        """Times and triples, in order of time; at each time one event."""
        agents = len(self.stops)
        for stop in range(len(self.closed[0])):
            for phase in range(3):
                for agent, tour in enumerate(self.stops):
                    time = (stop * STEP + phase) * agents + agent
                    here, following = tour[stop], tour[stop + 1]
                    if phase == 0:
                        yield time, f"<{NS}agent{agent}> <{NS}arrivesAt> <{NS}place{here}>"
                    elif phase == 1 and self.closed[agent][stop]:
                        yield time, f"<{NS}road{here}-{following}> <{NS}closedFor> <{NS}agent{agent}>"
                    elif phase == 2:
                        yield time, f"<{NS}agent{agent}> <{NS}asksFor> <{NS}place{following}>"

    @property
    def answers(self) -> int:
        """For each closed road the places around, all of which lead to the stop in the end: the city is connected."""
        return sum(
            len(neighbours(tour[stop]))
            for tour, closed in zip(self.stops, self.closed, strict=True)
            for stop, is_closed in enumerate(closed)
            if is_closed
        )

    def write(self, path: Path) -> None:
        """N-Quads, the time of an event behind it."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for number, (time, triple) in enumerate(self.events()):
                out.write(f'{triple} <urn:e{number}> .\n<urn:e{number}> {_PROV} "{time}"^^<{XSD}integer> .\n')


def write_map(path: Path) -> None:
    """The roads of the city."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for place in range(SIDE * SIDE):
            for near in neighbours(place):
                road = f"<{NS}road{place}-{near}>"
                out.write(f"{road} <{NS}from> <{NS}place{place}> .\n{road} <{NS}to> <{NS}place{near}> .\n")
                out.write(f"<{NS}place{place}> <{NS}leadsTo> <{NS}place{near}> .\n")


def write_readings(path: Path, readings: int, waves: tuple[int, ...]) -> None:
    """A mean each hour (3,600 ticks), and a level 100 ticks later, which is 60 mm off at some hours."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for hour in range(readings):
            level = 5_500_000 + int(10 * np.sin(hour / 12))
            for time, what, value in (
                (3_600 * hour, "mean", level),
                (3_600 * hour + 100, "level", level + 60 * (hour in waves)),
            ):
                out.write(
                    f'<{NS}buoy> <{NS}{what}> {value} "{time}"^^<{XSD}integer> .\n'.replace(
                        f" {value} ", f' "{value}"^^<{XSD}integer> '
                    )
                )
