"""What can run a point: engines of Scepter, and yardsticks. Each is a module with `prepared`.

A contender is set up once per process; what it gives back then does the whole work, from text to a count, as often as it is
called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Final, TypeAlias

from scepter.bench.model import Point
from scepter.errors import option_error


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one run: how many, the rows of state at most, and what else there is to tell."""

    answers: int
    state: int | None = None
    extra: Mapping[str, float] = field(default_factory=dict)


Work: TypeAlias = Callable[[Point], Outcome]
"""Runs a point: the one to measure, and before it one with a short input, which warms it up."""

NEEDS: Final[dict[str, str | None]] = {
    "local": None,
    "written": None,
    "push": None,
    "followed": None,
    "scan": None,
    "spark": None,
    "tasks": None,
    "live": None,
    "command": None,
    "micro-batches": None,
    "empty-micro-batches": None,
    "pyoxigraph": "pyoxigraph",
    "pyoxigraph-windows": "pyoxigraph",
    "pandas": "pandas",
    "duckdb": "duckdb",
    "duckdb-written": "duckdb",
    "spark-join": None,
    "flink": None,
}
"""The contenders, and the package without which a yardstick is left out."""

_MODULES: Final = {
    "written": "local",
    "duckdb-written": "duckdb",
    "pyoxigraph-windows": "pyoxigraph_windows",
    "live": "spark_live",
    "micro-batches": "spark_live",
    "empty-micro-batches": "spark_live",
    "spark-join": "spark_join",
}


def missing(contender: str) -> str | None:
    """Why a contender cannot run here; None if it can."""
    needed = NEEDS[contender]
    if needed is not None and find_spec(needed) is None:
        return f"{needed} is not installed (pip install 'scepter[bench]')"
    if contender == "flink":
        from scepter.bench.contenders.flink import absent

        return absent()
    return None


def contender(name: str) -> Work:
    """The contender of that name, set up."""
    if name not in NEEDS:
        raise option_error("contender", f"nothing called {name!r} can run a workload")
    module = import_module(f"scepter.bench.contenders.{_MODULES.get(name, name)}")
    work: Work = module.prepared(name)
    return work
