"""Rooms with sensors that tell of a door and of people, as in OBEP's paper: one item every 100 ms, three triples each."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.terms import TYPE, XSD

NS: Final = "http://example/rooms#"
STREAM: Final = "http://example/rooms"
PROV: Final = "http://www.w3.org/ns/prov#"
STEP: Final = 100
"""Milliseconds from one item to the next."""
WINDOW: Final = 300_000
HOT: Final = 1_000
"""Rooms that items come from."""

ONTOLOGY: Final = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Room a owl:Class . :Sensor a owl:Class . :Room owl:disjointWith :Sensor .
:deployedIn owl:inverseOf :armedWith . :observedBy owl:inverseOf :observes .
:observesPerson rdfs:subPropertyOf :observes . :observesNobody rdfs:subPropertyOf :observes .
:observesOpenDoor rdfs:subPropertyOf :observes . :observesClosedDoor rdfs:subPropertyOf :observes .
"""
QUERY: Final = f"""PREFIX : <{NS}>
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
VISIT: Final = f"""PREFIX : <{NS}>
FROM STREAM <{STREAM}>
EVENT BusyRoom AS (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT FreeRoom AS (Room and armedWith some (Sensor and observesOpenDoor some Thing))
EVENT EmptyRoom AS (Room and armedWith some (Sensor and observesNobody some Thing))
EVENT Visit MATCH FreeRoom AS F SEQ BusyRoom AS B SEQ EmptyRoom AS E WITHIN (5 min)
  IF {{ EVENT F {{ ?room :armedWith ?s }} EVENT B {{ ?room :armedWith ?t }} EVENT E {{ ?room :armedWith ?u }} }}
RETURN Visit AS RDF STREAM
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

    def visits(self) -> int:
        """How often nobody was in a room any more after somebody had come after its door was open, within the window: visits
        that begin and end at the same times are one, whoever came between."""
        opened: dict[int, list[int]] = {}
        entered: dict[int, dict[int, None]] = {}
        found = 0
        rows = zip(self.room.tolist(), self.is_open.tolist(), self.person.tolist(), strict=True)
        for i, (room, is_open, person) in enumerate(rows):
            at = i * STEP
            if person:
                entered.setdefault(room, {}).update(dict.fromkeys(t for t in opened.get(room, ()) if at - t <= WINDOW))
            else:
                entered[room] = dict.fromkeys(start for start in entered.get(room, ()) if at - start <= WINDOW)
                found += len(entered[room])
            if is_open:
                opened[room] = [start for start in opened.get(room, ()) if at - start <= WINDOW] + [at]
        return found


AGAIN: Final = 50
"""So many items after it was opened, a new room's door is told of again, with somebody inside."""


def write_new_rooms(path: Path, items: int) -> None:
    """Items about rooms of which nothing is known before: each says all that there is to say of its room."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for i in range(items):
            opening = i // AGAIN % 2 == 0
            room = i if opening else i - AGAIN
            name, sensor = f"<http://example/rooms/item/{i}>", f"<{NS}s{room}>"
            seen = f"<{NS}observesOpenDoor> <{NS}door{room}>" if opening else f"<{NS}observesPerson> <{NS}person{i}>"
            out.write(
                f"<{NS}Room{room}> <{TYPE}> <{NS}Room> {name} .\n"
                f"<{NS}Room{room}> <{NS}armedWith> {sensor} {name} .\n"
                f"{sensor} <{TYPE}> <{NS}Sensor> {name} .\n"
                f"{sensor} {seen} {name} .\n"
                f'{name} <{PROV}generatedAtTime> "{i * STEP}"^^<{XSD}integer> .\n'
            )


def entered(items: int) -> int:
    """How many of those rooms somebody enters."""
    return sum(1 for i in range(items) if i // AGAIN % 2)


def write_assertions(path: Path, rooms: int) -> None:
    """Three static assertions per room."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(f"PREFIX : <{NS}>\n")
        for room in range(rooms):
            out.write(f":Room{room} a :Room ; :armedWith :s{room} . :s{room} a :Sensor .\n")
