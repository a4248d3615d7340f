"""What an operator of a plan did in a run, for `explain --analyze`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Metrics:
    """Rows that came and went, how much was kept at most and what memory that took, and CPU time."""

    rows_in: int = 0
    """Of a leaf: events."""
    rows_out: int = 0
    """Of the root: matches."""
    kept_most: int = 0
    cpu: int = 0
    """Nanoseconds; 0 unless measured."""
    memory: int = 0
    """Bytes of the columns of what was kept at most, without the texts of terms; 0 unless measured."""

    def count(self, rows_in: int, rows_out: int, cpu: int) -> None:
        """A step more."""
        self.rows_in += rows_in
        self.rows_out += rows_out
        self.cpu += cpu

    @classmethod
    def together(cls, parts: Iterable[Metrics]) -> Metrics:
        """What the same operator did in several places, at different times: kept at most is what one of them kept.

        >>> Metrics.together([Metrics(3, 1, 5), Metrics(4, 2, 7)])
        Metrics(rows_in=7, rows_out=3, kept_most=7, cpu=0, memory=0)
        """
        found = cls()
        for part in parts:
            found.count(part.rows_in, part.rows_out, part.cpu)
            found.kept_most = max(found.kept_most, part.kept_most)
            found.memory = max(found.memory, part.memory)
        return found

    @property
    def worked(self) -> bool:
        """Whether anything came to it or from it."""
        return bool(self.rows_in or self.rows_out)

    def text(self) -> str:
        """In one line.

        >>> Metrics(10, 3, 5, 1_500_000, 420_000).text()
        'rows in 10, out 3, kept at most 5 (420.0 kB), CPU 1.5 ms'
        """
        kept = f"{self.kept_most:,}" + (f" ({self.memory / 1e3:,.1f} kB)" if self.memory else "")
        return f"rows in {self.rows_in:,}, out {self.rows_out:,}, kept at most {kept}, CPU {self.cpu / 1e6:,.1f} ms"


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly work is divided: what the place with the most has, as a multiple of the mean of all places."""

    places: int
    """Tasks of a stage, buckets of a key; also those that were given nothing."""
    rows: float
    cpu: float

    @classmethod
    def of(cls, places: int, parts: Sequence[Metrics]) -> Skew:
        """Of rows in and of CPU time.

        >>> Skew.of(4, [Metrics(6), Metrics(2)])
        Skew(places=4, rows=3.0, cpu=1.0)
        """
        return cls(places, _ratio(places, [part.rows_in for part in parts]), _ratio(places, [part.cpu for part in parts]))

    def text(self) -> str:
        """In one line.

        >>> Skew(4, 3.0, 1.25).text()
        'skew over 4 places: rows 3.0, CPU 1.2 times the mean'
        """
        return f"skew over {self.places} places: rows {self.rows:.1f}, CPU {self.cpu:.1f} times the mean"


def _ratio(places: int, counts: Sequence[int]) -> float:
    total = sum(counts)
    return round(max(counts) * places / total, 3) if total else 1.0


@dataclass(frozen=True, slots=True)
class StageRun:
    """What a stage of a run on Spark did: the tasks that read events, or the buckets of some units."""

    name: str
    tasks: tuple[TaskRun, ...]
    skew: Skew
    """Of its rows in and its CPU time."""

    @property
    def total(self) -> Metrics:
        """All tasks together."""
        return Metrics.together(task.work for task in self.tasks)


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One task of a stage: rows that it was given and gave, what its operators kept at most, all of its CPU time."""

    place: int
    """Its number; of a bucket, the bucket's."""
    work: Metrics
    peak_memory: int | None
    """Bytes that its process had at most."""
