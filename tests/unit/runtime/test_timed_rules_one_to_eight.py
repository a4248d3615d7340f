"""EP-SPARQL rules 1 to 8, sentence by sentence: patterns over several events, relations, optional operators, monotonicity."""

from __future__ import annotations

import pytest

import scepter
from epsparql_runs import answers, engine, events, line

# ---- rule 1: BGP, static triples, entailment


def test_a_triple_pattern_is_matched_by_any_event() -> None:
    assert answers("SELECT * { ?x :p ?v . ?x :q ?w }", "1 { :a :p 1 } 5 { :a :q 2 } 7 { :b :q 3 }") == ["1..5 v=1 w=2 x=:a"]


def test_one_occurrence_may_match_two_patterns() -> None:
    assert answers("SELECT * { ?x :p ?v . ?y :p ?v }", "3 { :a :p 1 }") == ["3..3 v=1 x=:a y=:a"]


def test_the_same_mapping_and_interval_is_one_solution() -> None:
    stream = "1 { :a :p 1 } 2 { :a :q 1 } 3 { :a :q 1 } 5 { :a :r 1 }"
    assert answers("SELECT * { ?x :p ?u . ?x :q ?v . ?x :r ?w }", stream) == ["1..5 u=1 v=1 w=1 x=:a"]


def test_rows_that_differ_in_what_is_not_selected_stay_two() -> None:
    assert answers("SELECT ?x { ?x :p ?v }", "1 { :a :p 1 , 2 }") == ["1..1 x=:a", "1..1 x=:a"]


def test_distinct_makes_them_one_per_interval() -> None:
    stream = "1 { :a :p 1 , 2 } 2 { :a :p 1 }"
    assert answers("SELECT DISTINCT ?x { ?x :p ?v }", stream) == ["1..1 x=:a", "2..2 x=:a"]


def test_terms_join_and_values_compare() -> None:
    stream = "1 { :a :p 2 } 2 { :b :q 2.0 }"
    assert answers("SELECT * { ?x :p ?v . ?y :q ?v }", stream) == []
    assert answers("SELECT ?x ?y { ?x :p ?v . ?y :q ?w FILTER (?v = ?w) }", stream) == ["1..2 x=:a y=:b"]


def test_blank_nodes_of_two_events_are_two() -> None:
    assert answers("SELECT ?v ?w { ?b :p ?v . ?b :q ?w }", "1 { _:b :p 1 } 2 { _:b :q 2 } 3 { _:b :p 3 ; :q 4 }") == [
        "3..3 v=3 w=4"
    ]


def test_static_triples_match_without_time() -> None:
    query = "SELECT * { ?x :p ?v . ?x :kind ?k }"
    assert answers(query, "4 { :a :p 1 } 5 { :b :p 2 }", background=":a :kind :K .") == ["4..4 k=:K v=1 x=:a"]


def test_static_alone_is_no_match() -> None:
    assert answers("SELECT * { ?x :kind ?k }", "4 { :a :p 1 }", background=":a :kind :K .") == []


def test_a_triple_both_static_and_streamed_matches_both_ways() -> None:
    query = "SELECT * { { ?x :p ?v } SEQ { ?x :q ?w } }"
    found = answers(query, "1 { :a :p 1 } 3 { :a :q 2 }", background=":a :p 1 .")
    assert found == ["1..3 v=1 w=2 x=:a", "3..3 v=1 w=2 x=:a"]


def test_timeless_joins_in_every_relation() -> None:
    for operator in ("SEQ", "EQUALS", "DURING", "METBY"):
        query = f"SELECT ?x ?k {{ {{ ?x :kind ?k }} {operator} {{ ?x :p ?v }} }}"
        assert answers(query, "2..4 { :a :p 1 }", background=":a :kind :K .") == ["2..4 k=:K x=:a"]


def test_a_timeless_mandatory_side_takes_timeless_partners_only() -> None:
    query = "SELECT * { { ?x :kind ?k OPTIONAL { ?x :p ?v } } ?y :q ?w }"
    found = answers(query, "1 { :a :p 1 } 2 { :b :q 2 }", background=":a :kind :K .")
    assert found == ["2..2 k=:K w=2 x=:a y=:b"]
    found = answers(query, "1 { :a :p 1 } 2 { :b :q 2 }", background=":a :kind :K ; :p 9 .")
    assert found == ["2..2 k=:K v=9 w=2 x=:a y=:b"]


