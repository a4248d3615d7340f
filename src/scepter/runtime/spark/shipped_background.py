"""Static graphs on their way to the workers: triples where they are few, the place of the index where they are in a file.

Workers on the driver's machine map the very file that the driver has indexed, so that its pages are in memory once. Workers
elsewhere, to whom that path says nothing, map the copy that Spark brings to each of their machines, once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from scepter.errors import option_error
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.background import Background
from scepter.rdf.hashing import TermKey
from scepter.rdf.store import TripleStore, open_store
from scepter.rdf.terms import Triple
from scepter.runtime.spark.environment import give_file


@dataclass(frozen=True, slots=True)
class MappedGraph:
    """Where the index of a graph is."""

    path: str
    key: TermKey
    """The index must have it: what is found at the path may have been made by another machine from another file."""
    scope: str
    salt: str

    def opened(self) -> StoredGraph:
        """The graph, for a worker."""
        return StoredGraph(self._store(), self.scope, salt=self.salt)

    def _store(self) -> TripleStore:
        for path in self._places():
            # an index is readable by its owner alone, whom a worker may not run as
            if os.access(path, os.R_OK):
                try:
                    store = open_store(path)
                except ValueError:  # not the one that this run has made
                    continue
                if store.key == self.key:
                    return store
        raise option_error(
            "background",
            f"the index {self.path} of static data is gone or has been made anew while the query runs",
            help="start the query again, and leave the folder of indexes (SCEPTER_CACHE) alone meanwhile",
        )

    def _places(self) -> Iterator[Path]:
        yield Path(self.path)
        yield Path(SparkFiles.get(Path(self.path).name))


Shipped: TypeAlias = tuple[Triple, ...] | MappedGraph


@dataclass(frozen=True, slots=True)
class ShippedBackground:
    """The static graphs of a run as its workers are told of them."""

    default: Shipped
    named: tuple[tuple[str, Shipped], ...]

    @classmethod
    def of(cls, background: Background) -> ShippedBackground:
        """What the driver has loaded."""
        dataset = background.dataset
        return cls(_shipped(dataset.default), tuple((name.value, _shipped(graph)) for name, graph in dataset.named.items()))

    def give(self, spark: SparkSession) -> None:
        """Have Spark bring the indexes to machines that are not this one."""
        for graph in (self.default, *(graph for _, graph in self.named)):
            if isinstance(graph, MappedGraph):
                give_file(spark, graph.path)

    def opened(self) -> Background:
        """The graphs, for a worker."""
        return Background(_opened(self.default), {name: _opened(graph) for name, graph in self.named})


def _shipped(graph: Graph) -> Shipped:
    if isinstance(graph, StoredGraph) and graph.store.path is not None:
        return MappedGraph(str(graph.store.path), graph.store.key, graph.scope, graph.salt)
    return tuple(graph)


def _opened(graph: Shipped) -> Graph | tuple[Triple, ...]:
    return graph.opened() if isinstance(graph, MappedGraph) else graph
