"""How fast OBEP queries are answered: from N-Quads to occurrences, over static assertions of any size.

    python -m benchmarks.obep            # the sizes of docs/benchmarks/obep.md
    python -m benchmarks.obep --quick    # a tenth of it

CPU time of one process, the better of two where static assertions are few; every count is checked against a plain loop over
what was drawn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measured import Measured, report
from numpy.typing import NDArray

from scepter import Engine, Event, parse
from scepter.io.sources import open_source
from scepter.rdf.terms import IRI
from scepter.runtime.local import run_local

NS = "http://example/rooms#"
STREAM = "http://example/rooms"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
STEP = 100
"""Milliseconds from one item to the next."""
WINDOW = 300_000
HOT = 1_000
"""Rooms that items come from."""

ONTOLOGY = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Room a owl:Class . :Sensor a owl:Class . :Room owl:disjointWith :Sensor .
:deployedIn owl:inverseOf :armedWith . :observedBy owl:inverseOf :observes .
:observesPerson rdfs:subPropertyOf :observes . :observesNobody rdfs:subPropertyOf :observes .
:observesOpenDoor rdfs:subPropertyOf :observes . :observesClosedDoor rdfs:subPropertyOf :observes .
"""
QUERY = f"""PREFIX : <{NS}>
FROM STREAM <{STREAM}>
EVENT BusyRoom AS (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT FreeRoom AS (Room and armedWith some (Sensor and observesOpenDoor some Thing))
EVENT EmptyRoom AS (Room and armedWith some (Sensor and observesNobody some Thing))
EVENT Entering MATCH FreeRoom AS F SEQ BusyRoom AS B WITHIN (5 min)
  IF {{ EVENT F {{ ?room :armedWith ?s }} EVENT B {{ ?room :armedWith ?t }} }}
EVENT Leaving MATCH BusyRoom AS B SEQ EmptyRoom AS E WITHIN (5 min)
  IF {{ EVENT B {{ ?room :armedWith ?s }} EVENT E {{ ?room :armedWith ?t }} }}
RETURN Entering, Leaving AS RDF STREAM
"""


@dataclass(frozen=True)
class Observations:
    """Items: of which room a sensor tells, whether its door is open, who is in it (0: nobody)."""

    room: NDArray[np.int64]
    is_open: NDArray[np.bool_]
    person: NDArray[np.int64]

    @classmethod
    def drawn(cls, items: int, rooms: int, people: int, seed: int = 7) -> Observations:
        """The same for the same seed; half of the time somebody is there."""
        random = np.random.default_rng(seed)
        there = random.random(items) < 0.5
        person = random.integers(1, people + 1, items) if people else np.arange(1, items + 1)
        return cls(random.integers(0, rooms, items), random.random(items) < 0.4, np.where(there, person, 0))

    def write(self, path: Path) -> None:
        """As N-Quads: the door, the people, a value that no event asks for, and the time."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            rows = zip(self.room.tolist(), self.is_open.tolist(), self.person.tolist(), strict=True)
            for i, (room, is_open, person) in enumerate(rows):
                name, sensor = f"<http://example/rooms/item/{i}>", f"<{NS}s{room}>"
                seen = f"<{NS}observesPerson> <{NS}person{person}>" if person else f"<{NS}observesNobody> <{NS}nobody>"
                door = "observesOpenDoor" if is_open else "observesClosedDoor"
                out.write(
                    f"{sensor} <{NS}{door}> <{NS}door{room}> {name} .\n"
                    f"{sensor} {seen} {name} .\n"
                    f'{sensor} <{NS}measures> "{i * 37 % 1000}"^^<{XSD}integer> {name} .\n'
                    f'{name} <{PROV}generatedAtTime> "{i * STEP}"^^<{XSD}integer> .\n'
                )

    def answers(self) -> int:
        """How often a door was open, or somebody there, before in the same room, within the window."""
        opened: dict[int, list[int]] = {}
        busy: dict[int, list[int]] = {}
        found = 0
        rows = zip(self.room.tolist(), self.is_open.tolist(), self.person.tolist(), strict=True)
        for i, (room, is_open, person) in enumerate(rows):
            before = (opened if person else busy).get(room, [])
            found += len(before) - bisect_left(before, i * STEP - WINDOW)
            if is_open:
                opened.setdefault(room, []).append(i * STEP)
            if person:
                busy.setdefault(room, []).append(i * STEP)
        return found


def assertions(path: Path, rooms: int) -> Path:
    """Three static assertions per room."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(f"PREFIX : <{NS}>\n")
        for room in range(rooms):
            out.write(f":Room{room} a :Room ; :armedWith :s{room} . :s{room} a :Sensor .\n")
    return path


