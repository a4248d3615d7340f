"""What `scepter doctor` looks at: each finding says what there is, and where something is missing, what to do."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import Final

from scepter.compiled import place
from scepter.runtime.spark.java import LEAST_JAVA, find_java

_ROOM: Final = 1 << 30
"""Bytes that a folder for temporary files ought to have."""
_REQUIRED: Final = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?:\[[^\]]*\])?(?P<range>[^;]*)(?:;(?P<marker>.*))?")
_EXTRAS: Final = {
    "polars": ("polars", "Matches.to_polars"),
    "owl": ("owlready2", "OBEP beyond the rules' fragment"),
    "bench": ("duckdb", "the yardsticks of scepter bench"),
}
"""Extra -> a package it brings, and what it is for."""


class State(Enum):
    """How a finding bears on runs."""

    FINE = "ok"
    ABSENT = "absent"
    """What only some want."""
    LIMITED = "limited"
    """Some runs are slower, or do not go."""
    BROKEN = "broken"
    """No run goes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    state: State
    what: str
    found: str
    advice: str = ""
    lost: str = ""
    """In a word, what a limit takes away."""


def examine() -> Iterator[Finding]:
    """All findings, in the order in which a run needs what they are about."""
    yield Finding(State.FINE, "scepter", f"{metadata.version('scepter')}, {_place()}")
    yield _python()
    yield from packages()
    yield kernels()
    yield grammars()
    yield temporary()
    yield java()
    yield spark()
    yield from extras()


def _place() -> str:
    import scepter

    return str(Path(scepter.__file__).parent)


def _python() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    told = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {cores} cores"
    return Finding(State.FINE, "Python", told)


def packages() -> Iterator[Finding]:
    """The packages that Scepter depends on, each in its range."""
    for text in metadata.requires("scepter") or []:
        asked = _REQUIRED.fullmatch(text.replace(" ", ""))
        if asked is None or asked["marker"] or asked["name"] == "pyspark":  # extras, and what has a finding of its own
            continue
        yield package(asked["name"], asked["range"])


def package(name: str, wanted: str) -> Finding:
    """Whether a package is there, in a range such as `>=1.2,<2`."""
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(State.BROKEN, name, "is not installed", f"pip install '{name}{wanted}'")
    if not in_range(found, wanted):
        return Finding(State.LIMITED, name, f"{found}, wanted {wanted}", f"pip install '{name}{wanted}'", lost=f"tested {name}")
    return Finding(State.FINE, name, found)


def in_range(version: str, wanted: str) -> bool:
    """Whether a version is in a range.

    >>> in_range("1.10.2", ">=1.2,<2"), in_range("2.0", ">=1.2,<2"), in_range("1.0rc1", "")
    (True, False, True)
    """

    def numbers(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", text)[0])]

    for part in filter(None, wanted.split(",")):
        sign, bound = re.match(r"(>=|<=|==|<|>|!=|~=)?(.*)", part).groups()  # type: ignore[union-attr]
        have, ask = numbers(version), numbers(bound)
        if (sign == ">=" and have < ask) or (sign == "<" and have[: len(ask)] >= ask):
            return False
    return True


def kernels() -> Finding:
    """Where numba keeps compiled kernels: beside the source, or in a folder of the user's."""
    sources, folder = Path(_place()), place()
    beside = folder.is_relative_to(sources)
    kept = sum(1 for _ in (sources if beside else folder).rglob("*.nbi"))
    told = f"kept in {sources if beside else folder}, {kept} so far"
    if folder.is_relative_to(tempfile.gettempdir()) or not writable(folder):
        advice = "set NUMBA_CACHE_DIR to a folder that stays: else kernels are compiled anew when it is emptied"
        return Finding(State.LIMITED, "kernels", told, advice, lost="lasting kernels")
    return Finding(State.FINE, "kernels", told)


def grammars() -> Finding:
    """Where parsers and indexes of large background files are kept."""
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(given) if given else Path.home() / ".cache") / "scepter"
    except RuntimeError:
        return Finding(State.LIMITED, "cache", "there is no home folder", "set HOME or XDG_CACHE_HOME", lost="quick start")
    if writable(folder):
        return Finding(State.FINE, "cache", str(folder))
    return Finding(
        State.LIMITED,
        "cache",
        f"{folder} cannot be written",
        "set XDG_CACHE_HOME to a folder that can be written",
        "quick start",
    )


def writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or it can be made."""
    here = next((place for place in (folder, *folder.parents) if place.exists()), None)
    if here is None or not here.is_dir():
        return False
    try:
        with tempfile.NamedTemporaryFile(dir=here, prefix=".scepter-"):
            return True
    except OSError:
        return False


def temporary() -> Finding:
    """The folder for temporary files, and its room."""
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError:
        return Finding(State.BROKEN, "temporary", "there is no folder for temporary files", "set TMPDIR to one")
    free = shutil.disk_usage(folder).free
    told = f"{folder}, {free / 1e9:.1f} GB free"
    if free < _ROOM:
        return Finding(
            State.LIMITED, "temporary", told, "make room, or set TMPDIR: Spark's shuffles go there", lost="room for Spark"
        )
    return Finding(State.FINE, "temporary", told)


def java() -> Finding:
    """The Java that Spark will start."""
    found = find_java()
    ought = f"install Java {LEAST_JAVA} or later, or pip install 'scepter[jdk]'"
    if found is None:
        return Finding(State.LIMITED, "Java", "there is none", ought, lost="Spark (no Java)")
    home, where = found
    version = java_version(home)
    if version is None:
        return Finding(State.LIMITED, "Java", f"{home} ({where}) does not start", ought, lost="Spark (no Java that starts)")
    major = int(re.findall(r"\d+", version.removeprefix("1."))[0])
    told = f"{version} in {home} (from {where})"
    if major < LEAST_JAVA:
        return Finding(State.LIMITED, "Java", f"{told}, and Spark needs {LEAST_JAVA}", ought, lost="Spark (Java is too old)")
    return Finding(State.FINE, "Java", told)


def java_version(home: Path) -> str | None:
    """What a JVM says of itself; None where it says nothing."""
    try:
        said = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d[^"]*)"', said.stderr + said.stdout)
    return found[1] if found else None


def spark() -> Finding:
    """The Spark that comes with pyspark, or that SPARK_HOME names."""
    (wanted,) = [text for text in metadata.requires("scepter") or [] if text.startswith("pyspark")]
    found = package("pyspark", wanted.replace(" ", "").removeprefix("pyspark"))
    if found.state is State.BROKEN:
        return Finding(State.LIMITED, "Spark", "pyspark is not installed", found.advice, lost="Spark")
    given = os.environ.get("SPARK_HOME")
    if given and not (Path(given) / "bin" / "spark-submit").is_file():
        return Finding(
            State.LIMITED, "Spark", f"SPARK_HOME is {given}, and no Spark is there", "unset SPARK_HOME", lost="Spark"
        )
    told = f"{found.found}" + (f", SPARK_HOME={given}" if given else "")
    return Finding(found.state, "Spark", told, found.advice, found.lost and "tested Spark")


def extras() -> Iterator[Finding]:
    """What can be installed besides."""
    for extra, (name, purpose) in _EXTRAS.items():
        if importlib.util.find_spec(name) is None:
            yield Finding(State.ABSENT, f"[{extra}]", f"for {purpose}: pip install 'scepter[{extra}]'")
        else:
            yield Finding(State.FINE, f"[{extra}]", f"{name} {metadata.version(name)}, for {purpose}")
