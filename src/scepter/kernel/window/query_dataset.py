"""The background as a query over windows sees it."""

from __future__ import annotations

from collections.abc import Iterator

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import Graph, Pattern
from scepter.algebra.walk import find
from scepter.algebra.windows import WindowedQuery, scans
from scepter.kernel.entailment.closure import union
from scepter.kernel.sparql.dataset import Dataset
from scepter.rdf.terms import IRI


def query_dataset(query: WindowedQuery, background: Dataset) -> Dataset:
    """The background as the query's FROM and FROM NAMED clauses see it."""
    default = background.default
    if query.default_graphs:
        default = union(
            [background.default, *(background.named[name] for name in query.default_graphs if name in background.named)]
        )
    named = background.named
    if query.named_graphs:
        wanted = {*query.named_graphs, *_constant_graphs(query)}
        named = {name: graph for name, graph in named.items() if name in wanted}
    return Dataset(default, named)


def _constant_graphs(query: WindowedQuery) -> Iterator[IRI]:
    """The graphs that the query names where it reads them."""
    patterns: list[Pattern] = [query.pattern, *(scan.pattern for events in query.events for scan in scans(events))]
    for node in (node for pattern in patterns for node in find(pattern, Graph)):
        if isinstance(node.name, Constant) and isinstance(node.name.term, IRI):
            yield node.name.term
