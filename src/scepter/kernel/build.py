"""From the nodes of a plan to the operators that run: one place that knows both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scepter.kernel import mapping
from scepter.kernel.background import Background
from scepter.kernel.intake import Intake
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Operator
from scepter.kernel.rows import Mask, Rows
from scepter.kernel.sparql.context import Context
from scepter.kernel.static import Static
from scepter.kernel.texts import Texts
from scepter.kernel.triple_scan import MOST_SCANS, EntailedTriples, PlainTriples
from scepter.ontology.entailment import Flattened
from scepter.physical import nodes
from scepter.physical.nodes import Node, TripleScan
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the operators of one unit share."""

    key: TermKey
    texts: Texts
    background: Background
    kind: TimeKind
    time_unit: str = "ms"
    flattened: Flattened | None = None
    """What the schema entails; None without a schema."""
    lineage: Lineage = field(default_factory=Lineage)
    context: Context = field(default_factory=Context)
    parts: list[str] = field(default_factory=list)
    """The labels of the parts of the pattern that select events, by their number in the lineage."""

    def part(self, label: str) -> int:
        """The number of a part."""
        if label not in self.parts:
            self.parts.append(label)
        return self.parts.index(label)


class Leaves(Protocol):
    """Leaves of a plan that read a batch in one pass."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per leaf its rows in order of end."""
        ...


@dataclass(frozen=True, slots=True)
class LeafGroup:
    """Leaves over the same streams, at work."""

    places: tuple[int, ...]
    """Of each leaf, its place among the plan's leaves."""
    streams: frozenset[IRI] | None
    leaves: Leaves


def leaf_groups(leaves: Sequence[Node], around: Surroundings) -> list[LeafGroup]:
    """The leaves of a plan, those of the same kind and streams together."""
    together: dict[tuple[type, frozenset[IRI] | None], list[int]] = {}
    for place, leaf in enumerate(leaves):
        match leaf:
            case TripleScan(streams=named):
                together.setdefault((TripleScan, None if named is None else frozenset(named)), []).append(place)
            case _:
                raise AssertionError(f"{type(leaf).__name__} is no leaf")
    found = []
    for (kind, streams), places in together.items():
        for at in range(0, len(places), MOST_SCANS):
            some = places[at : at + MOST_SCANS]
            found.append(LeafGroup(tuple(some), streams, _LEAVES[kind]([leaves[i] for i in some], around)))
    return found


def _triple_scans(scans: Sequence[Node], around: Surroundings) -> Leaves:
    some = [scan for scan in scans if isinstance(scan, TripleScan)]
    if around.flattened is None:
        return PlainTriples(some, around.key, around.lineage, around.part)
    return EntailedTriples(some, around.flattened, around.key, around.texts, around.lineage, around.part)


_LEAVES: dict[type, Callable[[Sequence[Node], Surroundings], Leaves]] = {TripleScan: _triple_scans}


def operator_of(node: Node, around: Surroundings) -> Operator:
    """The operator of a node that reads rows."""
    match node:
        case nodes.Filter():
            return mapping.Filter(node, around.key, around.texts, around.context)
        case nodes.Extend():
            return mapping.Extend(node, around.key, around.texts, around.context)
        case nodes.Project():
            return mapping.Project(node)
        case nodes.Union():
            return mapping.Union(node)
        case nodes.Static(graph=name):
            dataset = around.background.dataset
            graph = dataset.default if name is None else dataset.named[name]
            return Static(node, graph, around.key, around.texts)
        case _:
            raise AssertionError(f"no operator for {type(node).__name__}")
