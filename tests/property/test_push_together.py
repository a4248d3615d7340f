"""Events pushed together give the matches of pushing them one by one, whatever the order and the cuts; and of an instant that
is open, in parts, those of all its events at once."""

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
_SEQ = _HEAD + f"SELECT ?x WITHIN 4 SLIDING FROM STREAM S <{S}> WHERE {{ SEQ (%s) DEFINE GPM A ON S {{ ?x :a ?u }} "
_SEQ += "DEFINE GPM B ON S { ?x :b ?v } DEFINE GPM C ON S { ?x :a ?w FILTER (?w > 1) } DEFINE GPM D ON S { ?x :b ?v } }"
_STARS = _HEAD + "SELECT %s WHERE { { ?x :a ?u } SEQ { ?x :b ?v } %s FILTER (getDURATION() < 4) }"
_CLASSES = """EVENT A AS a some Thing EVENT B AS b some Thing
EVENT Pair MATCH A AS L %s B AS R WITHIN (4 ms)
IF { EVENT L { ?x :a ?u . } EVENT R { ?x :b ?v . } } RETURN Pair AS RDF STREAM"""
AT_ONCE = (
    *(
        _SEQ % steps
        for steps in ("A; B", "A; B; C", "A: B", "A: B: C", "A; B+; C", "A: B+", "A; (B | C)", "A; (B & C)", "A, B")
    ),
    *(_SEQ % steps for steps in ("A; C! ; B", "A; B?; C", "A; B; C!", "C!; A; B")),
    _SEQ.replace("SELECT ?x", "SELECT DISTINCT ?x") % "A; B",
    *(_STARS % each for each in (("?x", ""), ("?x ?v", ""), ("?x ?y", "SEQ { ?y :a ?w }"), ("?x", "OPTIONAL { ?x :a ?w }"))),
    _HEAD + "SELECT ?x WHERE { { ?x :a ?u } EQUALS { ?x :b ?v } }",
    *(_HEAD + f"FROM STREAM <{S}> " + _CLASSES % relation for relation in ("SEQ", "AND", "OVERLAPS", "EQUALS", "MEETS")),
    *QUERIES,
)
"""What may be asked of events of one time, in every language."""
_EVENTS = st.lists(st.tuples(st.integers(0, 8), st.sampled_from("ab"), st.sampled_from("xy"), st.integers(1, 2)), max_size=9)
_CROWD = st.tuples(
    st.integers(0, 2).map(lambda time: 2 * time), st.sampled_from("ab"), st.sampled_from("xy"), st.integers(1, 2)
)


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


@given(st.sampled_from(AT_ONCE), st.lists(_CROWD, max_size=14), st.lists(st.integers(1, 5), max_size=6), st.booleans())
def test_an_instant_in_parts(text: str, crowd: list[tuple[int, str, str, int]], cuts: list[int], shuffled: bool) -> None:
    """Few instants with many events at each: pushed one by one, in parts that reach over instants, and all at once."""
    query = scepter.parse(text)
    crowd = crowd if shuffled else sorted(crowd, key=lambda event: event[0])
    events = [
        Event(S, f"<http://example/{x}> <http://example/{p}> {value} .", time, name=f"e{n}")
        for n, (time, p, x, value) in enumerate(crowd)
    ]
    one, parts, whole = (Engine(query, max_delay=9 if shuffled else None) for _ in range(3))
    singly = [match for event in events for match in one.push(event)] + one.close()
    found: list[scepter.Match] = []
    at = 0
    for cut in [*cuts, len(events)]:
        found += parts.push_all(events[at : at + cut])
        at += cut
    found += parts.close()
    in_order: list[Event] = sorted(events, key=lambda event: event.end)
    together = whole.push_all(in_order) + whole.close()  # each instant whole
    rows = [Counter(match.row() for match in matches) for matches in (singly, found, together)]
    assert rows[0] == rows[2]
    assert rows[1] == rows[2]
