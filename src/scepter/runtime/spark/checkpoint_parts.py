"""Spark's part of a checkpoint: how far its logs go, and whether what they tell of is there.

Spark finds out too late, or not at all: without its offsets it begins micro-batches whose numbers count as written, and a torn
log stops it with a long trace.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from scepter.runtime.spark.answers import damaged

_PARTITIONS: Final = "spark.sql.shuffle.partitions"


class Reached(NamedTuple):
    """The last micro-batches that a checkpoint tells of, -1 where there is none."""

    offset: int
    """Begun."""
    commit: int
    """Done."""


def checked(spark: Path, anew: str) -> Reached:
    """How far a checkpoint goes; OptionError where a part of it is missing or torn. `anew` says with what to start anew."""
    offset, commit = (last_batch(spark / log, anew) for log in ("offsets", "commits"))
    if commit > offset:
        raise damaged(str(spark), f"micro-batch {commit} is done and its offsets are not there", anew)
    if offset >= 0:
        if not (spark / "metadata").exists():
            raise damaged(str(spark), "its file `metadata` is not there", anew)
        _entry(spark, "metadata", anew)
    if commit >= 0:
        _check_state(spark, _partitions(spark, offset, anew), commit + 1, anew)
    return Reached(offset, commit)


def last_batch(log: Path, anew: str) -> int:
    """The last micro-batch of one of Spark's logs, -1 if it is empty; a torn entry is an error."""
    entries = [entry for entry in log.iterdir() if entry.name.isdigit()] if log.is_dir() else []
    if not entries:
        return -1
    last = max(int(entry.name) for entry in entries)
    _entry(log.parent, f"{log.name}/{last}", anew)
    return last


def forget_sums(spark: Path) -> None:
    """Hadoop writes the checksum of a file as a second one. The metadata of state is written anew, with other names in it, by
    every start that does the same micro-batch; a run that was killed between its two renames left a sum of the file before, and
    no later start could read it. The file itself takes its place in one step, and Spark parses all of it. The sum of an entry
    that is not there is in the way of the one that takes its place: Spark would take it for the work of a second run."""
    for sums in (spark / "state").glob("*/_metadata/*/.*.crc"):
        sums.unlink(missing_ok=True)
    for log in ("offsets", "commits"):
        for sums in (spark / log).glob(".*.crc"):
            if not (spark / log / sums.name[1 : -len(sums.suffix)]).exists():
                sums.unlink(missing_ok=True)


def _check_state(spark: Path, partitions: int, version: int, anew: str) -> None:
    """Every stateful operator has written something in each of its partitions when a micro-batch is done, and the store's
    version that the next one begins with is there."""
    operators = sorted(path for path in (spark / "state").glob("*") if path.name.isdigit())
    if not operators:
        raise damaged(str(spark), "its folder `state` is not there, or empty", anew)
    for operator in operators:
        for part in ("_metadata", *map(str, range(partitions))):
            if not any((operator / part).glob("*")):
                raise damaged(str(spark), f"its folder `state/{operator.name}/{part}` is not there, or empty", anew)
        told = [entry for entry in (operator / "_metadata").glob("v*/*") if entry.name.isdigit()]
        if told:
            last = max(told, key=lambda entry: int(entry.name))
            _entry(spark, str(last.relative_to(spark)), anew)
        for number in range(partitions):
            _check_store(spark, f"state/{operator.name}/{number}", version, anew)


def _check_store(spark: Path, part: str, version: int, anew: str) -> None:
    """A version of RocksDB's is a log of changes, or a zip that names the files it consists of. Spark reads what is in them."""
    there = [path.name for path in (spark / part).glob(f"{version}[._]*")]
    if not there:
        raise damaged(str(spark), f"its folder `{part}` has no state behind micro-batch {version - 1}", anew)
    if there != [f"{version}.zip"]:
        return
    try:
        with zipfile.ZipFile(spark / part / there[0]) as whole:
            _, told, *_ = whole.read("metadata").decode().splitlines()
            files = [file["dfsSstFileName"] for file in json.loads(told)["sstFiles"]]
    except zipfile.BadZipFile:
        raise damaged(str(spark), f"{part}/{there[0]} is torn", anew) from None
    except (KeyError, TypeError, ValueError):  # another version of Spark writes it in another way
        return
    for file in files:
        if not (spark / part / "SSTs" / file).exists():
            raise damaged(str(spark), f"{part}/SSTs/{file} is not there", anew)


def _partitions(spark: Path, offset: int, anew: str) -> int:
    """How many partitions its state has: as many as the run had at its first start, which each of its offsets tells."""
    told, *_ = _entry(spark, f"offsets/{offset}", anew)
    return int(told.get("conf", {}).get(_PARTITIONS, 0)) if isinstance(told, dict) else 0


def _entry(spark: Path, name: str, anew: str) -> Sequence[Any]:
    """What one of Spark's small files says: a line of its version, and lines of JSON; "-" stands for nothing."""
    try:
        lines = (spark / name).read_text(encoding="utf-8").splitlines()
        version, told = ("v1", lines) if name == "metadata" else (lines[0], lines[1:])
        if version.startswith("v") and told:
            return [None if line == "-" else json.loads(line) for line in told]
    except (ValueError, IndexError):
        pass
    raise damaged(str(spark), f"{name} is torn", anew)
