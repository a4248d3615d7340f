"""Spark's part of a checkpoint: how far its logs go, and whether what they tell of is there.

Spark finds out too late, or not at all: without its offsets it begins micro-batches whose numbers count as written, and a torn
log stops it with a long trace.
"""

from __future__ import annotations

import json
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
        _entry(spark / "metadata", anew)
    if commit >= 0:
        _check_state(spark, _partitions(spark, offset, anew), anew)
    return Reached(offset, commit)


def last_batch(log: Path, anew: str) -> int:
    """The last micro-batch of one of Spark's logs, -1 if it is empty; a torn entry is an error."""
    entries = [entry for entry in log.iterdir() if entry.name.isdigit()] if log.is_dir() else []
    if not entries:
        return -1
    last = max(entries, key=lambda entry: int(entry.name))
    _entry(last, anew)
    return int(last.name)


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


def _check_state(spark: Path, partitions: int, anew: str) -> None:
    """Every stateful operator has written something in each of its partitions when a micro-batch is done."""
    operators = sorted(path for path in (spark / "state").glob("*") if path.name.isdigit())
    if not operators:
        raise damaged(str(spark), "its folder `state` is not there, or empty", anew)
    for operator in operators:
        for part in ("_metadata", *map(str, range(partitions))):
            if not any((operator / part).glob("*")):
                raise damaged(str(spark), f"its folder `state/{operator.name}/{part}` is not there, or empty", anew)


def _partitions(spark: Path, offset: int, anew: str) -> int:
    """How many partitions its state has: as many as the run had at its first start, which each of its offsets tells."""
    told, *_ = _entry(spark / "offsets" / str(offset), anew)
    return int(told.get("conf", {}).get(_PARTITIONS, 0)) if isinstance(told, dict) else 0


def _entry(path: Path, anew: str) -> Sequence[Any]:
    """What one of Spark's small files says: a line of its version, and lines of JSON; "-" stands for nothing."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        version, told = (lines[0], lines[1:]) if path.name.isdigit() else ("v1", lines)
        if version.startswith("v") and told:
            return [None if line == "-" else json.loads(line) for line in told]
    except (ValueError, IndexError):
        pass
    name = f"{path.parent.name}/{path.name}" if path.name.isdigit() else path.name
    raise damaged(str(path.parent.parent if path.name.isdigit() else path.parent), f"{name} is torn", anew)
