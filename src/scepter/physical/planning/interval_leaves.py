"""The leaves of a plan over triple occurrences: triple patterns, paths, inline data; of the stream, static, or derived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from scepter.algebra.expressions import Constant, In, Variable
from scepter.algebra.patterns import BGP, NegatedPropertySet, PathPattern, TriplePattern
from scepter.algebra.timed import Rule, Sources
from scepter.ontology.schema import compiled
from scepter.physical.facts import Count, Seen
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Derive, DerivedPath, Picked, Recalled
from scepter.physical.nodes.instant_nodes import EventScan, Tracked
from scepter.physical.nodes.nodes import Node, TripleScan
from scepter.physical.nodes.time_nodes import Inline, Once, StaticScan, TimeFilter, TimeJoin
from scepter.physical.planning.entailment import speaks_of_data
from scepter.physical.planning.pattern_properties import in_order
from scepter.physical.planning.strata import feeds_pattern
from scepter.rdf.terms import IRI, Triple
from scepter.rdf.values import to_literal
from scepter.timeline import TimeKind

_OCCURRENCE = "occurrence"


@dataclass(frozen=True, slots=True)
class IntervalFacts:
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
    seen: Seen | None = None
    """What a sample of the streams holds, where joins may be ordered by it."""

    def may_be_static(self, triple: TriplePattern) -> bool:
        """Whether a triple of the default graph, or one that it entails, may match."""
        return self.static and (self.count is None or bool(self.ontology) or self.count(triple, None) > 0)


Stratum: TypeAlias = tuple[Derive, tuple[Rule, ...]]
ScanKey: TypeAlias = tuple[tuple[TriplePattern, ...], Sources]


@dataclass(slots=True)
class Leaves:
    """Makes the leaves of one query or rule."""

    facts: IntervalFacts
    sources: Sources
    plain: bool
    """Whether UNION, VALUES and paths keep how often they give a solution."""
    derives: tuple[Stratum, ...] = ()
    """What feeds the stream, with its rules."""
    together: tuple[Rule, ...] = ()
    """The rules of the same stratum."""
    whole: tuple[IRI, ...] = ()
    """The predicates of the nodes that those derive, where they do."""
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
        first, *rest = self._parts(in_order(triples, self._expected(triples)))
        found = self._part(first, longest)
        for part in rest:
            found = TimeJoin(found, self._part(part, longest), longest=longest)
        return found

    def _expected(self, triples: Sequence[TriplePattern]) -> Seen | None:
        """How many triples a pattern is expected to find; None where a sample does not tell, since it has nothing of what is
        derived, or where a policy sees in which order solutions are found."""
        seen, static = self.facts.seen, self.facts.count
        rules = (self.together, *(each for _, each in self.derives))
        fed = any(self._feed(each, triple) for each in rules for triple in triples)
        if seen is None or fed or self.tracked:
            return None
        return lambda triple: seen(triple) + (0 if static is None else static(triple, None))

    def _parts(self, triples: Sequence[TriplePattern]) -> list[tuple[TriplePattern, ...]]:
        """Triple patterns one by one, but together those that rules derive of one node."""
        found: dict[object, tuple[TriplePattern, ...]] = {}
        for number, triple in enumerate(triples):
            together = isinstance(triple.subject, Variable) and self._of_nodes(triple)
            part = triple.subject if together else number
            found[part] = (*found.get(part, ()), triple)
        return list(found.values())

    def _of_nodes(self, triple: TriplePattern) -> bool:
        """Whether rules derive what matches a pattern, and all of them derive whole nodes."""
        feeding = [derive.whole for derive, rules in self.derives if self._feed(rules, triple)]
        if self._feed(self.together, triple):
            feeding.append(self.whole)
        return bool(feeding) and all(feeding)

    def _part(self, triples: tuple[TriplePattern, ...], longest: int | None) -> Node:
        if len(triples) == 1:
            return self.scan(triples[0])
        known = self.known.get((triples, self.sources))
        if known is None:
            first, *rest = (Once(self._given(triple)) for triple in triples)
            found: Node = first
            for scan in rest:
                found = TimeJoin(found, scan, longest=longest)
            # A node that was derived is in no event, and other rules derive other nodes: no row comes twice.
            known = self.known[triples, self.sources] = self._with_derived(found, triples)
        return known

    def scan(self, triple: TriplePattern) -> Node:
        """The occurrences of a triple pattern, each once."""
        known = self.known.get(((triple,), self.sources))
        if known is None:
            scan = Once(self._with_derived(self._given(triple), (triple,)))
            known = self.known[(triple,), self.sources] = Tracked(scan, triple) if self.tracked else scan
        return known

    def _given(self, triple: TriplePattern) -> Node:
        """What the stream has of a triple pattern, and what is static."""
        scan = TripleScan(triple, self.streams, _OCCURRENCE if self.tracked else "", self._untabled(triple))
        if self.facts.may_be_static(triple) or self.sources.default:
            return nodes.Union(scan, StaticScan(BGP((triple,)), sources=self.sources))
        return scan

    def _with_derived(self, found: Node, triples: tuple[TriplePattern, ...]) -> Node:
        for derive, rules in self.derives:
            if all(self._feed(rules, triple) for triple in triples):
                found = nodes.Union(found, Picked(derive, triples, derive.whole))
        if all(self._feed(self.together, triple) for triple in triples):
            found = nodes.Union(found, Recalled(triples, self.whole))
        return found

    def _feed(self, rules: Sequence[Rule], triple: TriplePattern) -> bool:
        schema = compiled(self.facts.ontology)
        return any(feeds_pattern(rule, BGP((triple,)), schema) for rule in rules)

    def _untabled(self, triple: TriplePattern) -> str:
        """Why tables cannot tell what entails a triple; empty where they can, or where nothing is entailed."""
        if not self.facts.ontology:
            return ""
        if compiled(self.facts.ontology).flattened() is None:
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
            found = nodes.Union(found, DerivedPath(Recalled(()), pattern, self.sources, self.plain))
        return Once(found)

    def values(self, names: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> Node:
        """Inline data."""
        if self.plain:
            numbered = tuple((*row, to_literal(number)) for number, row in enumerate(rows))
            return Inline((*names, self.name("row")), numbered)  # type: ignore[arg-type]
        return Inline(names, tuple(dict.fromkeys(rows)))  # type: ignore[arg-type]
