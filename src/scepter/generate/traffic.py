"""Road traffic as the city of Aarhus reports it: three streams of SSN observations (SPAseq, query 5)."""

from __future__ import annotations

from collections.abc import Callable

from scepter.generate.draws import Draws, Indices, Walk
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, integers, numbered
from scepter.rdf.terms import TYPE

_SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
_SAO = "http://purl.oclc.org/NET/sao/ssn#"
_SERVICE = "http://www.insight-centre.org/dataset/SampleEventService#"
_ROADS = ("AarhusTrafficData182955", "AarhusTrafficData195578", "AarhusTrafficData195446")
_QUERY = f"""\
PREFIX ssn: <{_SSN}>
PREFIX sao: <{_SAO}>
SELECT ?segment ?v1 ?v2 ?v3
WITHIN 30 MINUTES
FROM STREAM First <{_SERVICE}{_ROADS[0]}>
FROM STREAM Second <{_SERVICE}{_ROADS[1]}>
FROM STREAM Third <{_SERVICE}{_ROADS[2]}>
WHERE {{
  SEQ (A; (B & C))
  DEFINE GPM A ON First {{ ?o1 ssn:observedProperty ?segment ; sao:hasValue ?v1 . FILTER (?v1 > 3) }}
  DEFINE GPM B ON Second {{ ?o2 ssn:observedProperty ?segment ; sao:hasValue ?v2 . FILTER (?v2 >= ?v1) }}
  DEFINE GPM C ON Third {{ ?o3 ssn:observedProperty ?segment ; sao:hasValue ?v3 . FILTER (?v3 >= ?v2) }}
}}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """Every minute the three roads report the congestion level (0 to 10) of one of their segments, all at once."""
    segments = chosen(settings.keys, 5)
    return Dataset(
        streams=tuple(StreamPlan(road, _SERVICE + road, _road(road, segments, draws)) for road in _ROADS),
        interval=60_000,
        turns=(0, 1, 2),
        together=3,
        queries={"congestion.spaseq": _QUERY},
    )


def _road(road: str, segments: int, draws: Draws) -> Callable[[Indices], Shape]:
    level = Walk.starting(draws, f"traffic/{road}", segments, 0, 10)

    def shape(index: Indices) -> Shape:
        segment = index % segments
        value = level.advance(segment, draws.integers(f"traffic/{road} step", index, -2, 2))
        subject = numbered(f"{_SERVICE}{road}-Observation", index)
        return (
            (subject, f"<{TYPE}>", f"<{_SSN}Observation>"),
            (subject, f"<{_SSN}observedBy>", f"<{_SERVICE}{road}>"),
            (subject, f"<{_SSN}observedProperty>", numbered(f"{_SERVICE}CongestionLevel-", segment)),
            (subject, f"<{_SAO}hasValue>", integers(value)),
        )

    return shape
