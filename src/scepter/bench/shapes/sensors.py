"""Observations of sensors after the SSN vocabulary, twelve triples each: one reading of every sensor in five minutes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.terms import TYPE, XSD

STREAM: Final = "http://city.example/stream/"
STATIC: Final = "http://city.example/repository"
SSN: Final = "http://purl.oclc.org/NET/ssnx/ssn#"
CITY: Final = "http://city.example/"
PROV: Final = "<http://www.w3.org/ns/prov#generatedAtTime>"
TRIPLES: Final = 12
READING: Final = 300_000
"""Milliseconds between two readings of a sensor."""
KINDS: Final = ("speed", "level", "count")


@dataclass(frozen=True)
class Observations:
    """The sensor, the time (milliseconds) and the value (hundredths) of each observation, in order of time."""

    sensor: NDArray[np.int64]
    time: NDArray[np.int64]
    value: NDArray[np.int64]
    kind: str = KINDS[0]

    @classmethod
    def drawn(cls, observations: int, sensors: int = 450, kind: str = KINDS[0], seed: int = 7) -> Observations:
        """The same for the same seed: sensors report one after the other, again and again."""
        random = np.random.default_rng([seed, *kind.encode()])
        number = np.arange(observations)
        time = number // sensors * READING + number % sensors * (READING // sensors) + 1
        return cls(number % sensors, time, random.integers(0, 12_000, observations), kind)

    def write(self, path: Path) -> None:
        """As N-Quads, a graph for each observation."""
        kind = self.kind
        with path.open("w", encoding="utf-8", newline="\n") as out:
            rows = zip(self.sensor.tolist(), self.time.tolist(), self.value.tolist(), strict=True)
            for i, (sensor, time, value) in enumerate(rows):
                o, g = f"<{CITY}{kind}/observation/{i}>", f"<{CITY}{kind}/graph/{i}>"
                stamp = f'"{time}"^^<{XSD}integer>'
                out.write(
                    f"{o} <{TYPE}> <{SSN}Observation> {g} .\n"
                    f"{o} <{SSN}observedBy> <{CITY}{kind}/sensor/{sensor}> {g} .\n"
                    f"{o} <{SSN}observedProperty> <{CITY}{kind}/property> {g} .\n"
                    f"{o} <{SSN}featureOfInterest> <{CITY}road/{sensor % 97}> {g} .\n"
                    f'{o} <{CITY}hasValue> "{value // 100}.{value % 100:02d}"^^<{XSD}decimal> {g} .\n'
                    f"{o} <{CITY}hasUnit> <{CITY}unit/{kind}> {g} .\n"
                    f"{o} <{SSN}observationResultTime> {stamp} {g} .\n"
                    f"{o} <{SSN}observationSamplingTime> {stamp} {g} .\n"
                    f"{o} <{SSN}observationResult> <{CITY}{kind}/output/{i}> {g} .\n"
                    f"<{CITY}{kind}/output/{i}> <{TYPE}> <{SSN}SensorOutput> {g} .\n"
                    f"<{CITY}{kind}/output/{i}> <{SSN}isProducedBy> <{CITY}{kind}/sensor/{sensor}> {g} .\n"
                    f'{o} <{CITY}quality> "{sensor % 5}"^^<{XSD}integer> {g} .\n'
                    f"{g} {PROV} {stamp} .\n"
                )

    def write_csv(self, path: Path) -> None:
        """Sensor, time and value of each observation."""
        with path.open("w", encoding="utf-8", newline="\n") as out:
            for sensor, time, value in zip(self.sensor.tolist(), self.time.tolist(), self.value.tolist(), strict=True):
                out.write(f"{sensor},{time},{value // 100}.{value % 100:02d}\n")

    def of(self, sensor: int) -> NDArray[np.int64]:
        """The times of one sensor."""
        found: NDArray[np.int64] = self.time[self.sensor == sensor]
        return found

    def averages(self, width: int, step: int) -> int:
        """How many rows a report of averages per sensor has: sensors with an observation in a window, over all windows."""
        first = -(-self.time // step) * step
        last = -(-(self.time + width) // step) * step
        found = 0
        for sensor in np.unique(self.sensor).tolist():
            mine = self.sensor == sensor
            reached = -1
            for low, high in zip(first[mine].tolist(), last[mine].tolist(), strict=True):
                low = max(low, reached)
                found += max(0, high - low) // step
                reached = max(reached, high)
        return found


def write_repository(path: Path, triples: int, sensors: int = 450) -> None:
    """What is known of sensors: the road of each one, and names of other places that fill the repository."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        written = 0
        for kind in KINDS:
            for sensor in range(sensors):
                out.write(f"<{CITY}{kind}/sensor/{sensor}> <{CITY}onRoad> <{CITY}road/{sensor}> .\n")
                written += 1
        for place in range(triples - written):
            out.write(f'<{CITY}place/{place}> <{CITY}name> "place {place}" .\n')


def joined(times: list[NDArray[np.int64]], width: int, step: int) -> int:
    """How many rows a join of one observation from each stream has, over all windows that hold an observation of any."""
    last = max(int(each[-1]) for each in times) + width
    return sum(
        int(np.prod([np.count_nonzero((each > at - width) & (each <= at)) for each in times]))
        for at in range(0, last + step, step)
    )
