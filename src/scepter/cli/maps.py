"""`--map [NAME=]FILE` and `--context [NAME=]FILE`: what makes events of which stream's rows and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scepter.cli.inputs import Streams

if TYPE_CHECKING:
    from scepter.rdf.readers import Lift
    from scepter.rdf.times import TimeProperties


def assign_maps(
    query: Streams, maps: Sequence[str], contexts: Sequence[str], sources: Mapping[str, str], times: TimeProperties
) -> dict[str, Lift]:
    """The mappings and contexts by stream: one without a name is for all streams that have none of their own. Each is read and
    checked."""
    if not maps and not contexts:
        return {}
    from scepter.lift.context import load_context
    from scepter.lift.load import load_mapping
    from scepter.lift.reader import MappedReaders
    from scepter.runtime.maps import both_given

    found: dict[str | None, Lift] = {}
    for argument in contexts:
        name, path = _split(argument)
        found[None if name is None else query.resolve_stream(name)] = load_context(path)
    for argument in maps:
        name, path = _split(argument)
        stream = None if name is None else query.resolve_stream(name)
        mapped = MappedReaders(load_mapping(path))
        mapped.check(times)
        if stream is None and any(_split(each)[0] is None for each in contexts):
            raise both_given()
        found[stream] = mapped
    every = found.get(None)
    return {iri: lift for iri in sources if (lift := found.get(iri, every)) is not None}


def _split(argument: str) -> tuple[str | None, Path]:
    if Path(argument).exists() or "=" not in argument:
        return None, Path(argument)
    name, _, path = argument.rpartition("=")
    return name, Path(path)
