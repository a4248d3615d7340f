"""What a run knows before any event: the schema, cut to what the patterns use, and static data with what it entails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scepter.algebra.patterns import PathPattern, Pattern, TriplePattern
from scepter.algebra.walk import find
from scepter.kernel.entailment.relevance import Interest, Relevance, triple_patterns
from scepter.kernel.entailment.static_graph import schema_statements, static_graph
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.ontology.schema import Schema
from scepter.rdf.terms import IRI, Triple
from scepter.remembered import remembered


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
    def of(cls, pattern: Pattern, dataset: Dataset, graphs: Sequence[IRI], ontology: tuple[Triple, ...]) -> Knowledge:
        """From the default graph, the named static graphs, and the ontology: statements of the RDFS/OWL vocabulary are schema,
        wherever they stand, the others data."""
        given = [dataset.default, *(dataset.named[name] for name in graphs if name in dataset.named)]
        full, stated = _told(ontology, *given)
        sources = [*given, stated]
        uses: list[TriplePattern | PathPattern] = [*triple_patterns(pattern), *find(pattern, PathPattern)]
        schema = full.reduced(uses)
        relevant = Relevance(pattern)
        static = static_graph(sources, relevant, schema)
        return cls(schema, full, static, relevant, dataset)

    def interest(self) -> Interest | None:
        """Which streamed triples can match or entail what matches; None for all."""
        return self.relevant.interest(self.schema)

    def entailed(self, triple: Triple) -> Iterator[Triple]:
        """A streamed triple and what it entails, as far as a pattern can match it."""
        return (t for t in self.schema.consequences(triple) if self.relevant(t))


@remembered(most=4)
def _told(ontology: tuple[Triple, ...], *graphs: Graph) -> tuple[Schema, Graph]:
    """The schema among all, and what the ontology says besides: the same for all queries over these graphs."""
    sources = [*graphs, Graph(ontology)]
    full = Schema.from_triples(t for source in sources for t in schema_statements(source))
    if full.extends_itself():
        full = Schema.from_triples(t for source in sources for t in source)
    return full, Graph(t for t in ontology if not Schema.is_schema(t))