def test_streamed_triples_stand_for_what_they_entail() -> None:
    ontology = ":Temp rdfs:subClassOf :Sensor . :reports rdfs:domain :Sensor ; rdfs:subPropertyOf :says ."
    found = answers("SELECT ?s { ?s a :Sensor }", "1 { :s1 a :Temp } 2 { :s2 :reports 5 }", ontology=ontology)
    assert found == ["1..1 s=:s1", "2..2 s=:s2"]
    assert answers("SELECT ?s ?v { ?s :says ?v }", "2 { :s2 :reports 5 }", ontology=ontology) == ["2..2 s=:s2 v=5"]


def test_the_ontology_itself_matches() -> None:
    ontology = ":Temp rdfs:subClassOf :Sensor . :Sensor rdfs:subClassOf :Thing ."
    query = "SELECT ?c { ?s a :Temp . :Temp rdfs:subClassOf ?c }"
    assert answers(query, "1 { :s1 a :Temp }", ontology=ontology) == ["1..1 c=:Sensor", "1..1 c=:Thing"]


# ---- rule 2: time functions, filters


def test_time_functions_speak_of_their_own_group() -> None:
    query = "SELECT ?d ?e { { ?x :p ?v BIND (getDURATION() AS ?d) } SEQ { ?x :q ?w } BIND (getENDTIME() AS ?e) }"
    assert answers(query, "1..3 { :a :p 1 } 9 { :a :q 2 }") == ["1..9 d=2 e=9"]


def test_in_an_optional_group_they_speak_of_that_group() -> None:
    query = "SELECT ?v ?w { ?x :p ?v OPTIONAL { ?x :q ?w FILTER (getENDTIME() < 3 && ?w > ?v) } }"
    assert answers(query, "2 { :a :q 5 } 4 { :a :q 6 } 5 { :a :p 1 } 6 { :a :p 5 }") == ["2..5 v=1 w=5", "6..6 v=5"]


def test_datetimes_give_datetimes_and_durations() -> None:
    query = "SELECT (getSTARTTIME() AS ?s) (getDURATION() AS ?d) { { ?x :p ?v } SEQ { ?x :q ?w } }"
    stream = "2026-01-01T00:00:00Z { :a :p 1 } 2026-01-02T01:00:00.5Z { :a :q 2 }"
    assert answers(query, stream) == ["2026-01-01T00:00:00Z..2026-01-02T01:00:00.5Z d=P1DT1H0.5S s=2026-01-01T00:00:00Z"]


@pytest.mark.parametrize(
    "constant", ['"P1D"^^xsd:duration', '"2026-01-01T00:00:00Z"^^xsd:dateTime', '"PT5S"^^xsd:dayTimeDuration']
)
def test_a_constant_of_the_other_kind_is_an_error_before_the_run(constant: str) -> None:
    running = engine(f"SELECT * {{ ?x :p ?v FILTER (getDURATION() < {constant}) }}")
    with pytest.raises(scepter.QueryError, match="integers"):
        running.push(events("1 { :a :p 1 }")[0])


def test_so_is_a_number_on_a_timeline_of_datetimes() -> None:
    running = engine("SELECT * { ?x :p ?v FILTER (getENDTIME() - getSTARTTIME() < 5) }")
    with pytest.raises(scepter.QueryError, match="dateTimes"):
        running.push(events("2026-01-01T00:00:00Z { :a :p 1 }")[0])


def test_functions_of_times_are_no_comparison_of_kinds() -> None:
    query = "SELECT ?x { ?x :p ?v FILTER (YEAR(getENDTIME()) = 2026) }"
    assert answers(query, "2026-01-01T00:00:00Z { :a :p 1 } 2027-01-01T00:00:00Z { :b :p 1 }") == [
        "2026-01-01T00:00:00Z..2026-01-01T00:00:00Z x=:a"
    ]


# ---- rules 3 to 6


def test_seq_is_strict() -> None:
    stream = "1..3 { :a :p 1 } 3 { :b :q 1 } 4 { :d :q 1 } 3..5 { :c :q 1 }"
    assert answers("SELECT ?x ?y { { ?x :p ?v } SEQ { ?y :q ?w } }", stream) == ["1..4 x=:a y=:d"]


def test_all_operators_have_one_precedence_and_go_left() -> None:
    query = "SELECT ?x { { ?x :p 1 } UNION { ?x :p 2 } SEQ { ?x :q ?w } }"
    assert answers(query, "1 { :a :p 1 } 2 { :b :p 2 } 3 { :a :q 1 } 4 { :b :q 1 }") == ["1..3 x=:a", "2..4 x=:b"]


