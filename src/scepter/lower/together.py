"""Several checked queries as one: run together over the same streams, each told by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeVar

from scepter.algebra.query import Program
from scepter.errors import QueryError, Source, Span, option_error
from scepter.lower.circles import refuse_circle
from scepter.lower.result import Lowered
from scepter.rdf.terms import IRI

_T = TypeVar("_T")


def together(queries: Mapping[str, Lowered]) -> Lowered:
    """Queries by their names as one; those of a file that holds several are numbered behind its name.

    Streams are shared by their IRIs, and one query may read what another constructs. Raises QueryError where they feed each
    other in a circle.

    >>> from scepter.lower import lower
    >>> one = lower("SELECT ?x WHERE { ?x ?p ?o }", "ep-sparql")
    >>> together({"a": one, "b": one}).names
    ('a', 'b')
    """
    if not queries:
        raise option_error("query", "there is no query", help="give at least one")
    source = Source.joined(lowered.source for lowered in queries.values())
    starts = [0]
    for lowered in queries.values():
        starts.append(starts[-1] + len(lowered.source.text) + 1)
    parts = [_shifted(lowered, at) for lowered, at in zip(queries.values(), starts, strict=False)]
    languages = tuple(dict.fromkeys(part.language for part in parts))
    joined = replace(
        parts[0],
        program=Program(tuple(unit for part in parts for unit in part.program.units)),
        language=" and ".join(languages),
        languages=languages,
        source=source,
        prefixes=_agreed(part.prefixes for part in parts),
        every_stream=any(part.every_stream for part in parts),
        policies=_policies(parts),
        takes_evaluate_at=any(part.takes_evaluate_at for part in parts),
        constructs=any(part.constructs for part in parts),
        occurrences=any(part.occurrences for part in parts),
        asks=any(part.asks for part in parts),
        names=tuple(chain.from_iterable(map(_names, queries, parts))),
        variables=tuple(dict.fromkeys(name for part in parts for name in part.variables)),
        **{
            name: tuple(each for part in parts for each in getattr(part, name))
            for name in ("warnings", "graphs", "streams", "static", "words")
        },
    )
    try:
        _refuse_circles(joined)
    except QueryError as error:
        raise QueryError(error.diagnostic, source) from None
    return joined


def called(paths: Sequence[str]) -> list[str]:
    """What queries are called by the files they stand in: without folder and extension where that tells them apart.

    >>> called(["rules/fall.spaseq", "rise.epsparql"]), called(["a/fall.spaseq", "fall.epsparql"])
    (['fall', 'rise'], ['fall.spaseq', 'fall.epsparql'])
    """
    for names in ([PurePath(path).stem for path in paths], [PurePath(path).name for path in paths]):
        if len(set(names)) == len(names):
            return names
    seen: Counter[str] = Counter()
    unique = []
    for path in paths:
        seen[path] += 1
        unique.append(path if seen[path] == 1 else f"{path}#{seen[path]}")
    return unique


def _names(name: str, part: Lowered) -> list[str]:
    if len(part.names) == 1:
        return [name]
    return [f"{name}#{number if own is None else own}" for number, own in enumerate(part.names, 1)]


def _agreed(given: Iterable[tuple[tuple[str, str], ...]]) -> tuple[tuple[str, str], ...]:
    """The prefixes that mean one thing wherever they are declared."""
    meant: dict[str, set[str]] = {}
    for prefixes in given:
        for prefix, namespace in prefixes:
            meant.setdefault(prefix, set()).add(namespace)
    return tuple((prefix, *namespaces) for prefix, namespaces in meant.items() if len(namespaces) == 1)  # type: ignore[misc]


def _policies(parts: Sequence[Lowered]) -> tuple[str, ...]:
    """Those that every query takes which takes any: the others say themselves what they select."""
    asked = [part.policies for part in parts if part.policies]
    return tuple(policy for policy in asked[0] if all(policy in other for other in asked)) if asked else ()


def _refuse_circles(joined: Lowered) -> None:
    feeds: dict[IRI, set[IRI]] = {}
    spans = {stream.iri: stream.span for stream in joined.streams}
    for unit in joined.program.units:
        if unit.into is not None:
            for stream in unit.streams:
                feeds.setdefault(stream.iri, set()).add(unit.into)
    for made in sorted(joined.derived, key=str):
        refuse_circle(made, spans.get(made) or Span(0, 1), feeds, "these queries")


def _shifted(node: _T, by: int) -> _T:
    """The same with every place moved on: the texts stand one behind the other."""
    moved: _T = _moved(node, by)
    return node if by == 0 else moved


def _moved(node: Any, by: int) -> Any:
    if isinstance(node, Span):
        return Span(node.start + by, node.end + by)
    if isinstance(node, tuple):
        moved = [_moved(each, by) for each in node]
        if all(a is b for a, b in zip(moved, node, strict=True)):
            return node
        return type(node)(*moved) if hasattr(node, "_fields") else tuple(moved)
    if not is_dataclass(node) or isinstance(node, (type, Source)):
        return node
    changed = {
        field.name: moved
        for field in fields(node)
        if field.init and (moved := _moved(old := getattr(node, field.name), by)) is not old
    }
    return replace(node, **changed) if changed else node
