"""A schema: the statements of the RDFS/OWL vocabulary that entailment uses, compiled once.

>>> from scepter.rdf.terms import IRI
>>> a, b, x = IRI("http://e/A"), IRI("http://e/B"), IRI("http://e/x")
>>> schema = Schema.from_triples([Triple(a, SUB_CLASS_OF, b)])
>>> sorted(str(t.object) for t in schema.entailed(Triple(x, TYPE, a)))
['<http://e/A>', '<http://e/B>']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import (
    Alternative,
    Inverse,
    Link,
    NegatedPropertySet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)  # fmt: skip
from scepter.ontology.entailment import Entailment, Filler, Flattened, Rules, Slot, Table, Wanted
from scepter.ontology.vocabulary import (
    DOMAIN,
    EQUIVALENT_CLASS,
    EQUIVALENT_PROPERTY,
    INVERSE_OF,
    RANGE,
    SCHEMA_PREDICATES,
    SUB_CLASS_OF,
    SUB_PROPERTY_OF,
    SYMMETRIC_PROPERTY,
    TYPE,
    is_schema,
    speaks_of_schema,
)  # fmt: skip
from scepter.rdf.terms import Literal, Term, Triple
from scepter.remembered import remembered


@dataclass(frozen=True, slots=True)
class SchemaCounts:
    """How large a schema's network is: its classes, its properties, the direct links between them, and the entailed triples of
    the flattened tables."""

    classes: int
    properties: int
    links: int
    entries: int

    def __str__(self) -> str:
        """For `explain`."""
        return f"{self.classes} classes, {self.properties} properties, {self.links} links, {self.entries} flattened entailments"


class SchemaLink(NamedTuple):
    """A direct link of the network: what is said with `low` entails something with `high`."""

    low: Term
    rule: str
    """subClassOf, subPropertyOf, domain, range or inverseOf."""
    high: Term


class Schema:
    """A fixed schema. Cycles are fine; literals get no type and no inverse."""

    __slots__ = ("_below", "_entailment", "_extends", "_flattened", "_rules")

    def __init__(self, rules: Rules, wanted: Wanted | None = None) -> None:
        self._rules = rules
        self._entailment = Entailment(rules, wanted)
        # Made when first asked for, and kept: each unit of a program asks a schema of maybe 40,000 classes.
        self._below: Mapping[Term, list[Term]] | None = None
        self._extends: bool | None = None
        self._flattened: tuple[Flattened | None] | None = None

    @classmethod
    def from_triples(cls, triples: Iterable[Triple]) -> Schema:
        """The schema among any triples; those that are no schema statements count only where they entail one (a property below
        rdfs:subClassOf, say)."""
        statements = set(triples)
        while True:
            schema = cls(_rules(statements))
            if not schema.extends_itself():
                return schema
            entailed = {t for s in statements for t in schema._rules.closure(s) if is_schema(Triple(*t))}  # type: ignore[arg-type]
            if entailed <= statements:
                return schema
            statements |= entailed  # type: ignore[arg-type]  # the closure of a real triple has no slots

    def extends_itself(self) -> bool:
        """Whether any rule's conclusion can be a schema statement, so that data may become schema: rare, and costly to follow
        through large data."""
        if self._extends is None:
            targets = {high for table in _tables(self._rules) for _, high in _pairs(table)}
            self._extends = any(speaks_of_schema(high, None) or speaks_of_schema(TYPE, high) for high in targets)
        return self._extends

    def __bool__(self) -> bool:
        """Whether it entails anything at all."""
        return self._rules.count() > 0

    @staticmethod
    def is_schema(triple: Triple) -> bool:
        """Whether a statement acts as schema and matches no pattern."""
        return is_schema(triple)

    def entailed(self, triple: Triple) -> frozenset[Triple]:
        """The triple and all it entails, to a fixpoint."""
        return frozenset(self._entailment.consequences(triple))

    def consequences(self, triple: Triple) -> tuple[Triple, ...]:
        """`entailed` in a fixed order, the triple itself first."""
        return self._entailment.consequences(triple)

    def statements(self) -> frozenset[Triple]:
        """The schema's own statements with what rdfs5 and rdfs11 add: the transitive closure of the two hierarchies."""
        rules = self._rules
        found = {Triple(a, INVERSE_OF, b) for a, b in _pairs(rules.inverses) if a != b}
        found |= {Triple(a, TYPE, SYMMETRIC_PROPERTY) for a, b in _pairs(rules.inverses) if a == b}
        found |= {Triple(a, DOMAIN, b) for a, b in _pairs(rules.domains)}
        found |= {Triple(a, RANGE, b) for a, b in _pairs(rules.ranges)}
        for predicate, table in ((SUB_CLASS_OF, rules.superclasses), (SUB_PROPERTY_OF, rules.superproperties)):
            found |= {Triple(low, predicate, high) for low in table for high in _above(table, low)}
        return frozenset(found)

    def reduced(self, patterns: Iterable[TriplePattern | PathPattern]) -> Schema:
        """The part of the schema that the patterns can use (the paper's pre-processing, 3.4): links that lead to nothing a
        pattern can match are gone, and entailed triples that no pattern can match are not made. What matches is the same."""
        uses = _Uses.of(patterns)
        if uses is None:
            return self
        useful = self._useful(uses)
        rules = self._rules
        kept = Rules(*(_leading_to(table, useful) for table in _tables(rules)))
        return Schema(kept, uses.wants)

    def _useful(self, uses: _Uses) -> set[Term]:
        """The classes and properties from which something a pattern can match is reached, going against the links."""
        below = self._links_down()
        useful = {*uses.predicates, *uses.classes, *(self._classes() if uses.every_class else ())}
        if TYPE in self._rules.predicates() or TYPE in below:  # a property as any other: each class may then lead to it
            useful |= {TYPE, *self._classes()}
        pending = list(useful)
        while pending:
            for low in below.get(pending.pop(), ()):
                if low not in useful:
                    useful.add(low)
                    pending.append(low)
        return useful

    def _links_down(self) -> Mapping[Term, list[Term]]:
        """From what links lead to, to what they come from."""
        if self._below is None:
            below: defaultdict[Term, list[Term]] = defaultdict(list)
            for table in _tables(self._rules):
                for low, high in _pairs(table):
                    below[high].append(low)
            self._below = dict(below)
        return self._below

    def _classes(self) -> set[Term]:
        targets = (self._rules.superclasses, self._rules.domains, self._rules.ranges)
        return {*self._rules.superclasses, *(high for table in targets for _, high in _pairs(table))}

    def triggers(self) -> tuple[frozenset[Term], frozenset[Term] | None]:
        """The predicates, and the classes as objects of rdf:type, whose triples entail anything; None is every class."""
        predicates = self._rules.predicates()
        if TYPE in predicates:
            return predicates, None
        classes = frozenset(self._rules.superclasses)
        return (predicates | {TYPE} if classes else predicates), classes

    def flattened(self) -> Flattened | None:
        """All that it entails, by predicate and by class; None where that is not enough to tell (rules for rdf:type itself)."""
        if self._flattened is None:
            self._flattened = (self._entailment.flattened(),)
        return self._flattened[0]

    def links(self) -> tuple[SchemaLink, ...]:
        """Its direct links, by what they lead to."""
        words = ("subClassOf", "subPropertyOf", "domain", "range", "inverseOf")
        found = [SchemaLink(low, w, high) for w, t in zip(words, _tables(self._rules), strict=True) for low, high in _pairs(t)]
        return tuple(sorted(found, key=lambda link: (str(link.high), link.rule, str(link.low))))

    def describe(self) -> SchemaCounts:
        """Its size, for `explain`."""
        properties = self._rules.predicates() | {high for _, high in _pairs(self._rules.superproperties)}
        return SchemaCounts(len(self._classes()), len(properties), self._rules.count(), self._entailment.entries())


