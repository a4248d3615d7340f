"""What a benchmark is: workloads with points and goals, and what was measured at a point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from statistics import median
from typing import TypeAlias

SCEPTER = (
    "local",
    "written",
    "push",
    "followed",
    "scan",
    "spark",
    "tasks",
    "live",
    "command",
    "micro-batches",
    "empty-micro-batches",
)
"""What of Scepter can run a point; whatever else runs one is a yardstick."""
ON_SPARK = ("spark", "live", "command", "micro-batches", "empty-micro-batches")
"""What of it needs a JVM."""
TASKS = "tasks"
"""Spark's tasks one after the other in one process: of either engine."""

LOAD, SCAN = "load, CPU s", "scan, CPU s"
"""What the engine in this process tells: what is done up to the first batch (static data, set-up), the look ahead, and
reading."""
BATCH, STATE_BEFORE, STATE_LAST = "micro-batch, ms", "state before, bytes", "state at last, bytes"
"""What live runs tell."""

SLOWEST, SLOWEST_BY_KEY = "slowest task against the mean", "slowest task against the mean, by key alone"
"""What the tasks of a run tell: how their CPU compares."""
SLOWEST_TASK, ALL_TASKS = "slowest task, of the one by key alone", "all tasks, of those by key alone"
"""What they tell live: the CPU with hot keys split, as a part of that without."""

DELAYS = ("median, ms", "99th percentile, ms", "largest, ms")
"""What pushed events tell: the CPU time that one of them takes."""
ONE_BY_ONE, TOGETHER = "push, events/s", "push_all, events/s"
"""What they tell besides: events per CPU second, pushed one at a time and handed over together."""
RESIDENT = "MB after %d %% of the stream"
"""What runs tell that look at their memory on the way: over what there was when the run began."""
GPM, AUTOMATON = "GPM, CPU s", "automaton, CPU s"
"""What counting runs tell: matching events one by one, and joining what they match."""

Place: TypeAlias = float | str
"""Where on a workload's axis a point is."""


@dataclass(frozen=True, slots=True)
class Point:
    """A query over files whose number of answers is known."""

    at: Place
    query: str
    language: str
    streams: Mapping[str, str]
    """Files by stream."""
    events: int
    triples: int
    """In the streams; the lines that tell an event's time are none."""
    answers: int
    background: Mapping[str, str] = field(default_factory=dict)
    """Files by graph; the default graph is ""."""
    ontology: str | None = None
    contenders: tuple[str, ...] = ("local", "spark")
    """What of Scepter runs it."""
    yardsticks: Mapping[str, str] = field(default_factory=dict)
    """What else runs it, with the text that says how."""
    line: str = ""
    """Of a figure with several lines, the one that the point is on."""
    master: str = "local[2]"
    """Where Spark runs it."""
    options: Mapping[str, str | int] = field(default_factory=dict)
    """For the contenders: `ahead` for `push`, `predicates` and `map` for `scan`, `files` for `live`, `stages` for
    `empty-micro-batches`, `buckets` and `live` for `tasks`."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a point."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """The runs of a point by one contender, in a process of their own."""

    workload: str
    at: Place
    contender: str
    events: int
    triples: int
    answers: int
    samples: tuple[Sample, ...]
    peak: int
    """Bytes of resident memory at most, over all processes."""
    begun: int
    """Bytes of resident memory before the first run."""
    state: int | None = None
    """Rows of state at most, as the engine counts them."""
    extra: Mapping[str, float] = field(default_factory=dict)
    """What else a contender tells, by name and unit."""

    @property
    def cpu(self) -> float:
        """Median CPU seconds."""
        return median(sample.cpu for sample in self.samples)

    @property
    def wall(self) -> float:
        """Median seconds on the wall."""
        return median(sample.wall for sample in self.samples)

    @property
    def streaming(self) -> float:
        """CPU seconds without what is done up to the first batch."""
        return self.cpu - self.extra.get(LOAD, 0.0)

    @property
    def events_per_cpu_second(self) -> float:
        """Events per second of CPU time."""
        return self.events / self.cpu

    @property
    def triples_per_cpu_second(self) -> float:
        """Triples per second of CPU time."""
        return self.triples / self.cpu

    @property
    def triples_per_second(self) -> float:
        """Triples per second on the wall."""
        return self.triples / self.wall


class Results:
    """What was measured of one workload, by place and contender."""

    def __init__(self, measurements: Iterable[Measurement] = ()) -> None:
        self._found = {(m.at, m.contender): m for m in measurements}

    def __getitem__(self, key: tuple[Place, str]) -> Measurement:
        return self._found[key]

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self._found.values())

    def of(self, contender: str) -> Sequence[Measurement]:
        """What a contender did at all places; KeyError if it did nothing."""
        found = [m for m in self if m.contender == contender]
        if not found:
            raise KeyError(contender)
        return found

    def ratios(self, above: str, below: str, of: Callable[[Measurement], float] = lambda m: m.cpu) -> list[float]:
        """One contender against another, at every place where both were; KeyError if there is none."""
        found = [of(m) / of(self[m.at, below]) for m in self if m.contender == above and (m.at, below) in self._found]
        if not found:
            raise KeyError((above, below))
        return found

    def growth(self, contender: str, of: Callable[[Measurement], float] = lambda m: m.cpu / m.events) -> float:
        """The greatest against the least over the places, by default of the CPU time per event."""
        values = [of(m) for m in self.of(contender)]
        return max(values) / min(values)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a workload has to reach: at least or at most so much of a value taken from its results."""

    what: str
    value: Callable[[Results], float]
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal and what was reached; None: what it is about was not measured."""

    workload: str
    what: str
    value: float | None
    least: float | None
    most: float | None

    @property
    def met(self) -> bool | None:
        """Whether the value is within its goal."""
        if self.value is None:
            return None
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)


@dataclass(frozen=True, slots=True)
class Room:
    """Where a workload writes its files, and how large they are."""

    folder: Path
    quick: bool = False

    def size(self, full: int, quick: int) -> int:
        """One of the two."""
        return quick if self.quick else full

    def file(self, name: str, write: Callable[[Path], object]) -> str:
        """A file by its name: written when it is first asked for."""
        path = self.folder / name
        if not path.exists():
            write(path)
        return str(path)


class Shown(Enum):
    """What a picture of a workload shows over its axis."""

    THROUGHPUT = "triples per CPU-second"
    CPU = "CPU seconds"
    DELAY = "CPU milliseconds of one event"
    MEMORY = "MB at most, over what there was at the start"
    MEMORY_OVER_TIME = "MB, over what there was at the start"
    COSTS = "CPU seconds by kind of work"


@dataclass(frozen=True, slots=True)
class Workload:
    """One experiment."""

    name: str
    follows: str
    """The paper and its experiment."""
    axis: str
    """What differs from point to point, with its unit."""
    points: Callable[[Room], Iterator[Point]]
    goals: tuple[Goal, ...] = ()
    shows: tuple[Shown, ...] = (Shown.THROUGHPUT,)
    """A picture for each."""

    def verdicts(self, results: Results) -> list[Verdict]:
        """The goals against what was measured."""
        found = []
        for goal in self.goals:
            try:
                value: float | None = goal.value(results)
            except KeyError:
                value = None
            found.append(Verdict(self.name, goal.what, value, goal.least, goal.most))
        return found
