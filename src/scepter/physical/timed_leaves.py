"""The leaves of a plan over triple occurrences: triple patterns, paths, inline data; of the stream, static, or derived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from scepter.algebra.expressions import Constant, In, Variable
from scepter.algebra.patterns import BGP, NegatedPropertySet, PathPattern, TriplePattern
from scepter.algebra.timed import Rule, Sources
from scepter.ontology.schema import Schema as OntologySchema
from scepter.physical import nodes
from scepter.physical.derive_nodes import Derive, DerivedPath, Picked, Recalled
from scepter.physical.entailment import speaks_of_data
from scepter.physical.facts import Count
from scepter.physical.instant_nodes import EventScan, Tracked
from scepter.physical.nodes import Node, TripleScan
from scepter.physical.strata import feeds_pattern
from scepter.physical.time_nodes import Inline, Once, StaticScan, TimeFilter, TimeJoin
from scepter.physical.timed_patterns import in_order
from scepter.rdf.terms import IRI, Triple
from scepter.rdf.values import to_literal
from scepter.timeline import TimeKind

_OCCURRENCE = "occurrence"


@dataclass(frozen=True, slots=True)
class TimedFacts:
    """What is known of a run before it starts."""

    kind: TimeKind
    static: bool = False
    """Whether the default graph or an ontology holds triples."""
    policy: str | None = None
    """Which partner a policy chooses, where it consumes what it pairs: `chronological` or `recent`."""
    ontology: tuple[Triple, ...] = ()
    time_unit: str = "ms"
    count: Count | None = None
    """How many triples of the default graph have a pattern's constants, where that is known."""

    def may_be_static(self, triple: TriplePattern) -> bool:
        """Whether a triple of the default graph, or one that it entails, may match."""
        return self.static and (self.count is None or bool(self.ontology) or self.count(triple, None) > 0)


Stratum: TypeAlias = tuple[Derive, tuple[Rule, ...]]
ScanKey: TypeAlias = tuple[TriplePattern, Sources]


@dataclass(slots=True)
class Leaves:
    """Makes the leaves of one query or rule."""

    facts: TimedFacts
    sources: Sources
    plain: bool
    """Whether UNION, VALUES and paths keep how often they give a solution."""
    derives: tuple[Stratum, ...] = ()
    """What feeds the stream, with its rules."""
    together: tuple[Rule, ...] = ()
    """The rules of the same stratum."""
    known: dict[ScanKey, Node] = field(default_factory=dict)
    """Equal triple patterns over the same streams are one scan."""
    _numbers: Iterator[int] = field(default_factory=count)
    invented: set[str] = field(default_factory=set)
    """Variables that are none of the query's."""

    @property
    def tracked(self) -> bool:
        """Whether rows tell the occurrences they rest on."""
        return self.facts.policy is not None

    @property
    def streams(self) -> tuple[IRI, ...] | None:
        """The streams it reads; None for every one."""
        return self.sources.streams

    def name(self, what: str) -> str:
        """A variable that nobody sees."""
        name = f"_:{what}{next(self._numbers)}"
        self.invented.add(name)
        return name

    def hidden(self, name: str, mark: str) -> str:
        """A variable as it is called where a projection has left it out."""
        found = f"{mark}.{name}"
        if name in self.invented:
            self.invented.add(found)
        return found

    def bgp(self, triples: Sequence[TriplePattern], longest: int | None) -> Node:
        """A join of scans, always one that hangs together with those before it."""
        if not triples:
            return Inline((), ((),))
        first, *rest = in_order(triples)
        found = self.scan(first)
        for triple in rest:
            found = TimeJoin(found, self.scan(triple), longest=longest)
        return found

    def scan(self, triple: TriplePattern) -> Node:
        """The occurrences of a triple pattern, each once."""
        known = self.known.get((triple, self.sources))
        if known is None:
            scan: Node = TripleScan(triple, self.streams, _OCCURRENCE if self.tracked else "", self._untabled(triple))
            if self.facts.may_be_static(triple) or self.sources.default:
                scan = nodes.Union(scan, StaticScan(BGP((triple,)), sources=self.sources))
            for derive, rules in self.derives:
                if self._feed(rules, triple):
                    scan = nodes.Union(scan, Picked(derive, triple))
            if self._feed(self.together, triple):
                scan = nodes.Union(scan, Recalled(triple))
            known = Tracked(Once(scan), triple) if self.tracked else Once(scan)
            self.known[triple, self.sources] = known
        return known

    def _feed(self, rules: Sequence[Rule], triple: TriplePattern) -> bool:
        schema = OntologySchema.from_triples(self.facts.ontology)
        return any(feeds_pattern(rule, BGP((triple,)), schema) for rule in rules)

    def _untabled(self, triple: TriplePattern) -> str:
        """Why tables cannot tell what entails a triple; empty where they can, or where nothing is entailed."""
        if not self.facts.ontology:
            return ""
        if OntologySchema.from_triples(self.facts.ontology).flattened() is None:
            return "the schema has rules for rdf:type itself"
        return "" if speaks_of_data(triple) else "a pattern asks for statements of the schema"

    def path(self, pattern: PathPattern) -> Node:
        """A negated set is one triple with another predicate; as such it keeps how often it matches."""
        path = pattern.path
        if not isinstance(path, NegatedPropertySet):
            return self._within_events(pattern)
        ways = []
        if path.forward or not path.backward:
            ways.append((pattern.subject, pattern.object, path.forward))
        if path.backward:
            ways.append((pattern.object, pattern.subject, path.backward))
        found: list[Node] = []
        for subject, object, excluded in ways:
            predicate = Variable(self.name("path"))
            scan = self.scan(TriplePattern(subject, predicate, object))
            unwanted = In(predicate, tuple(Constant(iri) for iri in excluded), negated=True)
            found.append(TimeFilter(scan, (unwanted,)) if excluded else scan)
        return found[0] if len(found) == 1 else nodes.Union(found[0], found[1])

    def _within_events(self, pattern: PathPattern) -> Node:
        """A path of any length: within an event, within what one solution of a rule derives, or within what is static."""
        number = self.name("event") if self.tracked else None
        found: Node = EventScan(pattern, self.streams, number, self.plain, self.tracked)
        found = nodes.Union(found, StaticScan(pattern, sources=self.sources))
        for derive, _ in self.derives:
            found = nodes.Union(found, DerivedPath(derive, pattern, self.sources, self.plain))
        if self.together:
            found = nodes.Union(found, DerivedPath(Recalled(None), pattern, self.sources, self.plain))
        return Once(found)

    def values(self, names: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> Node:
        """Inline data."""
        if self.plain:
            numbered = tuple((*row, to_literal(number)) for number, row in enumerate(rows))
            return Inline((*names, self.name("row")), numbered)  # type: ignore[arg-type]
        return Inline(names, tuple(dict.fromkeys(rows)))  # type: ignore[arg-type]
