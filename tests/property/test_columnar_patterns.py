"""Basic graph patterns in columns, on events and on the background, against the exact evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given, settings

from property.sparql_strategies import bgps, graphs
from scepter import Engine, Event, parse
from scepter.algebra.patterns import BGP
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import Triple

S, DB = "http://e/s", "http://e/db"
Rows = Counter[frozenset[tuple[str, str]]]


def text_of(pattern: BGP) -> str:
    def node(n: object) -> str:
        return f"?{n.name}" if hasattr(n, "name") else str(n.term)  # type: ignore[attr-defined]

    return " . ".join(" ".join(node(n) for n in (t.subject, t.predicate, t.object)) for t in pattern.triples)


def exact(pattern: BGP, triples: Iterable[Triple]) -> Rows:
    graph, dataset = Graph(triples), Dataset(Graph(()), {})
    rows = solutions(pattern, graph, dataset, Context(graph=graph, dataset=dataset))
    return Counter({frozenset((name, str(term)) for name, term in row.items()): 1 for row in rows})


def answers(body: str, event: Iterable[Triple], background: str | None = None) -> Rows:
    query = parse(f"SELECT * WITHIN 5 FROM STREAM S <{S}> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}")
    engine = Engine(query, background=None if background is None else {DB: background})
    found = engine.push(Event(S, event, 1))
    return Counter(frozenset((name, str(term)) for name, term in match.bindings.items()) for match in found)


@settings(max_examples=60, deadline=None)
@given(bgps, graphs.filter(bool))
def test_a_pattern_on_an_event(pattern: BGP, triples: list[Triple]) -> None:
    assert answers(text_of(pattern), triples) == exact(pattern, triples)


@settings(max_examples=60, deadline=None)
@given(bgps, bgps, graphs.filter(bool), graphs.filter(bool))
def test_a_pattern_joined_with_the_background(
    pattern: BGP, static: BGP, triples: list[Triple], background: list[Triple]
) -> None:
    text = "".join(f"{t.subject} {t.predicate} {t.object} .\n" for t in background)
    body = f"{text_of(pattern)} GRAPH <{DB}> {{ {text_of(static)} }}"
    wanted: Rows = Counter()
    for row in exact(pattern, triples):
        for other in exact(static, background):
            joined = {**dict(row), **dict(other)}
            if all(joined[name] == term for name, term in row):
                wanted[frozenset(joined.items())] = 1
    assert answers(body, triples, text) == wanted
