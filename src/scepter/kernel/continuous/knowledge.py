"""What a run knows before any event: the schema, cut to what the patterns use, and static data with what it entails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from scepter.algebra.expressions import Constant, Exists
from scepter.algebra.patterns import PathPattern, Pattern, TriplePattern
from scepter.algebra.walk import find
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
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

    def constants(self, predicate: Term) -> list[tuple[Term | None, Term | None]]:
        """The subjects and objects that patterns of a predicate name; None stands for any."""
        return self._by_predicate.get(predicate, [])

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
        sources = [dataset.default, *(dataset.named[name] for name in graphs if name in dataset.named), Graph(ontology)]
        full = Schema.from_triples(t for source in sources for t in _schema_statements(source))
        if full.extends_itself():
            full = Schema.from_triples(t for source in sources for t in source)
        uses: list[TriplePattern | PathPattern] = [*triple_patterns(pattern), *find(pattern, PathPattern)]
        schema = full.reduced(uses)
        relevant = Relevance(pattern)
        interest = _interest(schema, relevant)
        data = (t for source in sources for t in _useful(source, interest, relevant, schema) if not Schema.is_schema(t))
        static = Graph(t for triple in data for t in _kept(triple, schema, relevant))
        return cls(schema, full, static, relevant, dataset)

    def interest(self) -> Interest | None:
        """Which streamed triples can match or entail what matches; None for all."""
        return _interest(self.schema, self.relevant)

    def entailed(self, triple: Triple) -> Iterator[Triple]:
        """A streamed triple and what it entails, as far as a pattern can match it."""
        return _kept(triple, self.schema, self.relevant)


def _interest(schema: Schema, relevant: Relevance) -> Interest | None:
    wanted = relevant.triggers()
    if wanted is None:
        return None
    predicates, classes = schema.triggers()
    both = None if classes is None or wanted[1] is None else classes | wanted[1]
    return Interest(predicates | wanted[0], both)


def _schema_statements(source: Graph) -> Iterable[Triple]:
    """Of a graph in columns, only these become terms."""
    if not isinstance(source, StoredGraph):
        return (t for t in source if Schema.is_schema(t))
    words = [p for p in source.predicates() if p != TYPE and speaks_of_schema(p, None)]
    kinds = [kind for kind in source.objects_of(TYPE) if speaks_of_schema(TYPE, kind)]
    found = [source.match(None, word, None) for word in words] + [source.match(None, TYPE, kind) for kind in kinds]
    return chain.from_iterable(found)


def _useful(source: Graph, interest: Interest | None, relevant: Relevance, schema: Schema) -> Iterable[Triple]:
    """The triples that may match or entail what matches; of a graph in columns, only these become terms."""
    if not isinstance(source, StoredGraph) or interest is None:
        return source
    entailing, _ = schema.triggers()
    found: list[Sequence[Triple]] = []
    for predicate in interest.predicates:
        if predicate == TYPE and interest.classes is not None:
            found += [source.match(None, TYPE, kind) for kind in interest.classes]
        elif predicate in entailing:
            found.append(source.match(None, predicate, None))
        else:
            found += [source.match(subject, predicate, object) for subject, object in relevant.constants(predicate)]
    return chain.from_iterable(found)


def _kept(triple: Triple, schema: Schema, relevant: Relevance) -> Iterator[Triple]:
    return (t for t in schema.consequences(triple) if relevant(t))


def reads_live_graph(pattern: Pattern) -> bool:
    """Whether a condition asks the graph itself."""
    return next(find(pattern, Exists), None) is not None