@remembered(most=4)
def compiled(*sources: tuple[Triple, ...]) -> Schema:
    """The schema among the triples of all sources, compiled once for all units of a program.

    >>> from scepter.rdf.terms import IRI
    >>> ontology = (Triple(IRI("http://e/A"), SUB_CLASS_OF, IRI("http://e/B")),)
    >>> compiled(ontology) is compiled(ontology)
    True
    """
    return Schema.from_triples(chain(*sources))


@dataclass(frozen=True, slots=True)
class _Uses:
    """What patterns can match: predicates, and classes as objects of rdf:type."""

    predicates: frozenset[Term]
    classes: frozenset[Term]
    every_class: bool

    @classmethod
    def of(cls, patterns: Iterable[TriplePattern | PathPattern]) -> _Uses | None:
        """None when a pattern matches any predicate."""
        predicates: set[Term] = set()
        classes: set[Term] = set()
        every_class = False
        for pattern in patterns:
            named = _predicates(pattern)
            if named is None:
                return None
            predicates |= named
            if TYPE in named and isinstance(pattern, TriplePattern) and isinstance(pattern.object, Constant):
                classes.add(pattern.object.term)
            elif TYPE in named:
                every_class = True
        return cls(frozenset(predicates - {TYPE}), frozenset(classes), every_class)

    def wants(self, predicate: Term, object: Filler) -> bool:
        """Whether a pattern can match a triple with this predicate and object."""
        if predicate == TYPE:
            return self.every_class or isinstance(object, Slot) or object in self.classes
        return predicate in self.predicates


