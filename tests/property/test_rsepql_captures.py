"""What RSEP-QL captures (spec/30-rsep-ql rule 12): the same streams asked in two languages."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import event, given, settings
from hypothesis import strategies as st

import scepter
from scepter.rdf.terms import IRI, Triple

NS = "http://example/"
STREAM = f"{NS}s"
PREFIX = f"PREFIX : <{NS}>\n"
QUICK = settings(deadline=None, max_examples=40)

_TERMS = st.sampled_from([IRI(NS + name) for name in "ab"])
_TRIPLES = st.builds(Triple, _TERMS, st.sampled_from([IRI(NS + name) for name in "pq"]), _TERMS)
_Timed = tuple[int, Triple]


def answers(text: str, language: str, stream: Sequence[_Timed], **options: object) -> set[tuple[object, ...]]:
    engine = scepter.Engine(scepter.parse(PREFIX + text, language), **options)  # type: ignore[arg-type]  # options by name
    events = [scepter.Event(STREAM, [triple], time) for time, triple in stream]
    matches = engine.push_all(events) + engine.close()
    return {(m.start, m.end, frozenset((name, str(term)) for name, term in m.bindings.items())) for m in matches}


@QUICK
@given(st.lists(st.tuples(st.integers(0, 9), _TRIPLES), min_size=4, max_size=10))
def test_landmark_and_seq_are_unrestricted_ep_sparql(given_items: list[_Timed]) -> None:
    stream = sorted(given_items, key=lambda item: item[0])
    ep_sparql = "SELECT ?x ?y ?z ?v FROM STREAM :s WHERE { { ?x :p ?y } SEQ { ?y :q ?z } SEQ { ?z :p ?v } }"
    rsep_ql = """SELECT ?x ?y ?z ?v FROM NAMED :s WIN [LND 0] AS :w
        EVENT ON :w { ?x :p ?y } AS E1  EVENT ON :w { ?y :q ?z } AS E2  EVENT ON :w { ?z :p ?v } AS E3
        WHERE { MATCH { E1 SEQ E2 SEQ E3 } }"""
    found = answers(rsep_ql, "rsep-ql", stream)
    event(f"rows: {min(3, len(found))}")
    assert found == answers(ep_sparql, "ep-sparql", stream)


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 9), _TRIPLES), min_size=3, max_size=10, unique_by=lambda item: item[0]),
    st.sampled_from(["chronological", "recent"]),
)
def test_landmark_and_a_policy_are_ep_sparql_with_it(given_items: list[_Timed], policy: str) -> None:
    """At distinct times: of items at one time EP-SPARQL pairs each with one, RSEP-QL keeps all that are first or last."""
    stream = sorted(given_items, key=lambda item: item[0])
    ep_sparql = "SELECT ?x ?y ?z FROM STREAM :s WHERE { { ?x :p ?y } SEQ { ?y :q ?z } }"
    rsep_ql = """SELECT ?x ?y ?z FROM NAMED :s WIN [LND 0] AS :w
        EVENT ON :w { ?x :p ?y } AS E1  EVENT ON :w { ?y :q ?z } AS E2
        WHERE { MATCH { E1 SEQ E2 } }"""
    found = answers(rsep_ql, "rsep-ql", stream, policy=policy)
    event(f"rows: {min(3, len(found))}")
    assert found == answers(ep_sparql, "ep-sparql", stream, policy=policy)


@QUICK
@given(
    st.lists(st.tuples(st.integers(1, 12), st.sampled_from("pq")), min_size=4, max_size=8),
    st.integers(3, 8),
    st.sampled_from([1, 2, 3]),
)
def test_time_window_and_naive_are_c_sparql_with_timestamps(items: list[tuple[int, str]], width: int, step: int) -> None:
    """Both apply where each side has one mapping: C-SPARQL compares the latest times of the two triples."""
    a, b, c = (IRI(NS + name) for name in "abc")
    triples = {"p": Triple(a, IRI(f"{NS}p"), b), "q": Triple(b, IRI(f"{NS}q"), c)}
    stream = sorted(((time, triples[which]) for time, which in items), key=lambda item: item[0])
    c_sparql = f"""SELECT ?x ?y ?z FROM STREAM :s [RANGE {width} STEP {step}]
        WHERE {{ ?x :p ?y . ?y :q ?z FILTER (timestamp(?x, :p, ?y) < timestamp(?y, :q, ?z)) }}"""
    rsep_ql = f"""SELECT ?x ?y ?z FROM NAMED :s WIN [RANGE {width} STEP {step}] AS :w
        EVENT ON :w {{ ?x :p ?y }} AS E1  EVENT ON :w {{ ?y :q ?z }} AS E2
        WHERE {{ MATCH {{ E1 SEQ NAIVE E2 }} }}"""
    instants = range(step, 13, step)
    held = {t for t, _, _ in answers(c_sparql, "sparkwave", stream) if t in instants}
    event(f"instants: {min(3, len(held))}")
    assert {t for t in instants if answers(rsep_ql, "rsep-ql", stream, evaluate_at=[t])} == held
