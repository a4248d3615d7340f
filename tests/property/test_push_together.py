"""Events pushed together give the matches of pushing them one by one, whatever the order and the cuts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

import scepter
from scepter import Engine, Event

S = "http://example/s"
_HEAD = "PREFIX : <http://example/> "
QUERIES = (
    _HEAD + f"SELECT ?x ?v WITHIN 4 FROM STREAM S <{S}> WHERE {{ SEQ (A; B) DEFINE GPM A ON S {{ ?x :a ?u }} "
    "DEFINE GPM B ON S { ?x :b ?v } }",
    _HEAD + f"SELECT ?x WITHIN 4 SLIDING FROM STREAM S <{S}> WHERE {{ SEQ (A; B!) DEFINE GPM A ON S {{ ?x :a ?u }} "
    "DEFINE GPM B ON S { ?x :b ?v } }",
    _HEAD + f"SELECT ?x (COUNT(*) AS ?n) FROM STREAM <{S}> WHERE {{ ?x :a ?u . ?x :b ?v }} GROUP BY ?x",
    _HEAD + f"SELECT ?x ?v FROM STREAM <{S}> WHERE {{ ?x :a ?u OPTIONAL {{ ?x :b ?v }} }}",
    _HEAD + f"SELECT ?x ?v FROM STREAM <{S}> [RANGE 3] WHERE {{ ?x :a ?u . ?x :b ?v }}",
    _HEAD + f"SELECT ?x FROM STREAM <{S}> [RANGE 3 STEP 2] WHERE {{ ?x :a ?u . ?x :b ?v }}",
    _HEAD + f"SELECT ?x ?v FROM NAMED <{S}> WIN [RANGE 4 STEP 1] AS :w EVENT ON :w {{ ?x :a ?u }} AS E1 "
    "EVENT ON :w { ?x :b ?v } AS E2 WHERE { MATCH { E1 SEQ E2 } }",
)
_EVENTS = st.lists(st.tuples(st.integers(0, 8), st.sampled_from("ab"), st.sampled_from("xy"), st.integers(1, 2)), max_size=9)


@given(st.sampled_from(QUERIES), _EVENTS, st.lists(st.integers(1, 4), max_size=5), st.sampled_from([None, 2]))
def test_together_and_one_by_one(
    text: str, given_events: list[tuple[int, str, str, int]], cuts: list[int], delay: int | None
) -> None:
    query = scepter.parse(text)
    events = [
        Event(S, f"<http://example/{x}> <http://example/{p}> {value} .", time, name=f"e{n}")
        for n, (time, p, x, value) in enumerate(given_events)
    ]
    one, together = Engine(query, max_delay=delay), Engine(query, max_delay=delay)
    singly = [match for event in events for match in one.push(event)] + one.close()
    jointly: list[scepter.Match] = []
    at = 0
    for cut in [*cuts, len(events)]:
        jointly += together.push_all(events[at : at + cut])
        at += cut
    jointly += together.close()
    assert Counter(match.row() for match in jointly) == Counter(match.row() for match in singly)
    assert [late.event.name for late in together.late] == [late.event.name for late in one.late]
