"""Basic graph patterns in columns, on events and on the background, against the exact evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, event, given, reject, settings
from hypothesis import strategies as st

import sparql_text
from property.sparql_strategies import bgps, graphs, inline_data, patterns
from scepter import Engine, Event, QueryError, parse, run_local
from scepter.algebra.patterns import BGP, Pattern
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


def exact(pattern: Pattern, triples: Iterable[Triple]) -> Rows:
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


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(patterns(bgps, bgps, inline_data()), st.lists(graphs.filter(bool), min_size=1, max_size=4))
def test_patterns_of_every_operator_on_the_events_of_a_batch(pattern: Pattern, stream: list[list[Triple]]) -> None:
    body = sparql_text.group(pattern)
    try:
        query = parse(f"SELECT * WITHIN 5 FROM STREAM S <{S}> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}", "spaseq")
    except QueryError:
        reject()  # a variable that nothing binds, or that is bound twice
    event(f"in columns: {'not in columns' not in query.explain()}")
    found = run_local(query, [Event(S, triples, at) for at, triples in enumerate(stream)])
    for at, triples in enumerate(stream):
        ours = Counter(
            frozenset((name, str(term)) for name, term in match.bindings.items()) for match in found if match.start == at
        )  # fmt: skip
        assert ours == exact(pattern, triples)
