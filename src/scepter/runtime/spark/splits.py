"""Splits: pieces of sources that a reading task takes, each event in exactly one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scepter.runtime.spark.ranges import Range, plan_ranges, read_range

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import EventSource

OpenSource = Callable[[str], EventSource]
"""How a worker opens a source by its name."""
_RANGED = (".nq", ".nquads", ".nt")
_AT_LEAST = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Split:
    """A source, or a range of bytes of an N-Quads file (`stop` not below 0)."""

    stream: int
    source: str
    start: int = 0
    stop: int = -1


def plan_splits(stream: int, source: str, paths: list[Path], parts: int) -> list[Split]:
    """Cut a source into about `parts` pieces: N-Quads by bytes, other formats by file."""
    splits: list[Split] = []
    ranged = [path for path in paths if path.suffix in _RANGED]
    for piece in plan_ranges(ranged, at_least=_AT_LEAST, parts=parts):
        splits.append(Split(stream, str(piece.path), piece.start, piece.stop))
    others = [path for path in paths if path.suffix not in _RANGED]
    splits += [Split(stream, str(path)) for path in others]
    return splits if paths else [Split(stream, source)]


def read_split(
    split: Split, open_source: OpenSource, key: TermKey, predicates: frozenset[int] | None, run: ReadState,
    report: Callable[[DeadLetter], None],
) -> Iterator[EventBatch]:  # fmt: skip
    """The batches of a split."""
    if split.stop >= 0:
        piece = Range(Path(split.source), split.start, split.stop)
        return read_range(piece, key, split.stream, report, predicates=predicates, run=run)
    return open_source(split.source).batches(key, split.stream, report, predicates=predicates, run=run)