def _predicates(pattern: TriplePattern | PathPattern) -> set[Term] | None:
    if isinstance(pattern, PathPattern):
        return _path_predicates(pattern.path)
    return {pattern.predicate.term} if isinstance(pattern.predicate, Constant) else None


def _path_predicates(path: Path) -> set[Term] | None:
    match path:
        case Link(iri):
            return {iri}
        case NegatedPropertySet():
            return None
        case Inverse(inner) | ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            return _path_predicates(inner)
        case PathSequence(left, right) | Alternative(left, right):
            first, second = _path_predicates(left), _path_predicates(right)
            return None if first is None or second is None else first | second


def _rules(statements: Iterable[Triple]) -> Rules:
    links: dict[Term, defaultdict[Term, dict[Term, None]]] = {
        p: defaultdict(dict) for p in (SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE, INVERSE_OF)
    }
    told = [t for t in statements if t[1] in SCHEMA_PREDICATES or t[2] == SYMMETRIC_PROPERTY]
    for subject, predicate, object in sorted(told, key=_spelled):  # few of what may be a million
        if isinstance(object, Literal) or isinstance(subject, Literal):
            continue
        match predicate:
            case p if p in (SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE):
                links[p][subject][object] = None
            case p if p == INVERSE_OF:
                links[INVERSE_OF][subject][object] = None
                links[INVERSE_OF][object][subject] = None
            case p if p in (EQUIVALENT_CLASS, EQUIVALENT_PROPERTY):
                kind = SUB_CLASS_OF if p == EQUIVALENT_CLASS else SUB_PROPERTY_OF
                links[kind][subject][object] = None
                links[kind][object][subject] = None
            case p if p == TYPE and object == SYMMETRIC_PROPERTY:
                links[INVERSE_OF][subject][subject] = None
    tables = ({low: tuple(high) for low, high in links[p].items()} for p in links)
    return Rules(*tables)


def _spelled(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))


def _tables(rules: Rules) -> tuple[Table, ...]:
    return rules.superclasses, rules.superproperties, rules.domains, rules.ranges, rules.inverses


def _pairs(table: Table) -> Iterable[tuple[Term, Term]]:
    return ((low, high) for low, targets in table.items() for high in targets)


def _leading_to(table: Table, useful: set[Term]) -> Table:
    """The links that lead to something useful; what they come from is useful too."""
    kept = ((low, tuple(high for high in targets if high in useful)) for low, targets in table.items() if low in useful)
    return {low: targets for low, targets in kept if targets}


def _above(table: Table, low: Term) -> set[Term]:
    found: set[Term] = set()
    pending = [low]
    while pending:
        for high in table.get(pending.pop(), ()):
            if high not in found:
                found.add(high)
                pending.append(high)
    return found
