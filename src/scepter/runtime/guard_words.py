"""Words of guards that no occurrence of their event can have (paper 002, section 4.3): such a block never matches.

An occurrence holds a minimal justification, and so only classes and properties that bear on its event. The paper allows the
words of the event's definition alone; here those count too that entail them by the ontology: assertions are kept as they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scepter.algebra.events import CompositeEvent, EventPattern, EventQuery, Labelled, Occurs, Rest
from scepter.algebra.expressions import Constant
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Graph, TriplePattern
from scepter.algebra.walk import find
from scepter.errors import Diagnostic, Severity, Span
from scepter.lower.result import Lowered
from scepter.ontology.axioms import Axiom, Ontology
from scepter.ontology.locality import bearing, connected
from scepter.ontology.recognition import beyond, definition
from scepter.rdf.terms import IRI, OWL, RDF, RDFS, TYPE, XSD

_BUILT_IN = (RDF, RDFS, OWL, XSD)
_SHOWN = 6
"""Words that advice lists."""


def words_without_use(query: EventQuery, ontology: Ontology, lowered: Lowered, known: Iterable[Span]) -> list[Diagnostic]:
    """A warning for each class and property in a guard that no occurrence asked for it can have; not for those at the known
    places, of which more has been said."""
    guarded = [(event, event.guard) for event in query.composite if event.guard is not None]
    if not guarded:
        return []
    told = set(known)
    allowed = _Allowed(query, ontology.axioms)
    found = []
    for event, guard in guarded:
        for graph in find(guard, Graph):
            made_of = [] if not isinstance(graph.name, Constant) else _named(event.pattern, graph.name.term)
            if not made_of or (words := allowed.of(made_of)) is None:
                continue
            for word, kind in _words(graph):
                assert isinstance(word.term, IRI)
                if word.term in words or word.term.value.startswith(_BUILT_IN) or word.span is None or word.span in told:
                    continue
                told.add(word.span)
                found.append(_useless(word.span, kind, lowered, made_of, words))
    return sorted(found, key=lambda warning: warning.span.start if warning.span else 0)


class _Allowed:
    """The words that occurrences of events can have; None: any."""

    def __init__(self, query: EventQuery, axioms: Sequence[Axiom]) -> None:
        self._composite: Mapping[IRI, CompositeEvent] = {event.event: event for event in query.composite}
        self._axioms = [*axioms, *(axiom for event in query.logical for axiom in definition(event))]
        self._directed = not any(map(beyond, self._axioms))
        self._known: dict[IRI, frozenset[IRI] | None] = {}

    def of(self, patterns: Iterable[EventPattern]) -> frozenset[IRI] | None:
        """Those of all the occurrences that patterns give; what NOT leaves of an item may be anything."""
        words: set[IRI] = set()
        for pattern in patterns:
            if any(True for _ in find(pattern, Rest)):
                return None
            for occurs in find(pattern, Occurs):
                own = self._of_event(occurs.event)
                if own is None:
                    return None
                words |= own
        return frozenset(words)

    def _of_event(self, event: IRI) -> frozenset[IRI] | None:
        if event not in self._known:
            if (composite := self._composite.get(event)) is not None:
                inner = self.of([composite.pattern])
                self._known[event] = None if inner is None else inner | {event}
            elif self._directed:
                self._known[event] = bearing(self._axioms, [event])
            else:
                self._known[event] = connected(self._axioms, [event])
        return self._known[event]


def _named(pattern: EventPattern, label: object) -> list[EventPattern]:
    """What the name of a guard's block stands for in the pattern."""
    return [labelled.operand for labelled in find(pattern, Labelled) if labelled.label == label]


def _words(graph: Graph) -> Iterator[tuple[Constant, str]]:
    for triple in find(graph.pattern, TriplePattern):
        predicate, object = triple.predicate, triple.object
        if isinstance(predicate, Constant):
            yield predicate, "property"
            if predicate.term == IRI(TYPE) and isinstance(object, Constant) and isinstance(object.term, IRI):
                yield object, "class"


def _useless(place: Span, kind: str, lowered: Lowered, made_of: Sequence[EventPattern], words: frozenset[IRI]) -> Diagnostic:
    written = lowered.source.text[place.start : place.end]
    notation = Notation(dict(lowered.prefixes))
    events = dict.fromkeys(occurs.event for pattern in made_of for occurs in find(pattern, Occurs))
    message = f"{written} is a {kind} that no occurrence of {' or '.join(map(notation.term, events))} has"
    own = sorted(notation.term(word) for word in words - events.keys())
    shown = ", ".join(own[:_SHOWN]) + (" …" if len(own) > _SHOWN else "")
    advice = f"what makes it one is said with {shown}" if own else "ask another event of the pattern"
    return Diagnostic("guard-word", message, place, advice, severity=Severity.WARNING)
