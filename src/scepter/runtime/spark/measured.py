"""What the tasks of a run on Spark tell of their work, and the plan's operators, stages and skew made of it."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from scepter.physical.explain.description import Ran
from scepter.physical.metrics import Metrics, Skew, StageRun, TaskRun
from scepter.physical.nodes.nodes import nodes
from scepter.runtime.analysis import peak_memory
from scepter.runtime.engine import LocalEngine
from scepter.runtime.spark.jobs import Job, Work
from scepter.runtime.spark.jobs import work as kept_work
from scepter.runtime.spark.shares import Form, Share
from scepter.runtime.spark.skew import places_of

READING = -1
"""Stands where a task has its share: it reads events, for all of them."""


@dataclass(frozen=True, slots=True)
class Told:
    """One task: a range of input that was read, or a bucket."""

    share: int
    place: int
    work: Metrics
    peak_memory: int | None
    operators: Mapping[tuple[int, int], Metrics]
    """By unit, as a place in the plan, and by number in its plan."""

    def written(self) -> bytes:
        """As bytes that `read` takes."""
        operators = [[*at, asdict(work)] for at, work in self.operators.items()]
        return json.dumps([self.share, self.place, asdict(self.work), self.peak_memory, operators]).encode()

    @classmethod
    def read(cls, data: bytes) -> Told:
        """What `written` gave."""
        share, place, work, memory, operators = json.loads(data)
        by = {(unit, number): Metrics(**each) for unit, number, each in operators}
        return cls(share, place, Metrics(**work), memory, by)


class ReadingTask:
    """A reading task that is measured, from where it is made to where it tells."""

    def __init__(self, job: Job) -> None:
        self._job, self._started = job, time.thread_time_ns()
        self._works = {share.units[0]: kept_work(job, share) for share in job.at_work if share.form is not Form.EVENTS}
        for each in self._works.values():
            each.read_work()  # of tasks before it in the same process

    def told(self, events: int) -> Told:
        """What was done for so many events."""
        made = {unit: each.read_work() for unit, each in self._works.items()}
        operators = {(unit, number): work for unit, numbered in made.items() for number, work in numbered.items()}
        spent = time.thread_time_ns() - self._started
        sent = [made[unit].get(number, Metrics()).rows_out for unit, each in self._works.items() for number in each.exchanges]
        whole = events * (len(self._job.at_work) - len(self._works))  # where events cross as they are
        return Told(READING, 0, Metrics(events, whole + sum(sent), cpu=spent), peak_memory(), operators)


class BucketTask:
    """A bucket that is measured, from where it is made to where it tells."""

    def __init__(self, share: Share, bucket: int) -> None:
        self._share, self._bucket, self._started = share, bucket, time.thread_time_ns()
        self._used: list[Work | LocalEngine] = []
        self.using = self._used.append
        """Takes what works in the bucket."""

    def told(self, matches: int) -> Told:
        """What was done for so many matches."""
        (used,) = self._used
        if isinstance(used, LocalEngine):
            made = dict(zip(self._share.units, (dict(enumerate(each)) for each in used.work), strict=False))
            given = used.next_number
        else:
            made, given = {self._share.units[0]: used.bucket_work()}, used.received
        operators = {(unit, number): work for unit, numbered in made.items() for number, work in numbered.items()}
        kept = [(work.kept_most, work.memory) for work in operators.values()]
        rows, memory = (sum(each) for each in zip(*kept, strict=True)) if kept else (0, 0)
        work = Metrics(given, matches, rows, time.thread_time_ns() - self._started, memory)
        return Told(self._share.number, self._bucket, work, peak_memory(), operators)


def ran(job: Job, told: Sequence[Told]) -> Ran:
    """What a run did, given what its tasks tell."""
    readers = [each for each in told if each.share == READING]
    stages = [_stage("reading", len(readers), [TaskRun(n, each.work, each.peak_memory) for n, each in enumerate(readers)])]
    for share in job.shares:
        mine = sorted((each for each in told if each.share == share.number), key=lambda each: each.place)
        queries = " and ".join(str(job.plan.units[unit].number + 1) for unit in share.units)
        tasks = [TaskRun(each.place, each.work, each.peak_memory) for each in mine]
        stages.append(_stage(f"buckets of query {queries}", places_of(share, job.hot.get(share.number, ())), tasks))
    parts: defaultdict[tuple[int, int], list[tuple[int, Metrics]]] = defaultdict(list)
    for each in told:
        for at, work in each.operators.items():
            parts[at].append((each.share, work))
    numbers = [[(unit, number) for number, _ in enumerate(nodes(plan.root))] for unit, plan in enumerate(job.plan.units)]
    places = {READING: len(readers), **{s.number: places_of(s, job.hot.get(s.number, ())) for s in job.shares}}
    return Ran(
        [[Metrics.together(work for _, work in parts[at]) for at in unit] for unit in numbers],
        max((each.peak_memory for each in told if each.peak_memory is not None), default=None),
        [[_skew(parts[at], places) for at in unit] for unit in numbers],
        stages,
    )


def _stage(name: str, places: int, tasks: Sequence[TaskRun]) -> StageRun:
    return StageRun(name, tuple(tasks), Skew.of(places, [task.work for task in tasks]))


def _skew(parts: Iterable[tuple[int, Metrics]], places: Mapping[int, int]) -> Skew | None:
    """Of an operator among the tasks of the stage in which it works; None where that is one task."""
    worked = [(share, work) for share, work in parts if work.worked]
    stages = {share for share, _ in worked}
    if len(stages) != 1 or (count := places[stages.pop()]) < 2:
        return None
    return Skew.of(count, [work for _, work in worked])
