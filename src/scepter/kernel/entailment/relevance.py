"""What patterns can match, by their constants: what need not be looked at is not read."""

from __future__ import annotations

from dataclasses import dataclass

from scepter.algebra.expressions import Call, Constant, Expression
from scepter.algebra.patterns import Graph, PathPattern, Pattern, TriplePattern
from scepter.algebra.walk import find, find_outside
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE
from scepter.rdf.terms import Term, Triple


def triple_patterns(pattern: Pattern) -> list[TriplePattern]:
    """All triple patterns, those of EXISTS and GRAPH too."""
    return list(find(pattern, TriplePattern))


@dataclass(frozen=True, slots=True)
class Interest:
    """The predicates that matter, and the classes that matter as objects of rdf:type; None is every class."""

    predicates: frozenset[Term]
    classes: frozenset[Term] | None


def _constant(node: Expression) -> Term | None:
    return node.term if isinstance(node, Constant) else None


class Relevance:
    """Whether any pattern can match a triple, by its constants."""

    __slots__ = ("_any", "_by_predicate")

    def __init__(self, pattern: Pattern) -> None:
        self._by_predicate: dict[Term, list[tuple[Term | None, Term | None]]] = {}
        self._any = next(find_outside(pattern, PathPattern, (Graph,)), None) is not None
        asked = [call.arguments for call in find(pattern, Call) if call.function == "TIMESTAMP"]
        for subject, predicate, object in [*(triple.places for triple in triple_patterns(pattern)), *asked]:
            if isinstance(predicate, Constant):
                self._by_predicate.setdefault(predicate.term, []).append((_constant(subject), _constant(object)))
            else:
                self._any = True

    def triggers(self) -> tuple[frozenset[Term], frozenset[Term] | None] | None:
        """The predicates, and the classes as objects of rdf:type (None for every class), that patterns name; None for all."""
        if self._any:
            return None
        classes = frozenset(object for _, object in self._by_predicate.get(TYPE, ()) if object is not None)
        every = any(object is None for _, object in self._by_predicate.get(TYPE, ()))
        return frozenset(self._by_predicate), None if every else classes

    def constants(self, predicate: Term) -> list[tuple[Term | None, Term | None]]:
        """The subjects and objects that patterns of a predicate name; None stands for any."""
        return self._by_predicate.get(predicate, [])

    def interest(self, schema: Schema) -> Interest | None:
        """Which triples can match, or entail what matches; None for all."""
        wanted = self.triggers()
        if wanted is None:
            return None
        predicates, classes = schema.triggers()
        both = None if classes is None or wanted[1] is None else classes | wanted[1]
        return Interest(predicates | wanted[0], both)

    def __call__(self, triple: Triple) -> bool:
        """Whether it may match."""
        if self._any:
            return True
        for subject, object in self._by_predicate.get(triple.predicate, ()):
            if (subject is None or subject == triple.subject) and (object is None or object == triple.object):
                return True
        return False
