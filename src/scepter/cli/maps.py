"""`--map [NAME=]FILE`: which mapping makes events of which stream's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scepter.cli.inputs import Streams

if TYPE_CHECKING:
    from scepter.lift.reader import MappedReaders
    from scepter.rdf.times import TimeProperties


def assign_maps(
    query: Streams, given: Sequence[str], sources: Mapping[str, str], times: TimeProperties
) -> dict[str, MappedReaders]:
    """The mappings by stream: one without a name is for all streams that have none of their own. Each is read and checked."""
    if not given:
        return {}
    from scepter.lift.load import load_mapping
    from scepter.lift.reader import MappedReaders

    found: dict[str | None, MappedReaders] = {}
    for argument in given:
        name, path = _split(argument)
        stream = None if name is None else query.resolve_stream(name)
        found[stream] = MappedReaders(load_mapping(path))
        found[stream].check(times)
    every = found.get(None)
    return {iri: lift for iri in sources if (lift := found.get(iri, every)) is not None}


def _split(argument: str) -> tuple[str | None, Path]:
    if Path(argument).exists() or "=" not in argument:
        return None, Path(argument)
    name, _, path = argument.rpartition("=")
    return name, Path(path)
