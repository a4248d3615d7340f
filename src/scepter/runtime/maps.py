"""`map=` and `context=`: what makes events of the rows and documents of a run's streams, as a program gives it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from scepter.errors import OptionError, option_error
from scepter.lift.context import load_context
from scepter.lift.load import load_mapping
from scepter.lift.model import Mapping as RowMapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.readers import Lift
from scepter.rdf.times import TimeProperties
from scepter.runtime.queries import Query

OneMap: TypeAlias = str | Path | RowMapping | Mapping[str, Any]
"""A file, its text, or what YAML makes of a mapping in YARRRML: a dictionary with the key `mappings`."""
MapGiven: TypeAlias = OneMap | Mapping[str, OneMap] | None
"""A mapping for all streams, or one for each by name."""
ContextGiven: TypeAlias = str | Path | Mapping[str, Any] | list[Any] | None
"""A JSON-LD context for all streams that have no mapping (a file, its text, a dictionary), or one for each by name."""


def lifts_of(
    query: Query, given: MapGiven, streams: Iterable[str], times: TimeProperties, context: ContextGiven = None
) -> dict[str, Lift]:
    """The mappings and contexts by the IRIs of streams, each read and checked."""
    streams = list(streams)
    found: dict[str, Lift] = {}
    if context is not None:
        by_name = _by_stream(query, context, streams) or dict.fromkeys(streams, context)
        found |= {resolved(query, name): load_context(each) for name, each in by_name.items()}
        if not by_name:
            load_context(context)  # what is wrong with it is told all the same
    if given is None:
        return found
    one = not isinstance(given, Mapping) or _is_mapping(given)
    named: dict[str, Any] = dict.fromkeys(streams, given) if one or not isinstance(given, Mapping) else dict(given)
    if not named:
        mapped(given, times)
    elif context is not None and one:
        raise both_given()
    return found | {resolved(query, name): mapped(each, times) for name, each in named.items()}


def both_given() -> OptionError:
    """The error for a mapping and a context over the same streams."""
    return option_error(
        "context",
        "a stream has a mapping or a context, and both are given for every stream",
        help="give one of them, or the mapping for its stream alone",
    )


def _by_stream(query: Query, given: ContextGiven, streams: Iterable[str]) -> dict[str, Any]:
    """Contexts by stream, if that is what a dictionary holds: all of its keys name streams of the query, or given ones."""
    if not isinstance(given, Mapping) or not given:
        return {}
    if query.lowered.every_stream and not set(given) <= set(streams):
        return {}  # any name would do as that of a stream
    try:
        for name in given:
            query.resolve_stream(name)
    except (OptionError, TypeError, AttributeError):
        return {}
    return dict(given)


def resolved(query: Query, name: str) -> str:
    """The IRI of a stream that has a mapping."""
    if not isinstance(name, str):
        raise option_error("mapping", f"{name!r} names no stream", help="write map={'name of the stream': mapping}")
    return query.resolve_stream(name)


def _is_mapping(given: object) -> bool:
    """Whether something is a mapping as YAML gives it, and no dictionary of mappings by stream."""
    return isinstance(given, Mapping) and isinstance(given.get("mappings"), Mapping)


def mapped(given: object, times: TimeProperties) -> MappedReaders:
    """One mapping; OptionError for what is none."""
    if _is_mapping(given):
        given = json.dumps(given, indent=1, default=str)  # JSON is YAML
    if not isinstance(given, (str, Path, RowMapping)):
        raise option_error(
            "mapping",
            f"map cannot be {type(given).__name__}",
            help="give the path of a YARRRML or RML file, its text, its dictionary, or a dictionary of them by stream",
        )
    readers = MappedReaders(load_mapping(given))
    readers.check(times)
    return readers
