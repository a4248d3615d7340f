"""What an expression sees besides its solution: the graphs, the clock, fresh blank nodes, the iterations so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

from scepter.algebra.expressions import IterationAggregate
from scepter.kernel.sparql.dataset import EMPTY_DATASET, EMPTY_GRAPH, Dataset, Graph
from scepter.rdf.terms import BlankNode, Literal, Term
from scepter.rdf.values import DATETIME

Row: TypeAlias = dict[str, Term]
Bindings: TypeAlias = Mapping[str, Term]
_NO_BINDINGS: Bindings = MappingProxyType({})


def blank_nodes(prefix: str = "scepter-fresh-") -> Callable[[], BlankNode]:
    """A source of blank nodes that are all different: the prefix and a number.

    >>> fresh = blank_nodes("b")
    >>> [fresh().label, fresh().label]
    ['b0', 'b1']
    """
    numbers = count()
    return lambda: BlankNode(f"{prefix}{next(numbers)}")


def system_clock() -> Callable[[], Literal]:
    """NOW() read from the machine at the first call and then fixed: one query sees one now (SPARQL 1.1 §17.4.5.1)."""
    read: list[Literal] = []

    def now() -> Literal:
        if not read:
            text = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            read.append(Literal(text, DATETIME))
        return read[0]

    return now


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of an evaluation; immutable, so that a nested evaluation gets its own by `dataclasses.replace`.

    `substituted` are the outer solution's bindings inside EXISTS; `labels` are the nodes that BNODE("label") has made for
    the current solution.
    """

    graph: Graph = EMPTY_GRAPH
    dataset: Dataset = EMPTY_DATASET
    now: Callable[[], Literal] = field(default_factory=system_clock)
    fresh: Callable[[], BlankNode] = field(default_factory=blank_nodes)
    previous: Bindings | None = None
    iterations: Callable[[IterationAggregate], Term] | None = None
    substituted: Bindings = field(default_factory=lambda: _NO_BINDINGS)
    labels: dict[str, BlankNode] = field(default_factory=dict)
    mappings: Sequence[Iterable[Bindings]] = ()
    """The rows of each `Match`, by its number."""
    timestamp: Callable[[Term, Term, Term], Term] | None = None
    """The time of a triple, where triples have times."""
