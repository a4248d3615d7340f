"""Sequences of sequences under policies, against the naive evaluator: what is kept from instant to instant stays right."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from naive import rsepql as naive
from property.rsepql_strategies import EXAMPLES, NS, STREAMS, QueryText
from property.test_rsepql_naive import by_definition, by_engine
from scepter.rdf.terms import IRI, Triple

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])

_POLICY = st.sampled_from(["", " NAIVE", " CHRONOLOGICAL", " CHRONOLOGICAL", " RECENT", " RECENT"])
_EXTREME = st.sampled_from(["", "", "", "FIRST ", "LAST "])


@st.composite
def chains(draw: st.DrawFn) -> QueryText:
    """`(E SEQ E) SEQ E`, sometimes one longer, over windows that may move by different steps."""
    windows = [
        f"FROM NAMED :s1 WIN [{draw(st.sampled_from(['LND 0', 'RANGE 6', 'RANGE 9', 'RANGE 6 STEP 2']))}] AS :w{number}"
        for number in range(draw(st.sampled_from([1, 1, 2])))
    ]
    bodies = ("?x :p ?y", "?y :q ?z", draw(st.sampled_from(["?x :p ?v", "?z :p ?v", "?y :p ?v", "?u :q ?v"])))
    events = [
        f"EVENT ON :w{draw(st.integers(0, len(windows) - 1))} {{ {body} }} AS E{number}" for number, body in enumerate(bodies)
    ]
    pattern = "E0"
    for label in ("E1", "E2", "E1")[: draw(st.sampled_from([2, 2, 2, 3]))]:
        left = pattern if pattern == "E0" else f"({pattern})"
        pattern = f"{draw(_EXTREME)}{left} SEQ{draw(_POLICY)} {draw(_EXTREME)}{label}"
    output = draw(st.sampled_from(["", "REGISTER RSTREAM :out AS ", "REGISTER DSTREAM :out AS "]))
    lines = [f"PREFIX : <{NS}>", f"{output}SELECT *", *windows, *events, f"WHERE {{ MATCH {{ {pattern} }} }}"]
    return QueryText("\n".join(lines), draw(st.sampled_from([None, "chronological", "recent"])), None)


@st.composite
def streams(draw: st.DrawFn) -> list[naive.Event]:
    """Small items, one after the other or together."""
    found, time = [], 0
    lasting = draw(st.sampled_from([[0], [0, 0, 2]]))
    for _ in range(draw(st.sampled_from([8, 12, 16]))):
        time += draw(st.sampled_from([0, 1, 1, 1]))
        letters = st.sampled_from("aab")
        triple = Triple(*(IRI(NS + draw(each)) for each in (letters, st.sampled_from("pq"), letters)))
        found.append(naive.Event(STREAMS[0], time, time + draw(st.sampled_from(lasting)), (triple,)))
    return sorted(found, key=lambda each: each.end)


@MANY
@given(chains(), streams(), st.sampled_from([3, 1_000]))
def test_chains_agree_with_the_definition(query: QueryText, stream: list[naive.Event], size: int) -> None:
    note(str(query))
    wanted = by_definition(query, stream)
    event(f"rows: {min(3, wanted.total())}")
    assert by_engine(query, stream, size, 0) == wanted
