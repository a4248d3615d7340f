"""Vessels that leave the harbour, travel, and stop in the fishing area (SPAseq, query 6)."""

from __future__ import annotations

import numpy as np

from scepter.generate.draws import Draws, Indices
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, integers, numbered, picked

_NS = "http://example/"
_TRIP = 12
"""Reports of one trip: one in the harbour, ten at sea, one in the fishing area."""
_QUERY = """\
PREFIX : <http://example/>
SELECT ?vessel ?name ?company (COUNT(B.?s2) AS ?reports)
WITHIN 30 MINUTES SLIDING PARTITION BY (?vessel)
FROM STREAM Boats <http://harbour.org/boats>
WHERE {
  SEQ (A, B+, C)
  DEFINE GPM A ON Boats { ?vessel :speed ?s1 ; :location "harbour" ; :direction ?dir . FILTER (?s1 > 0) }
  DEFINE GPM B ON Boats { ?vessel :speed ?s2 ; :location ?l ; :direction ?dir . FILTER (?s2 > ?s1) }
  DEFINE GPM C ON Boats {
    ?vessel :speed 0 ; :location "fishingarea" .
    GRAPH <http://harbour.org/db> { ?vessel :name ?name ; :operatedBy ?operator . ?operator :name ?company }
  }
}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """The vessels report in turn, one each second. One trip in three changes its direction on the way."""
    vessels = chosen(settings.keys, 20)

    def shape(index: Indices) -> Shape:
        vessel, report = index % vessels, index // vessels
        offset = draws.integers("vessels/offset", vessel, 0, _TRIP - 1)
        phase = (report + offset) % _TRIP
        trip = ((report + offset) // _TRIP) * vessels + vessel
        strays = draws.chance("vessels/strays", trip, 333) & (phase == _TRIP // 2)
        course = draws.integers("vessels/course", trip, 0, 359)
        speed = np.where(phase == 0, 5, draws.integers("vessels/speed", index, 6, 20))
        place = np.select([phase == 0, phase == _TRIP - 1], [0, 2], 1)
        subject = numbered(f"{_NS}vessel", vessel)
        return (
            (subject, f"<{_NS}speed>", integers(np.where(phase == _TRIP - 1, 0, speed))),
            (subject, f"<{_NS}location>", picked(['"harbour"', '"sea"', '"fishingarea"'], place)),
            (subject, f"<{_NS}direction>", integers((course + np.where(strays, 90, 0)) % 360)),
        )

    return Dataset(
        streams=(StreamPlan("boats", "http://harbour.org/boats", shape),),
        interval=1_000,
        background={"http://harbour.org/db": _register(vessels)},
        queries={"fishing-trip.spaseq": _QUERY},
    )


def _register(vessels: int) -> str:
    lines = [f':company{number} :name "company {number}" .' for number in range(min(vessels, 5))]
    lines += [f':vessel{number} :name "vessel {number}" ; :operatedBy :company{number % 5} .' for number in range(vessels)]
    return "\n".join([f"PREFIX : <{_NS}>", *lines, ""])
