"""Graphs that vary in time (paper 003, Definitions 2 and 4): the query that reads them as streams of their versions.

A graph that varies is an element of the dataset as a window is, so it becomes one: a window that holds the last item of a
stream. After that nothing asks whether a graph varies: its versions are events, over history, live and by push.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Graph, Pattern
from scepter.algebra.query import Query as SequenceQuery
from scepter.algebra.query import Stream, Unit
from scepter.algebra.walk import Algebra, find, is_node, rewrite
from scepter.algebra.windows import StreamWindow, Version, WindowedQuery, scans, window_graph
from scepter.errors import Diagnostic, OptionError, QueryError, nearest, option_error
from scepter.lower.result import Lowered, NamedGraph
from scepter.rdf.terms import IRI
from scepter.runtime.queries import Query, checked

DEFAULT_GRAPH = IRI("urn:scepter:default-graph")
"""The stream of the default graph's versions."""


def varying(query: Query, names: Iterable[str]) -> Query:
    """The query with some of its background graphs as streams of versions: what `versions` and `--versions` ask for.

    >>> from scepter.runtime.queries import parse
    >>> query = parse('''PREFIX : <http://e/> SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w
    ... WHERE { WINDOW :w { ?x :p ?y } GRAPH :open { ?y :is :open } }''')
    >>> query.streams, query.graphs
    (['http://e/S'], ['http://e/open'])
    >>> query = varying(query, [":open"])
    >>> query.streams, query.graphs
    (['http://e/S', 'http://e/open'], [])
    """
    wanted = list(dict.fromkeys(graph_of(query.lowered, name) for name in names))
    if not wanted:
        return query
    lowered = query.lowered
    units = tuple(_unit(query, unit, wanted) for unit in lowered.program.units)
    return checked(
        replace(
            lowered,
            program=replace(lowered.program, units=units),
            graphs=tuple(graph for graph in lowered.graphs if graph.iri not in wanted),
            streams=(*lowered.streams, *(Stream(iri) for iri in wanted)),
            versions=tuple(wanted),
        )
    )


def named_versions(given: object) -> list[str]:
    """The graphs that vary, as a program names them: the keys of a mapping, or one name, or several."""
    if given is None:
        return []
    names: list[object] = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    found = [name for name in names if isinstance(name, str)]
    for name in names:
        if not isinstance(name, str):
            raise option_error("versions", f"{name!r} names no graph", help="write the graph's IRI: versions={'http://…': …}")
    return found


def graph_of(lowered: Lowered, name: str) -> IRI:
    """The graph that a person means by its IRI, its prefixed name, or the last part of its IRI."""
    if name == DEFAULT_GRAPH.value:
        return DEFAULT_GRAPH
    bare = name[1:-1] if name.startswith("<") and name.endswith(">") else name
    prefix, colon, local = bare.partition(":")
    expanded = dict(lowered.prefixes).get(prefix, "") + local if colon and prefix in dict(lowered.prefixes) else bare
    named = [*lowered.graphs, *lowered.static]
    for graph in named:
        if graph.iri.value in (bare, expanded) or name == re.split(r"[/#:]", graph.iri.value)[-1]:
            return graph.iri
    known = [graph.iri.value for graph in named]
    close = nearest(expanded, known)
    listed = ", ".join(f"<{iri}>" for iri in known)
    advice = f"did you mean {close}?" if close else f"its graphs are {listed}" if listed else "it reads no graph by its name"
    raise option_error("unknown-graph", f"the query reads no graph {name}", help=advice)


def _unit(query: Query, unit: Unit, graphs: Sequence[IRI]) -> Unit:
    if not isinstance(unit, WindowedQuery):
        return _untouched(query, unit, graphs)
    asked = [scan.pattern for events in unit.events for scan in scans(events)]
    for graph in query.lowered.graphs:
        if graph.iri in graphs and any(_reads(pattern, graph.iri) for pattern in asked):
            raise _refused(query, graph, "an EVENT looks at one item, and a graph that varies is read when WHERE is evaluated")
    if any(isinstance(node.name, Variable) for pattern in (unit.pattern, *asked) for node in find(pattern, Graph)):
        raise _any_graph()
    windows = [StreamWindow(iri, iri, Version(default=iri in unit.default_graphs or iri == DEFAULT_GRAPH)) for iri in graphs]
    return replace(
        unit,
        windows=(*unit.windows, *windows),
        pattern=_renamed(unit.pattern, graphs),
        default_graphs=tuple(iri for iri in unit.default_graphs if iri not in graphs),
        named_graphs=tuple(iri for iri in unit.named_graphs if iri not in graphs),
    )


def _untouched(query: Query, unit: Unit, graphs: Sequence[IRI]) -> Unit:
    """A unit that reads no graph as it varies: it stands beside queries that do, if it does not read these graphs."""
    several = len(query.lowered.languages) > 1
    who = "a query of another language" if several else query.lowered.title
    named = {node.name for node in find(unit, Graph)} if is_node(unit) else set()
    read = {name.term for name in named if isinstance(name, Constant)}
    read.update(unit.graphs if isinstance(unit, (ContinuousQuery, PeriodicQuery)) else ())
    for graph in query.lowered.graphs:
        if graph.iri in graphs and graph.iri in read:
            raise _refused(query, graph, f"{who} reads <{graph.iri.value}> as a graph that does not vary")
    if any(isinstance(name, Variable) for name in named):
        raise _any_graph()
    sees_default = not isinstance(unit, SequenceQuery)
    if not several or any(iri in read or (sees_default and iri == DEFAULT_GRAPH) for iri in graphs):
        raise option_error(
            "option-not-for-language",
            f"{who} reads its background as it is at the start of a run",
            help="graphs that vary are read by RSEP-QL: GRAPH in WHERE, or FROM",
        )
    return unit


def _any_graph() -> OptionError:
    return option_error(
        "varying-graph", "GRAPH with a variable ranges over graphs that do not vary", help="name the graph in the query"
    )


def _refused(query: Query, graph: NamedGraph, message: str) -> QueryError:
    advice = "graphs that vary are read by RSEP-QL, in WHERE: MATCH { … } GRAPH <…> { … }"
    return QueryError(Diagnostic("varying-graph", message, graph.span, advice), query.lowered.source)


def _reads(pattern: Pattern, iri: IRI) -> bool:
    return any(node.name == Constant(iri) for node in find(pattern, Graph))


def _renamed(pattern: Pattern, graphs: Sequence[IRI]) -> Pattern:
    """The pattern, which reads the graphs as it reads windows."""

    def rename(node: Algebra) -> Algebra:
        if isinstance(node, Graph) and isinstance(node.name, Constant) and node.name.term in graphs:
            assert isinstance(node.name.term, IRI)
            return replace(node, name=Constant(window_graph(node.name.term)))
        return node

    return rewrite(pattern, rename)
