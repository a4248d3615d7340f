"""Background knowledge for a run: from files or text, checked against what the query names."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from scepter.errors import Diagnostic, OptionError, QueryError, a_type, option_error
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.background import Background
from scepter.lower import NamedGraph
from scepter.rdf.files import check_name
from scepter.rdf.formats import load_graph, parse_graph
from scepter.rdf.indexing import Malformed, Progress, stored
from scepter.rdf.terms import Triple
from scepter.runtime.queries import Query

Static: TypeAlias = str | Path
"""A path, or Turtle text if it contains a newline."""
BackgroundGiven: TypeAlias = Static | Mapping[str | None, Static | Iterable[Static]] | None
OntologyGiven: TypeAlias = Static | Iterable[Static] | None
_GRAPHS = "give a file, Turtle text, or a dict from each graph's IRI (None: the default graph) to its files"
_LARGE = 2**20
"""Files from so many bytes on are indexed once and mapped into memory."""


def load_background(
    query: Query, given: BackgroundGiven, ontology: OntologyGiven = None, progress: Progress | None = None
) -> Background:
    """The static graphs of a run; a graph the query names and nobody gave is an error. What `FROM <iri>` names may also be
    the ontology that is given. `progress` hears how far the indexing of a large file is."""
    graphs = _by_name(given)
    for word, needed in (("GRAPH", query.lowered.graphs), ("FROM", query.lowered.static if not _as_list(ontology) else ())):
        for graph in needed:
            if graph.iri.value not in graphs:
                raise _missing_graph(query, word, graph, list(graphs))
    loaded = {name: _graph(f"g{i}", parts, progress) for i, (name, parts) in enumerate(graphs.items())}
    return Background(loaded.pop(None, []), {name: triples for name, triples in loaded.items() if name is not None})


def _missing_graph(query: Query, word: str, graph: NamedGraph, given: list[str | None]) -> QueryError:
    known = ", ".join(f"<{name}>" for name in given if name) or "none"
    known += "; a file without IRI= is in the default graph" if None in given else ""
    schema = ", or --ontology FILE for a schema" if word == "FROM" else ""
    return QueryError(
        Diagnostic(
            "missing-graph",
            f"{word} <{graph.iri.value}> is a background graph that was not given",
            graph.span,
            f"add --background {graph.iri.value}=FILE{schema}, in Python background={{{graph.iri.value!r}: FILE}} "
            f"(named graphs given: {known})",
        ),
        query.lowered.source,
    )


def load_ontology(query: Query, given: OntologyGiven) -> tuple[Triple, ...]:
    """The schema of a run."""
    return tuple(_load("schema", _as_list(given)))


def _by_name(given: BackgroundGiven) -> dict[str | None, list[Static]]:
    if given is None:
        return {}
    if isinstance(given, (str, Path)):
        return {None: [_named(given)]}
    if not isinstance(given, Mapping):
        raise option_error("background", f"background graphs are not given as {a_type(given)}", help=_GRAPHS)
    return {name or None: _as_list(parts) for name, parts in given.items()}


def _as_list(parts: Static | Iterable[Static] | None) -> list[Static]:
    if parts is None:
        return []
    found = [parts] if isinstance(parts, (str, Path)) else list(parts) if isinstance(parts, Iterable) else [parts]
    for part in found:
        if not isinstance(part, (str, Path)):
            raise option_error("static", f"{part!r} is neither a file's name nor Turtle text", help=_GRAPHS)
        if not _is_text(_named(part)) and not Path(part).is_file():
            what = "is a folder" if Path(part).is_dir() else "is no file"
            raise option_error("no-such-file", f"{part} {what}", help="Turtle given as text holds a line end")
    return found


def _graph(label: str, parts: list[Static], progress: Progress | None) -> Iterable[Triple]:
    """A large file stays in columns; what its fast reader does not know is read by the other, which says what is wrong."""
    match parts:
        case [part] if not _is_text(part) and (path := Path(part)).is_file() and path.stat().st_size >= _LARGE:
            try:
                return StoredGraph(stored(path, progress), f"{label}x0x")
            except (Malformed, KeyError, OSError, EOFError, zlib.error):
                return _load(label, parts)
        case _:
            return _load(label, parts)


def _named(part: Static) -> Static:
    if not _is_text(part):
        check_name(str(part))
    return part


def _is_text(part: Static) -> bool:
    return isinstance(part, str) and "\n" in part


def _load(label: str, parts: list[Static]) -> list[Triple]:
    triples: list[Triple] = []
    for number, part in enumerate(parts):
        # blank nodes are scoped to one file: a label of its own keeps two files apart, and both from the events
        scope = f"{label}x{number}x"
        if isinstance(part, str) and _is_text(part):
            triples += parse_text(part, scope)
        else:
            triples += load_graph(Path(part), scope)
    return triples


def parse_text(text: str, scope: str) -> list[Triple]:
    """Turtle given as text."""
    try:
        return parse_graph(text, scope=scope)
    except ValueError as error:
        raise OptionError(Diagnostic("turtle", f"the Turtle text given is not valid: {error}")) from None
