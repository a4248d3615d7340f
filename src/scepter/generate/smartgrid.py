"""A smart grid: power, weather and storage streams with a database of houses (SPAseq, query 1)."""

from __future__ import annotations

from scepter.generate.draws import Draws, Indices, Walk
from scepter.generate.model import Dataset, Field, Settings, Shape, StreamPlan, chosen, integers, numbered

_NS = "http://example/"
_GRID = "http://smartgrid.org/"
_QUERY = """\
PREFIX : <http://example/>
SELECT ?house ?fuel ?solar ?city
WITHIN 30 MINUTES
FROM STREAM Main <http://smartgrid.org/main>
FROM STREAM Weather <http://smartgrid.org/weather>
FROM STREAM Storage <http://smartgrid.org/storage>
WHERE {
  SEQ (A; B+; C)
  DEFINE GPM A ON Main {
    ?house :loc ?l ; :pow :Pw . :Pw :source "fuel" ; :fare ?fuel . FILTER (?fuel > 25)
    GRAPH <http://smartgrid.org/db> { ?house :locatedIn ?city }
  }
  DEFINE GPM B ON Weather { ?station :loc ?l ; :value :Vl . :Vl :light ?light ; :windsp ?wind .
                            FILTER (?wind > 3 && ?light > 40) }
  DEFINE GPM C ON Storage { ?storage :loc ?l ; :pow :Pw . :Pw :source "solar" ; :fare ?solar . FILTER (?solar < ?fuel) }
}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """Every second a house, two weather stations in turn, or a storage unit reports; four houses share a place."""
    houses = chosen(settings.keys, 200)
    places = (houses + 3) // 4
    fuel = Walk.starting(draws, "smartgrid/fuel", houses, 10, 40)
    solar = Walk.starting(draws, "smartgrid/solar", places, 5, 35)
    light = Walk.starting(draws, "smartgrid/light", places, 0, 100)

    def main(index: Indices) -> Shape:
        house = draws.integers("smartgrid/house", index, 0, houses - 1)
        fare = fuel.advance(house, draws.integers("smartgrid/fuel step", index, -3, 3))
        return _power(numbered(f"{_NS}H", house), numbered(f"{_NS}L", house // 4), '"fuel"', integers(fare))

    def weather(index: Indices) -> Shape:
        place = draws.integers("smartgrid/station", index, 0, places - 1)
        station, value = numbered(f"{_NS}W", place), f"<{_NS}Vl>"
        return (
            (station, f"<{_NS}loc>", numbered(f"{_NS}L", place)),
            (station, f"<{_NS}value>", value),
            (value, f"<{_NS}light>", integers(light.advance(place, draws.integers("smartgrid/light step", index, -9, 9)))),
            (value, f"<{_NS}windsp>", integers(draws.integers("smartgrid/wind", index, 0, 12))),
        )

    def storage(index: Indices) -> Shape:
        place = draws.integers("smartgrid/storage", index, 0, places - 1)
        fare = solar.advance(place, draws.integers("smartgrid/solar step", index, -3, 3))
        return _power(numbered(f"{_NS}St", place), numbered(f"{_NS}L", place), '"solar"', integers(fare))

    return Dataset(
        streams=tuple(StreamPlan(f.__name__, _GRID + f.__name__, f) for f in (main, weather, storage)),
        interval=1_000,
        turns=(0, 1, 1, 2),
        background={f"{_GRID}db": _houses(houses)},
        queries={"smart-grid.spaseq": _QUERY},
    )


def _power(subject: Field, place: Field, source: str, fare: Field) -> Shape:
    power = f"<{_NS}Pw>"
    return (
        (subject, f"<{_NS}loc>", place),
        (subject, f"<{_NS}pow>", power),
        (power, f"<{_NS}source>", source),
        (power, f"<{_NS}fare>", fare),
    )


def _houses(houses: int) -> str:
    lines = [
        f':H{house} :locatedIn :city{house % 9} ; :nearBy :H{(house + 1) % houses} ; :ownerName "owner {house}" .'
        for house in range(houses)
    ]
    return "\n".join([f"PREFIX : <{_NS}>", *lines, ""])
