"""Which engine runs a query where nobody names one: this process, unless an option or the size of the input asks for Spark."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Final

from scepter.runtime.spark.java import find_java

AUTO: Final = "auto"
_LARGE: Final = 2_000_000_000
"""Bytes of text that one process reads in about a minute: here a second core has earned the start of a JVM
(docs/benchmarks/spark.md)."""
_PACKED: Final = 10
"""How much text a byte of gzip or Parquet stands for, about."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine, and why it was chosen."""

    engine: str
    why: str

    def line(self) -> str:
        """The choice as a person is told it.

        >>> Choice("local", "390 bytes of input").line()
        'engine: local, for 390 bytes of input'
        """
        return f"engine: {self.engine}, for {self.why}"


def choose_engine(asking: Sequence[str], sources: Collection[str], *, stay: bool = False) -> Choice:
    """The engine of a run for which none was named. `asking` are the options given that need Spark; `stay`, whether the run
    is looked at in this process.

    >>> choose_engine(["--master"], [])
    Choice(engine='spark', why='--master')
    """
    if asking:
        return Choice("spark", " and ".join(asking))
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return Choice("spark", "spark-submit, which has started it")
    size = input_bytes(sources)
    if size is None:
        return Choice("local", "input that is read as it comes")
    told = f"{size_text(size)} of input"
    if stay or size < _LARGE:
        return Choice("local", told)
    if _cores() < 2:
        return Choice("local", f"{told} on one core")
    if find_java() is None:
        return Choice("local", f"{told}: enough for Spark, but there is no Java; pip install 'scepter[jdk]' brings one")
    return Choice("spark", f"{told} on {_cores()} cores; --engine local stays in this process")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def input_bytes(sources: Collection[str]) -> int | None:
    """How much text the sources hold, about; None where nobody knows before it is read. A file that is missing counts nothing:
    whoever opens it tells."""
    if any(source == "-" or "://" in source for source in sources):
        return None
    places = [Path(place) for source in sources for place in glob(source) or [source]]  # noqa: PTH207 - absolute ones too
    files = [file for place in places for file in (place.iterdir() if place.is_dir() else [place])]
    if any(file.is_fifo() for file in files):
        return None
    return sum(file.stat().st_size * (_PACKED if _is_packed(file) else 1) for file in files if file.is_file())


def _is_packed(file: Path) -> bool:
    return file.suffix.lower() in (".gz", ".parquet")


def size_text(size: int) -> str:
    """A number of bytes for a person.

    >>> size_text(390), size_text(64_000), size_text(3_140_000_000)
    ('390 bytes', '64 kB', '3.1 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.2g} {name}" if size < 10 * unit else f"{size // unit} {name}"
    return f"{size} bytes" if size != 1 else "1 byte"
