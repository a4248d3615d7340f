"""Sensor observations of twelve triples as N-Quads and Jelly, and as CSV and Parquet through a mapping: reading alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

from scepter.bench.jelly import JellyWriter
from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.rdf.terms import TYPE, XSD

EX, SOSA, PROV = "http://example.org/", "http://www.w3.org/ns/sosa/", "http://www.w3.org/ns/prov#"
MAPPING: Final = """\
prefixes: {ex: "http://example.org/"}
time: $(time)
event: ex:event/$(id)
mappings:
  observation:
    s: ex:observation/$(id)
    po:
      - [a, sosa:Observation]
      - [sosa:resultTime, $(time), xsd:dateTime]
      - [sosa:madeBySensor, ex:sensor/$(sensor)]
      - [sosa:observedProperty, ex:$(property)]
      - [sosa:hasSimpleResult, $(value), xsd:decimal]
      - [ex:unit, ex:$(unit)]
      - [ex:quality, $(quality), xsd:integer]
      - [ex:room, ex:room/$(room)]
      - [ex:floor, $(floor), xsd:integer]
      - [ex:building, ex:$(building)]
      - [ex:battery, $(battery), xsd:integer]
      - [ex:on, $(on), xsd:boolean]
"""
FIELDS: Final = ("id", "time", "sensor", "property", "value", "unit", "quality", "room", "floor", "building", "battery", "on")
ALL, TWO = "all predicates", "two of twelve"


def row(index: int) -> tuple[object, ...]:
    """The fields of an observation."""
    time = f"2026-01-{1 + index // 86_400 % 28:02d}T{index // 3600 % 24:02d}:{index // 60 % 60:02d}:{index % 60:02d}Z"
    return (
        index, time, f"s{index % 499}", "temperature", index * 7 % 3000 / 100, "celsius", index % 5, f"r{index % 50}",
        index % 9, f"b{index % 4}", index % 100, "true" if index % 3 else "false",
    )  # fmt: skip


def write_csv(path: Path, events: int) -> None:
    """So many observations as CSV."""
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(map(row, range(events)))


def write_parquet(path: Path, events: int) -> None:
    """The same as Parquet, in typed columns."""
    columns = dict(zip(FIELDS, map(list, zip(*map(row, range(events)), strict=True)), strict=True))
    columns["time"] = [datetime.fromisoformat(str(time)) for time in columns["time"]]
    columns["on"] = [on == "true" for on in columns["on"]]
    pq.write_table(pa.table(columns), path)


def write_nquads(path: Path, events: int) -> None:
    """The same as N-Quads, spelt out here: what the mapping makes is checked against it by its number of triples."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(map(lines, range(events)))


def write_jelly(path: Path, events: int) -> None:
    """The same as Jelly, a frame for each observation."""
    with path.open("wb") as out:
        writer = JellyWriter(out)
        for index in range(events):
            writer.write(ox.parse(lines(index), format=ox.RdfFormat.N_QUADS))


def lines(index: int) -> str:
    """An observation as N-Quads."""
    id, time, sensor, property, value, unit, quality, room, floor, building, battery, on = row(index)
    stamp = f'"{time}"^^<{XSD}dateTime>'
    pairs = [
        (TYPE, f"<{SOSA}Observation>"), (f"{SOSA}resultTime", stamp), (f"{SOSA}madeBySensor", f"<{EX}sensor/{sensor}>"),
        (f"{SOSA}observedProperty", f"<{EX}{property}>"), (f"{SOSA}hasSimpleResult", f'"{value}"^^<{XSD}decimal>'),
        (f"{EX}unit", f"<{EX}{unit}>"), (f"{EX}quality", f'"{quality}"^^<{XSD}integer>'), (f"{EX}room", f"<{EX}room/{room}>"),
        (f"{EX}floor", f'"{floor}"^^<{XSD}integer>'), (f"{EX}building", f"<{EX}{building}>"),
        (f"{EX}battery", f'"{battery}"^^<{XSD}integer>'), (f"{EX}on", f'"{on}"^^<{XSD}boolean>'),
    ]  # fmt: skip
    name = f"<{EX}event/{id}>"
    triples = "".join(f"<{EX}observation/{id}> <{predicate}> {object} {name} .\n" for predicate, object in pairs)
    return f"{name} <{PROV}generatedAtTime> {stamp} .\n{triples}"


def points(room: Room) -> Iterator[Point]:
    """Each format, with every predicate and with two of twelve."""
    events = room.size(200_000, 5_000)
    files = {
        "N-Quads": room.file("observations.nq", partial(write_nquads, events=events)),
        "Jelly": room.file("observations.jelly", partial(write_jelly, events=events)),
        "CSV": room.file("observations.csv", partial(write_csv, events=events)),
        "Parquet": room.file("observations.parquet", partial(write_parquet, events=events)),
    }
    for kept, predicates, what in ((12, "", ALL), (2, f"{SOSA}hasSimpleResult {SOSA}madeBySensor", TWO)):
        for format, path in files.items():
            yield Point(
                at=f"{format}, {what}",
                query="",
                language="",
                streams={f"{EX}observations": path},
                events=events,
                triples=12 * events,
                answers=kept * events,
                contenders=("scan",),
                options={"predicates": predicates, **({} if format in ("N-Quads", "Jelly") else {"map": MAPPING})},
            )


def _gain(results: Results, format: str, what: str) -> float:
    return results[f"N-Quads, {what}", "scan"].cpu / results[f"{format}, {what}", "scan"].cpu


WORKLOADS: Final = (
    Workload(
        "lift",
        "rows through a mapping, twelve triples per event",
        "format",
        points,
        (
            Goal("triples/s of CSV against N-Quads, two of twelve", lambda r: _gain(r, "CSV", TWO), least=2.0),
            Goal("triples/s of Parquet against N-Quads, two of twelve", lambda r: _gain(r, "Parquet", TWO), least=4.0),
            Goal("triples/s of Jelly against N-Quads, two of twelve", lambda r: _gain(r, "Jelly", TWO), least=2.0),
            Goal("triples/s of CSV against N-Quads, all", lambda r: _gain(r, "CSV", ALL), least=2.0),
            Goal("triples/s of Parquet against N-Quads, all", lambda r: _gain(r, "Parquet", ALL), least=4.0),
        ),
    ),
)
