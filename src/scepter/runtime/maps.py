"""`map=`: the mappings of a run's streams, as a program gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from scepter.errors import option_error
from scepter.lift.load import load_mapping
from scepter.lift.model import Mapping as RowMapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.times import TimeProperties
from scepter.runtime.queries import Query

OneMap: TypeAlias = str | Path | RowMapping
MapGiven: TypeAlias = OneMap | Mapping[str, OneMap] | None
"""A mapping for all streams, or one for each by name."""


def lifts_of(query: Query, given: MapGiven, streams: Iterable[str], times: TimeProperties) -> dict[str, MappedReaders]:
    """The mappings by the IRIs of streams, each read and checked."""
    if given is None:
        return {}
    named = dict(given) if isinstance(given, Mapping) else dict.fromkeys(streams, given)
    if not named:
        mapped(given, times)  # what is wrong with it is told all the same
    return {resolved(query, name): mapped(each, times) for name, each in named.items()}


def resolved(query: Query, name: str) -> str:
    """The IRI of a stream, which a query that reads every stream may not name."""
    if not isinstance(name, str):
        raise option_error("mapping", f"{name!r} names no stream", help="write map={'name of the stream': mapping}")
    return name if query.lowered.every_stream else query.resolve_stream(name)


def mapped(given: object, times: TimeProperties) -> MappedReaders:
    """One mapping; OptionError for what is none."""
    if not isinstance(given, (str, Path, RowMapping)):
        raise option_error(
            "mapping",
            f"map cannot be {type(given).__name__}",
            help="give the path of a YARRRML or RML file, its text, or a dictionary of them by stream",
        )
    readers = MappedReaders(load_mapping(given))
    readers.check(times)
    return readers
