"""Which predicates a unit can use: triples with any other are skipped while they are read.

The answer may be too large, never too small. Events stay, also those of which no triple is left: they are items of windows,
stand between others, and move time on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from scepter.algebra.classes import (
    And,
    Cardinality,
    ClassExpression,
    HasSelf,
    HasValue,
    Named,
    Nothing,
    Or,
    Some,
    names,
)  # fmt: skip
from scepter.algebra.continuous import ContinuousQuery, LastTriples, PeriodicQuery
from scepter.algebra.events import EventQuery, Rest, patterns
from scepter.algebra.expressions import Call, Constant
from scepter.algebra.patterns import Graph, Link, NegatedPropertySet, PathPattern, Pattern, TriplePattern, ZeroOrMore, ZeroOrOne
from scepter.algebra.query import Query, Scan, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.walk import Algebra, children, find
from scepter.algebra.windows import CountWindow, WindowedQuery, is_window_graph, scans
from scepter.ontology.schema import compiled
from scepter.ontology.vocabulary import SCHEMA_PREDICATES, TYPE
from scepter.physical.facts import Facts
from scepter.rdf.terms import IRI, OWL, Term, Triple

Predicates = frozenset[IRI] | None
"""None: any can matter."""

_OF_INDIVIDUALS = frozenset(IRI(OWL + name) for name in ("sameAs", "differentFrom"))
_UNIVERSAL = frozenset(IRI(OWL + name) for name in ("Thing", "complementOf", "oneOf", "topObjectProperty", "topDataProperty"))
"""With these an ontology can make an instance of what nothing is said of."""


def predicates_of(unit: Unit, facts: Facts) -> Predicates:
    """The predicates of streamed triples that a unit can use."""
    match unit:
        case Query():
            return _entailing(find(unit.pattern, Scan), facts)
        case TimedProgram():
            return _entailing([part.pattern for part in unit.parts], facts)
        case WindowedQuery(windows=windows):
            if any(isinstance(window.extent, CountWindow) and window.extent.triples for window in windows):
                return None  # every triple of the stream is counted
            return _entailing([unit.pattern, *(scan.pattern for event in unit.events for scan in scans(event))], facts)
        case ContinuousQuery(sources=sources, otherwise=otherwise):
            if any(isinstance(extent, LastTriples) for extent in (otherwise, *(source.extent for source in sources))):
                return None  # every triple of the stream is counted
            return _with_schema(_entailing([unit.pattern], facts))
        case PeriodicQuery():
            return _with_schema(_entailing([unit.pattern], facts))
        case EventQuery():
            return _of_events(unit, facts)
        case _:
            return None


def sequence_predicates(query: Query) -> Predicates:
    """Those of a sequence's scans."""
    return _named(chain.from_iterable(_nodes(scan) for scan in find(query.pattern, Scan)))


def _nodes(node: Algebra) -> Iterator[Algebra]:
    """What is matched against streams: a GRAPH of the background is not, a window is."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if not isinstance(current, Graph) or _is_streamed(current):
            pending += children(current)


def _is_streamed(pattern: Graph) -> bool:
    return not isinstance(pattern.name, Constant) or is_window_graph(pattern.name.term)


def _named(nodes: Iterable[Algebra]) -> Predicates:
    found: set[IRI] = set()
    for node in nodes:
        match node:
            case TriplePattern(predicate=Constant(IRI() as iri)):
                found.add(iri)
            case TriplePattern() | NegatedPropertySet() | ZeroOrMore() | ZeroOrOne():
                return None
            case Link(iri):
                found.add(iri)
            case Call("TIMESTAMP", (_, Constant(IRI() as iri), _)):
                found.add(iri)
            case Call("TIMESTAMP"):
                return None
    return frozenset(found)


def _entailing(parts: Iterable[Algebra], facts: Facts) -> Predicates:
    """The predicates of patterns, and those of triples that entail what the patterns match."""
    nodes = [node for part in parts for node in _nodes(part)]
    found = _named(nodes)
    if found is None or not (facts.ontology or facts.schema):
        return found
    schema = compiled(facts.ontology, facts.schema)
    if schema.extends_itself():
        return None
    triggers, _ = schema.reduced([n for n in nodes if isinstance(n, TriplePattern | PathPattern)]).triggers()
    return found | {predicate for predicate in triggers if isinstance(predicate, IRI)}


def _with_schema(found: Predicates) -> Predicates:
    """Statements of a schema that come with a stream are not used, and that is told once: so they are read."""
    return None if found is None else found | SCHEMA_PREDICATES | {TYPE}


def _of_events(query: EventQuery, facts: Facts) -> Predicates:
    """The vocabulary of descriptions, of what is static and of guards: no other triple makes an instance of a class."""
    if any(isinstance(part, Rest) for event in query.composite for part in patterns(event.pattern)):
        return None  # what is left of an item is shown
    if not all(_needs_assertion(event.description) for event in query.logical):
        return None  # it may hold of an individual that any triple mentions
    guards = _named(node for event in query.composite if event.guard is not None for node in _all(event.guard))
    if guards is None:
        return None
    described = {iri for event in query.logical for iri in names(event.description)}
    stated = {term for triple in chain(facts.ontology, facts.schema) for term in _terms(triple) if isinstance(term, IRI)}
    if stated & _UNIVERSAL:
        return None
    return guards | described | stated | SCHEMA_PREDICATES | _OF_INDIVIDUALS | {TYPE}


def _needs_assertion(expression: ClassExpression) -> bool:
    """Whether no individual is an instance of it of which nothing is said."""
    match expression:
        case Named() | Some() | HasValue() | HasSelf() | Nothing():
            return True
        case Cardinality(kind, number):
            return kind != "max" and number > 0
        case And(operands):
            return any(map(_needs_assertion, operands))
        case Or(operands):
            return all(map(_needs_assertion, operands))
        case _:
            return False


def _all(pattern: Pattern) -> Iterator[Algebra]:
    pending: list[Algebra] = [pattern]
    while pending:
        current = pending.pop()
        yield current
        pending += children(current)


def _terms(triple: Triple) -> tuple[Term, Term, Term]:
    return triple.subject, triple.predicate, triple.object
