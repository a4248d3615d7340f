"""Rooms watched by a door sensor and a people sensor: OBEP's running example, for as many pairs of rooms as wanted."""

from __future__ import annotations

from scepter.generate.draws import Draws, Indices
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, either, numbered

_NS = "http://example/rooms#"
_OPEN_PER_MILLE = 400
_ONTOLOGY = f"""\
PREFIX : <{_NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Room a owl:Class . :Sensor a owl:Class . :Person a owl:Class .
:deployedIn a owl:ObjectProperty ; owl:inverseOf :armedWith .
:observedBy a owl:ObjectProperty ; owl:inverseOf :observes .
:observesPerson rdfs:subPropertyOf :observes .
:observesNobody rdfs:subPropertyOf :observes .
:observesClosedDoor rdfs:subPropertyOf :observes .
:observesOpenDoor rdfs:subPropertyOf :observes .
"""
_QUERY = f"""\
PREFIX : <{_NS}>
FROM STREAM <http://example/rooms>
EVENT BusyRoom AS (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT FreeRoom AS (Room and armedWith some (Sensor and observesOpenDoor some Thing))
EVENT Entering MATCH FreeRoom SEQ BusyRoom WITHIN (5 s)
RETURN Entering AS RDF STREAM
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """Every second the two sensors of one pair of rooms report: the door open or closed, a person seen or nobody."""
    pairs = chosen(settings.keys, 1)

    def shape(index: Indices) -> Shape:
        pair = draws.integers("rooms/pair", index, 0, pairs - 1)
        is_open = draws.chance("rooms/open", index, _OPEN_PER_MILLE)
        occupied = draws.chance("rooms/occupied", index, 500)
        people = either(draws.chance("rooms/who", index, 500), f"<{_NS}Bob>", f"<{_NS}Alice>")
        seen = [person if there else f"<{_NS}empty>" for person, there in zip(people, occupied.tolist(), strict=True)]
        return (
            (
                numbered(f"{_NS}sA", pair),
                either(is_open, f"<{_NS}observesOpenDoor>", f"<{_NS}observesClosedDoor>"),
                numbered(f"{_NS}doorA", pair),
            ),
            (numbered(f"{_NS}sB", pair), either(occupied, f"<{_NS}observesPerson>", f"<{_NS}observesNobody>"), seen),
        )

    return Dataset(
        streams=(StreamPlan("rooms", "http://example/rooms", shape),),
        interval=1_000,
        background={"": _assertions(pairs)},
        ontology=_ONTOLOGY,
        queries={"entering.obep": _QUERY},
    )


def _assertions(pairs: int) -> str:
    lines = [":Bob a :Person . :Alice a :Person ."]
    lines += [
        f":Room{side}{pair} a :Room ; :armedWith :s{side}{pair} . :s{side}{pair} a :Sensor ."
        for pair in range(pairs)
        for side in "AB"
    ]
    return "\n".join([f"PREFIX : <{_NS}>", *lines, ""])
