"""What the benchmarks have in common: a goal and what was measured, CPU time of work whose answer is known, the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """What was measured, and a goal if there is one: `least` for rates, `most` for times and ratios."""

    what: str
    value: float
    detail: str
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        """Whether the value is within its goal."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        goal = "no goal"
        if self.least is not None:
            goal = f"at least {self.least:,g}"
        elif self.most is not None:
            goal = f"at most {self.most:,g}"
        return f"{'ok  ' if self.met else 'MISS'} {self.what:62} {self.value:12,.2f} ({goal})  {self.detail}"


def cpu(work: Callable[[], int], wanted: int) -> float:
    """CPU seconds of some work whose answer is known; the better of two."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        found = work()
        best = min(best, time.process_time() - began)
        if found != wanted:
            raise AssertionError(f"{found} instead of {wanted}")
    return best


def report(results: Iterable[Measured]) -> int:
    """Print what was measured, as it comes; 1 if a goal is missed."""
    status = 0
    for result in results:
        print(result, flush=True)
        status |= not result.met
    return status
