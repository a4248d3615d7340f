"""Workloads run point by point, each in a process of its own, every answer checked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from scepter.bench.contenders import missing
from scepter.bench.model import ON_SPARK, SCEPTER, TASKS, Measurement, Point, Room, Sample, Workload
from scepter.errors import DataError, Diagnostic, option_error

ENGINES: Final = ("local", "spark", "both")
CERTAIN: Final = 0.99
"""A live run gives so much of the answer at least: what ends within the last window's open end is not certain yet."""


PATIENCE: Final = 300
"""Seconds that a yardstick may take for all runs of a point; then it is left out there."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose to run."""

    engine: str = "local"
    repeats: int = 3
    yardsticks: bool = True

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise option_error("bench-option", f"--repeat is {self.repeats}, and must be 1 or more")

    def contenders(self, point: Point) -> Iterator[str]:
        """What runs a point: the engines asked for, then the yardsticks."""
        for name in point.contenders:
            if name == TASKS or self.engine in ("both", "spark" if name in ON_SPARK else "local"):
                yield name
        if self.yardsticks:
            yield from point.yardsticks


def measurements(
    workload: Workload, room: Room, choice: Choice, left_out: Callable[[str, str], object]
) -> Iterator[Measurement]:
    """What each contender does at each point. `left_out` hears which yardstick cannot run, and why."""
    for point in workload.points(room):
        for name in choice.contenders(point):
            if reason := missing(name):
                left_out(name, reason)
                continue
            try:
                yield _measured(workload.name, point, name, choice.repeats)
            except subprocess.TimeoutExpired:
                left_out(f"{name} in {workload.name} at {point.at}", f"it took more than {PATIENCE} s")


def _measured(workload: str, point: Point, contender: str, repeats: int) -> Measurement:
    where = f"{workload} at {point.at}, {contender}" + (f", {point.line}" if point.line else "")
    found = _in_a_process(point, contender, repeats, where)
    for answers in found["answers"]:
        check(where, contender, answers, point.answers)
    line = f"{contender}, {point.line}" if point.line else contender
    return Measurement(
        workload, point.at, line, point.events, point.triples, found["answers"][-1],
        tuple(Sample(*sample) for sample in found["samples"]),
        found["peak"], found["begun"], found["state"], found["extra"],
    )  # fmt: skip


def check(where: str, contender: str, found: int, wanted: int) -> None:
    """A wrong answer is an error, however fast it came."""
    least = CERTAIN * wanted if contender in ("live", "micro-batches") else wanted
    if not least <= found <= wanted:
        raise DataError(Diagnostic("wrong-answer", f"{where}: {found:,} answers instead of {wanted:,}"))


def _in_a_process(point: Point, contender: str, repeats: int, where: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "scepter.bench.measure", contender, str(repeats)]
    patience = None if contender in SCEPTER else PATIENCE
    # a session of its own, so that what it starts (JVMs) ends with it
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            out, err = running.communicate(json.dumps(asdict(point)), timeout=patience)
        except BaseException:
            os.killpg(running.pid, signal.SIGKILL)
            raise
    if running.returncode:
        raise DataError(Diagnostic("measurement", f"{where} failed:\n{_end(err)}"))
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def _end(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-12:])


def rooms(folder: Path, chosen: Sequence[Workload], quick: bool) -> Iterator[tuple[Workload, Room]]:
    """A folder for each workload."""
    for workload in chosen:
        path = folder / workload.name
        path.mkdir(parents=True)
        yield workload, Room(path, quick)
