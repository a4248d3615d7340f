"""Answers of this engine and of another one in one form, so that they can be compared by RDF term."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pyoxigraph as ox

import scepter
from conformance.sparql.suite import PROLOGUE, Data, QueryTest

STREAM = "http://example/stream"
NOW = 7
_XSD = "http://www.w3.org/2001/XMLSchema#"
_EXACT = frozenset(_XSD + name for name in ("integer", "decimal"))
_FLOATS = frozenset(_XSD + name for name in ("float", "double"))
Term: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Row: TypeAlias = Mapping[str, Term]


@dataclass(frozen=True)
class Answer:
    """Solutions in order, a graph or a boolean."""

    rows: tuple[Row, ...] = ()
    graph: frozenset[ox.Triple] | None = None
    boolean: bool | None = None

    def same_multiset(self, other: Answer) -> bool:
        """Whether two answers are equal up to blank nodes; the order of solutions does not count."""
        return self.boolean == other.boolean and self._canonical() == other._canonical()

    def same_sequence(self, other: Answer) -> bool:
        """Whether two answers are equal in this order, too."""
        return self.same_multiset(other) and [_shown(r) for r in self.rows] == [_shown(r) for r in other.rows]

    def _canonical(self) -> ox.Dataset:
        """Each row is a node with an arc per variable: solutions become a graph, and graphs can be compared."""
        found = ox.Dataset(ox.Quad(t.subject, t.predicate, _normal(t.object)) for t in self.graph or ())
        for row in self.rows:
            node = ox.BlankNode()
            found.add(ox.Quad(node, ox.NamedNode("a:row"), ox.Literal("row")))
            for name, term in row.items():
                found.add(ox.Quad(node, ox.NamedNode("a:" + name), _normal(term)))
        found.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        return found

    def __str__(self) -> str:
        if self.boolean is not None:
            return str(self.boolean)
        if self.graph is not None:
            return "\n".join(sorted(map(str, self.graph)))
        return "\n".join(" ".join(f"?{n}={t}" for n, t in _shown(row)) for row in self.rows) or "nothing"


def _shown(row: Row) -> list[tuple[str, str]]:
    return sorted((name, "_:" if isinstance(term, ox.BlankNode) else str(_normal(term))) for name, term in row.items())


def _normal(term: Term) -> Term:
    """The lexical form of a number is free, and a language tag means the same in any case."""
    if not isinstance(term, ox.Literal):
        return term
    if term.language is not None:
        return ox.Literal(term.value, language=term.language.lower())
    try:
        if term.datatype.value in _EXACT:
            return ox.Literal(str(Decimal(term.value).normalize()), datatype=term.datatype)
        if term.datatype.value in _FLOATS:
            return ox.Literal(repr(float(term.value)), datatype=term.datatype)
    except (ArithmeticError, ValueError):
        return term  # ill-typed: only the text counts
    return term


# ---- another engine


def their_answer(test: QueryTest) -> Answer:
    """What the other engine answers, or the test itself says."""
    if test.expect is None:
        return _of_results(_store(test.data).query(test.text))
    text = test.expect.strip()
    if text in ("true", "false"):
        return Answer(boolean=text == "true")
    if text.startswith("VALUES"):
        return _of_results(ox.Store().query(f"{PROLOGUE} SELECT * {{ {text} }}"))
    return Answer(graph=frozenset(q.triple for q in ox.parse(PROLOGUE + text, format=ox.RdfFormat.TURTLE)))


def they_refuse(text: str) -> bool:
    """Whether the other engine does not take a query, either."""
    try:
        ox.Store().query(text)
    except SyntaxError:
        return True
    return False


def _store(data: Data) -> ox.Store:
    store = ox.Store()
    store.load(data.default, format=ox.RdfFormat.TURTLE)
    for iri, text in data.named.items():
        store.load(text, format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode(iri))
    return store


def _of_results(results: object) -> Answer:
    match results:
        case ox.QueryBoolean():
            return Answer(boolean=bool(results))
        case ox.QueryTriples():
            return Answer(graph=frozenset(results))
        case ox.QuerySolutions():
            names = [v.value for v in results.variables]
            return Answer(tuple({n: t for n in names if (t := row[n]) is not None} for row in results))
        case _:
            raise AssertionError(f"no answer: {results!r}")


# ---- this engine


def our_answer(test: QueryTest) -> Answer:
    """All triples of the default graph in one event, at one instant; named graphs are background."""
    query = scepter.parse(test.text, language="ep-sparql")
    background: dict[str | None, str | Path | Iterable[str | Path]] = dict(test.data.named.items())
    engine = scepter.Engine(query, background=background)
    matches = [*engine.push(scepter.Event(STREAM, test.data.default, NOW)), *engine.close()]
    assert all((m.start, m.end) == (NOW, NOW) for m in matches), "an answer at another time"
    if query.lowered.asks:
        return Answer(boolean=bool(matches))
    if query.lowered.constructs:
        return Answer(graph=frozenset(_triple(*t) for m in matches for t in m.graph or ()))
    return Answer(tuple({name: _term(term) for name, term in m.bindings.items()} for m in matches))


def _triple(*terms: scepter.IRI | scepter.BlankNode | scepter.Literal) -> ox.Triple:
    subject, predicate, object = map(_term, terms)
    assert not isinstance(subject, ox.Literal) and isinstance(predicate, ox.NamedNode)
    return ox.Triple(subject, predicate, object)


def _term(term: scepter.IRI | scepter.BlankNode | scepter.Literal) -> Term:
    match term:
        case scepter.IRI(value):
            return ox.NamedNode(value)
        case scepter.BlankNode(label):
            return ox.BlankNode("b" + label.encode().hex())
        case scepter.Literal(lexical, _, str(language)):
            return ox.Literal(lexical, language=language)
        case scepter.Literal(lexical, datatype):
            return ox.Literal(lexical, datatype=ox.NamedNode(datatype))


def difference(ours: Answer, theirs: Answer) -> str:
    """What is missing and what is too much, or both answers where that is not all."""
    found, wanted = Counter(str(ours).splitlines()), Counter(str(theirs).splitlines())
    lines = [*("missing    " + line for line in (wanted - found).elements())]
    lines += ("unexpected " + line for line in (found - wanted).elements())
    return "\n" + "\n".join(lines or [f"ours:\n{ours}", f"expected:\n{theirs}"])
