"""What a run knows before any event: the schema, cut to what the patterns use, and static data with what it entails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scepter.algebra.expressions import Constant, Exists
from scepter.algebra.patterns import PathPattern, Pattern, TriplePattern
from scepter.algebra.walk import find
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE
from scepter.rdf.terms import IRI, Term, Triple


def triple_patterns(pattern: Pattern) -> list[TriplePattern]:
    """All triple patterns, those of EXISTS and GRAPH too."""
    return list(find(pattern, TriplePattern))


class Relevance:
    """Whether any pattern can match a triple, by its constants."""

    __slots__ = ("_any", "_by_predicate")

    def __init__(self, pattern: Pattern) -> None:
        self._by_predicate: dict[Term, list[tuple[Term | None, Term | None]]] = {}
        self._any = next(find(pattern, PathPattern), None) is not None
        for triple in triple_patterns(pattern):
            subject, object = (n.term if isinstance(n, Constant) else None for n in (triple.subject, triple.object))
            if isinstance(triple.predicate, Constant):
                self._by_predicate.setdefault(triple.predicate.term, []).append((subject, object))
            else:
                self._any = True

    def triggers(self) -> tuple[frozenset[Term], frozenset[Term] | None] | None:
        """The predicates, and the classes as objects of rdf:type (None for every class), that patterns name; None for all."""
        if self._any:
            return None
        classes = frozenset(object for _, object in self._by_predicate.get(TYPE, ()) if object is not None)
        every = any(object is None for _, object in self._by_predicate.get(TYPE, ()))
        return frozenset(self._by_predicate), None if every else classes

    def __call__(self, triple: Triple) -> bool:
        """Whether it may match."""
        if self._any:
            return True
        for subject, object in self._by_predicate.get(triple.predicate, ()):
            if (subject is None or subject == triple.subject) and (object is None or object == triple.object):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Interest:
    """The predicates that matter, and the classes that matter as objects of rdf:type; None is every class."""

    predicates: frozenset[Term]
    classes: frozenset[Term] | None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The schema and the static graph of one query."""

    schema: Schema
    """Cut to what the patterns use."""
    full: Schema
    static: Graph
    relevant: Relevance
    dataset: Dataset

    @classmethod
    def of(cls, pattern: Pattern, dataset: Dataset, graphs: Sequence[IRI], ontology: Iterable[Triple]) -> Knowledge:
        """From the default graph, the named static graphs, and the ontology: statements of the RDFS/OWL vocabulary are schema,
        wherever they stand, the others data."""
        given = [*dataset.default, *(t for name in graphs for t in dataset.named.get(name, ())), *ontology]
        full = Schema.from_triples(given)
        uses: list[TriplePattern | PathPattern] = [*triple_patterns(pattern), *find(pattern, PathPattern)]
        schema = full.reduced(uses)
        relevant = Relevance(pattern)
        static = Graph(t for triple in given if not Schema.is_schema(triple) for t in _kept(triple, schema, relevant))
        return cls(schema, full, static, relevant, dataset)

    def interest(self) -> Interest | None:
        """Which streamed triples can match or entail what matches; None for all."""
        wanted = self.relevant.triggers()
        if wanted is None:
            return None
        predicates, classes = self.schema.triggers()
        both = None if classes is None or wanted[1] is None else classes | wanted[1]
        return Interest(predicates | wanted[0], both)

    def entailed(self, triple: Triple) -> Iterator[Triple]:
        """A streamed triple and what it entails, as far as a pattern can match it."""
        return _kept(triple, self.schema, self.relevant)


def _kept(triple: Triple, schema: Schema, relevant: Relevance) -> Iterator[Triple]:
    return (t for t in schema.consequences(triple) if relevant(t))


def reads_live_graph(pattern: Pattern) -> bool:
    """Whether a condition asks the graph itself."""
    return next(find(pattern, Exists), None) is not None