def test_optionalseq_looks_only_back() -> None:
    query = "SELECT ?v ?w { { ?x :p ?v } OPTIONALSEQ { ?x :q ?w } }"
    assert answers(query, "1 { :a :q 1 } 2 { :a :p 1 } 3 { :a :q 2 } 3 { :a :p 2 }") == ["1..1 w=1", "2..3 v=1 w=2"]


def test_equalsoptional() -> None:
    query = "SELECT ?v ?w { { ?x :p ?v } EQUALSOPTIONAL { ?x :q ?w } }"
    assert answers(query, "1..3 { :a :p 1 } 1..3 { :a :q 2 } 2..3 { :a :q 3 } 4 { :a :p 5 }") == ["1..3 v=1 w=2", "4..4 v=5"]


def test_optional_takes_what_has_ended_by_then() -> None:
    query = "SELECT ?v ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }"
    assert answers(query, "1 { :a :p 1 } 2 { :a :q 2 } 3 { :a :p 3 } 3 { :a :q 4 }") == [
        "1..1 v=1",
        "2..3 v=3 w=2",
        "3..3 v=3 w=4",
    ]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("DURING", ["x=:inside"]),
        ("STARTS", ["x=:first"]),
        ("FINISHES", ["x=:last"]),
        ("EQUALS", ["x=:same"]),
        ("MEETS", ["x=:touching"]),
        ("OVERLAPS", ["x=:early"]),
        ("OVERLAPPEDBY", ["x=:late"]),
        ("METBY", ["x=:after"]),
        ("CONTAINS", ["x=:around"]),
        ("STARTEDBY", ["x=:longer"]),
        ("FINISHEDBY", ["x=:sooner"]),
    ],
)
def test_allens_relations(operator: str, expected: list[str]) -> None:
    #                 0   2   4   6   8   10  12
    stream = """
      0..4 { :touching :p 1 } 2..5 { :early :p 1 } 4..6 { :first :p 1 } 5..7 { :inside :p 1 } 3..8 { :sooner :p 1 }
      4..8 { :same :p 1 } 6..8 { :last :p 1 } 4..8 { :b :q 1 } 4..9 { :longer :p 1 } 7..9 { :late :p 1 }
      2..10 { :around :p 1 } 8..12 { :after :p 1 }"""
    found = answers(f"SELECT ?x {{ {{ ?x :p ?v }} {operator} {{ ?y :q ?w }} }}", stream)
    assert [answer.partition(" ")[2] for answer in found] == expected


# ---- rule 7 and 8


def test_an_answer_that_could_change_waits_for_its_instant_to_pass() -> None:
    running = engine("SELECT ?v ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }")
    first, second, third = events("1 { :a :p 1 } 1 { :a :q 2 } 2 { :b :p 3 }")
    assert running.push(first) == []
    assert running.push(second) == []
    assert [line(m) for m in running.push(third)] == ["1..1 v=1 w=2"]
    assert [line(m) for m in running.close()] == ["2..2 v=3"]


def test_an_answer_that_cannot_change_comes_at_once_and_once() -> None:
    running = engine("SELECT ?x ?y { { ?x :p ?v } SEQ { ?y :q ?w } }")
    found = [[line(m) for m in running.push(e)] for e in events("1 { :a :p 1 } 2 { :b :q 1 } 2 { :c :q 1 } 3 { :d :r 1 }")]
    assert found == [[], ["1..2 x=:a y=:b"], ["1..2 x=:a y=:c"], []]
    assert running.close() == []


def test_time_alone_brings_answers() -> None:
    running = engine("SELECT ?x { ?x :p ?v MINUS { ?x :q ?v } }")
    assert running.push(events("1 { :a :p 1 }")[0]) == []
    assert [line(m) for m in running.advance(2)] == ["1..1 x=:a"]


def test_plain_sparql_over_one_instant() -> None:
    stream = "7 { :a a :Person ; :name 'Ann' ; :mbox 'a@x' . :b a :Person ; :name 'Bob' }"
    query = "SELECT ?n ?m { ?x a :Person ; :name ?n OPTIONAL { ?x :mbox ?m } } ORDER BY DESC(?n)"
    assert answers(query, stream) == ["7..7 n=Bob", "7..7 m=a@x n=Ann"]


def test_an_instant_that_has_passed_is_answered_once_however_the_next_one_arrives() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?x :p ?v }"
    assert answers(query, "0 { :a :p 1 } 0 { :b :p 1 } 1 { :a :q 1 } 1 { :b :q 1 } 1 { :a :p 1 }") == ["0..0 n=2", "0..1 n=3"]