class Rooms:
    """Static assertions about so many rooms."""

    def __init__(self, folder: Path, rooms: int, times: int = 2) -> None:
        self._folder, self._times = folder, times
        self._static = assertions(folder / f"rooms{rooms}.ttl", rooms)
        self.loading = float("inf")
        """CPU seconds to load them, and to find them free of contradiction."""

    def seconds(self, items: Observations) -> float:
        """CPU seconds of the items alone, from text to occurrences; the best of so many times."""
        path = self._folder / "items.nq"
        items.write(path)
        return min(self._seconds(path, items.answers()) for _ in range(self._times))

    def _seconds(self, path: Path, wanted: int) -> float:
        began = time.process_time()
        open_source(path).survey(None)  # the first look at a file, which a run takes while it loads
        surveyed = time.process_time()
        streams = {STREAM: open_source(path)}
        occurrences = run_local(parse(QUERY, "obep"), streams, background=self._static, ontology=ONTOLOGY)
        loaded = time.process_time()
        found = sum(1 for _ in occurrences)
        ended = time.process_time()
        if found != wanted:
            raise AssertionError(f"{found} instead of {wanted}")
        first_look = surveyed - began
        self.loading = min(self.loading, loaded - surveyed - first_look)
        return ended - loaded + first_look


def files(folder: Path, items: int, many: int) -> list[Measured]:
    """Everything that reads a file."""
    Rooms(folder, HOT, 1).seconds(Observations.drawn(2_000, HOT, 2))  # compiles
    usual = Observations.drawn(items, HOT, 2)
    rooms = Rooms(folder, HOT)
    whole = rooms.seconds(usual)
    detail = f"{whole:.2f} s and {rooms.loading:.2f} s for loading, {usual.answers():,} occurrences"
    found = [Measured("items/s per core, 1,000 rooms", items / (whole + rooms.loading), detail, least=100_000)]
    crowd = Observations.drawn(items, HOT, 20)
    detail = f"{len(np.unique(crowd.room * 42 + crowd.is_open * 21 + crowd.person)):,} different contents"
    found.append(Measured("items/s, twenty people instead of two", items / rooms.seconds(crowd), detail))
    strangers = Observations.drawn(items // 5, HOT, 0)
    found.append(
        Measured("items/s, each with a person of its own", items / 5 / rooms.seconds(strangers), f"{items // 5:,} items")
    )
    town = Rooms(folder, many, 1)
    alone = town.seconds(usual)
    detail = f"{alone:.2f} s; {3 * many:,} assertions load in {town.loading:.1f} s"
    found.append(Measured("CPU per item, many static assertions against few", alone / whole, detail, most=1.2))
    spread = Observations.drawn(items // 5, many, 2)
    detail = f"{len(np.unique(spread.room)):,} rooms"
    found.append(Measured("items/s, mostly of a room not told of before", items / 5 / town.seconds(spread), detail))
    return found


def pushes(pushed: int) -> list[Measured]:
    """One item at a time."""
    static = "\n".join(f":Room{r} a :Room ; :armedWith :s{r} . :s{r} a :Sensor ." for r in range(HOT))
    engine = Engine(parse(QUERY, "obep"), background=f"PREFIX : <{NS}>\n{static}\n", ontology=ONTOLOGY)
    drawn = Observations.drawn(pushed, HOT, 20)
    taken, found = [], 0
    rows = zip(drawn.room.tolist(), drawn.is_open.tolist(), drawn.person.tolist(), strict=True)
    for i, (room, is_open, person) in enumerate(rows):
        sensor = IRI(f"{NS}s{room}")
        door = IRI(NS + ("observesOpenDoor" if is_open else "observesClosedDoor"))
        seen = (
            (IRI(f"{NS}observesPerson"), IRI(f"{NS}person{person}")) if person else (IRI(f"{NS}observesNobody"), IRI(f"{NS}no"))
        )
        item = Event(STREAM, [(sensor, door, IRI(f"{NS}door{room}")), (sensor, *seen)], i * STEP)
        began = time.process_time()
        found += len(engine.push(item))
        taken.append(time.process_time() - began)
    if found != drawn.answers():
        raise AssertionError(f"{found} instead of {drawn.answers()}")
    middle, late = np.percentile(np.array(taken) * 1000, [50, 99])
    detail = f"{pushed} items"
    return [
        Measured("push of one item, median CPU ms", float(middle), detail),
        Measured("push of one item, 99th percentile CPU ms", float(late), detail),
    ]


def main() -> int:
    """Measures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        results = files(Path(folder), 50_000 if quick else 500_000, 33_334 if quick else 333_334)
    results += pushes(1_000 if quick else 5_000)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
