"""Deterministic generators of the papers' workloads: the same seed gives the same bytes.

>>> [event.end for event in events("stocks", events=3)]
[0, 1, 2]
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Unpack

from scepter.generate import streams
from scepter.generate.files import Manifest, write_dataset
from scepter.generate.files import write_stream as _write_stream
from scepter.generate.model import Choices, FormatName, Settings, TimeName
from scepter.generate.streams import DATASETS, GeneratedEvent

__all__ = [
    "DATASETS",
    "Choices",
    "FormatName",
    "GeneratedEvent",
    "Manifest",
    "Settings",
    "TimeName",
    "events",
    "write",
    "write_stream",
]


def write(dataset: str, out_dir: Path | str, **choices: Unpack[Choices]) -> Manifest:
    """Write a dataset into a folder: a file per stream, `background.ttl`, `ontology.ttl` and example queries."""
    return write_dataset(dataset, Path(out_dir), Settings(**choices))


def write_stream(dataset: str, stream: str, file: BinaryIO, **choices: Unpack[Choices]) -> None:
    """Write one stream of a dataset, called by its IRI or short name, into an open file."""
    _write_stream(dataset, stream, file, Settings(**choices))


def events(dataset: str, **choices: Unpack[Choices]) -> Iterator[GeneratedEvent]:
    """The events of a dataset in memory, all streams together, in order of arrival."""
    settings = Settings(**choices)
    return streams.events(streams.planned(dataset, settings), settings)
