"""Static data in columns against the same data as terms: the terms' ids and numbers, and all that a schema entails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from property.schema_strategies import CLASSES, PROPERTIES, data, statements
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.kernel.condition.programs import number_of
from scepter.kernel.entailment.closure import entailed, union
from scepter.kernel.entailment.knowledge import Knowledge
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.kernel.static.graph_columns import GraphColumns, graph_columns
from scepter.kernel.texts import Texts
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import SUB_CLASS_OF, TYPE
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.indexing import stored
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term, Triple

LITERALS: list[Term] = [
    *(Literal(text, XSD + kind) for text in ("1", "-1.50", "1e3", "x", "123456789012345678901") for kind in
      ("integer", "decimal", "double", "float", "string", "dateTime")),
    Literal("naïve \\ \"x\"\n", XSD + "string"), Literal("a", LANG_STRING, "en-gb"), Literal("", XSD + "string"),
]  # fmt: skip
TERMS: list[Term] = [IRI("http://e/x"), IRI("http://e/\u00e9"), BlankNode("b"), BlankNode("b1x"), *LITERALS]


@pytest.fixture(autouse=True, scope="module")
def cache() -> Iterator[None]:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCEPTER_CACHE", folder)
        yield


def mapped(triples: list[Triple], scope: str = "") -> StoredGraph:
    """The triples as the index of a file. The file is gone afterwards, the index is not."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.nt"
        path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in triples), encoding="utf-8")
        return StoredGraph(stored(path), scope)


def told(columns: GraphColumns, texts: Texts) -> dict[tuple[int, ...], tuple[object, ...]]:
    """Per triple, by its ids: its terms, its number, whether its object is a literal."""
    rows = zip(columns.ids.tolist(), columns.refs.tolist(), columns.number, columns.scale, columns.literal, strict=True)
    return {
        tuple(ids): (*map(texts.term, refs), str(number), int(scale), bool(literal))
        for ids, refs, number, scale, literal in rows
    }


@settings(deadline=None)
@given(
    st.lists(st.builds(Triple, st.sampled_from(TERMS[:4]), st.sampled_from(TERMS[:2]), st.sampled_from(TERMS)), max_size=8),
    st.sampled_from([None, TERMS[0]]),
)
def test_columns_of_a_file_are_those_of_its_terms(triples: list[Triple], predicate: Term | None) -> None:
    x, y = Variable("x"), Variable("y")
    patterns = None
    if predicate is not None:
        patterns = [TriplePattern(x, Constant(predicate), y), TriplePattern(x, Constant(predicate), x)]
    key, fast, slow = TermKey.random(), Texts(), Texts()
    scoped = [Triple(*(BlankNode(f"s{t.label}") if isinstance(t, BlankNode) else t for t in triple)) for triple in triples]
    found = told(graph_columns(mapped(triples, "s"), key, fast, patterns), fast)
    assert found == told(graph_columns(Graph(scoped), key, slow, patterns), slow)
    kept = [t for t in scoped if predicate is None or t.predicate == predicate]
    assert found == {tuple(term_id(key, str(term)) for term in t): (*t, *by_term(t.object)) for t in kept}


def by_term(term: Term) -> tuple[object, ...]:
    """Number, scale, and whether it is a literal: the twin of what is read from bytes."""
    number, scale = number_of(term)
    return str(np.float64(number)), scale, isinstance(term, Literal)


def test_another_key_gives_the_ids_of_a_scan() -> None:
    graph = mapped([Triple(TERMS[0], TERMS[1], term) for term in TERMS])
    store = graph.store
    assert np.array_equal(store.texts.read(store.refs, store.key).ids, store.ids)


NODES = st.sampled_from([Variable("a"), Variable("b")])
PATTERNS = st.one_of(
    st.builds(TriplePattern, NODES, st.sampled_from([Constant(p) for p in (*PROPERTIES, TYPE)]), NODES),
    st.builds(TriplePattern, NODES, st.just(Constant(TYPE)), st.sampled_from([Constant(c) for c in CLASSES])),
    st.builds(TriplePattern, NODES, NODES, NODES),
)
DATA = st.lists(data(PROPERTIES), max_size=6)


@settings(deadline=None)
@given(
    PATTERNS,
    st.lists(statements(PROPERTIES), max_size=4),
    st.lists(DATA, min_size=1, max_size=3),
    st.sets(st.integers(0, 2), min_size=1),
)
@example(TriplePattern(Variable("a"), Variable("b"), Variable("c")), [], [[Triple(CLASSES[0], TYPE, CLASSES[1])]], {0})
@example(TriplePattern(Variable("a"), Variable("b"), Variable("c")), [Triple(CLASSES[0], SUB_CLASS_OF, CLASSES[1])], [[]], {0})
def test_static_data_entails_the_same_in_columns(
    pattern: TriplePattern, schema: list[Triple], parts: list[list[Triple]], in_files: set[int]
) -> None:
    """Whichever of the graphs are mapped from files, and whether the schema stands beside them or in one of them."""
    names = [IRI(f"http://e/g{i}") for i in range(len(parts))]
    parts = [[*part, *(schema if i == 1 else ())] for i, part in enumerate(parts)]
    plain = {name: Graph(scoped(part, i)) for i, (name, part) in enumerate(zip(names, parts, strict=True))}
    files = {
        name: mapped(part, f"g{i}") if i in in_files else plain[name]
        for i, (name, part) in enumerate(zip(names, parts, strict=True))
    }
    beside = tuple(schema) if len(parts) == 1 else ()
    known, expected = (Knowledge.of(BGP((pattern,)), Dataset(named=g), names, beside) for g in (files, plain))
    wanted = tuple(node.term if isinstance(node, Constant) else None for node in pattern_nodes(pattern))
    assert set(known.static.match(*wanted)) == set(expected.static.match(*wanted))
    assert known.schema.describe() == expected.schema.describe()


def pattern_nodes(pattern: TriplePattern) -> tuple[Constant | Variable, ...]:
    return pattern.subject, pattern.predicate, pattern.object


def scoped(triples: list[Triple], number: int) -> list[Triple]:
    """The blank nodes of a file are its own."""
    return [
        Triple(*(BlankNode(f"g{number}{t.label}") if isinstance(t, BlankNode) else t for t in triple)) for triple in triples
    ]


@settings(deadline=None)
@given(st.lists(statements(PROPERTIES), max_size=4), st.lists(DATA, max_size=3), st.sets(st.integers(0, 2)))
def test_unions_and_what_they_entail(rules: list[Triple], parts: list[list[Triple]], in_files: set[int]) -> None:
    plain = [Graph(scoped(part, i)) for i, part in enumerate(parts)]
    graphs = [mapped(part, f"g{i}") if i in in_files else plain[i] for i, part in enumerate(parts)]
    schema = Schema.from_triples(rules)
    assert set(union(graphs)) == {t for graph in plain for t in graph}
    assert set(entailed(graphs, schema)) == {t for graph in plain for triple in graph for t in schema.consequences(triple)}
