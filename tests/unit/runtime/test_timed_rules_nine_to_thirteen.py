"""EP-SPARQL rules 9 to 13: feedback, policies, state, aggregates, the rest of SPARQL."""

from __future__ import annotations

import pytest

import scepter
from epsparql_runs import EX, answers, engine, events

# ---- rule 9


def test_derived_triples_have_their_solutions_interval() -> None:
    query = """CONSTRUCT { ?x :r ?w } WHERE { { ?x :p ?v } SEQ { ?x :q ?w } }
    SELECT ?x ?w { { ?x :r ?w } SEQ { ?x :s ?u } }"""
    assert answers(query, "1 { :a :p 1 } 3 { :a :q 2 } 4 { :a :s 3 }") == ["1..4 w=2 x=:a"]


def test_rules_are_applied_until_nothing_is_new() -> None:
    query = """CONSTRUCT { ?x :reach ?z } WHERE { ?x :reach ?y . ?y :to ?z }
    CONSTRUCT { ?x :reach ?y } WHERE { ?x :to ?y }
    SELECT ?y { :a :reach ?y }"""
    assert answers(query, "1 { :a :to :b } 2 { :c :to :d } 5 { :b :to :c }") == ["1..1 y=:b", "1..5 y=:c", "1..5 y=:d"]


def test_a_higher_rule_sees_all_that_a_lower_one_derives_at_an_instant() -> None:
    query = """CONSTRUCT { ?x :good true } WHERE { ?x :p ?v MINUS { ?x :bad ?b } }
    CONSTRUCT { ?x :bad true } WHERE { ?x :p ?v FILTER (?v > 5) }
    SELECT ?x { ?x :good true }"""
    assert answers(query, "1 { :a :p 1 } 1 { :b :p 9 } 2 { :c :p 2 }") == ["1..1 x=:a", "2..2 x=:c"]


def test_one_graph_per_solution_without_triples_that_are_unbound() -> None:
    query = "CONSTRUCT { ?x :had ?v . ?x :and ?w } WHERE { ?x :p ?v OPTIONAL { ?x :q ?w } }"
    assert answers(query, "1 { :a :p 1 } 2 { :b :q 5 } 3 { :b :p 2 }") == ["1..1 {:a :had 1}", "2..3 {:b :and 5 . :b :had 2}"]


def test_blank_nodes_are_fresh_per_solution_and_the_same_in_every_run() -> None:
    query = "CONSTRUCT { _:e :of ?x ; :with ?v } WHERE { ?x :p ?v }"
    runs = []
    for _ in range(2):
        running = engine(query)
        runs.append([m.graph for e in events("1 { :a :p 1 , 2 }") for m in running.push(e)])
    first, second = runs[0]
    assert runs[0] == runs[1]
    assert first is not None and second is not None
    assert len({t.subject for t in first}) == 1 and {t.subject for t in first} != {t.subject for t in second}


def test_rules_that_keep_deriving_are_stopped_by_name() -> None:
    running = engine("CONSTRUCT { ?x :r 1 } WHERE { ?x :q ?v }\nCONSTRUCT { _:b :p ?v } WHERE { ?x :p ?v }")
    with pytest.raises(scepter.DataError, match="the CONSTRUCT at line 3 keeps deriving at 1"):
        running.push(events("1 { :a :p 1 }")[0])
        running.close()


def test_an_aggregate_that_feeds_itself_is_stopped_soon() -> None:
    counts = "CONSTRUCT { :a :p ?m } WHERE { SELECT (SUM(?v) + 1 AS ?m) WHERE { :a :p ?v } }"
    query = f"CONSTRUCT {{ ?x :r 1 }} WHERE {{ ?x :p ?v }}\n{counts}"
    running = scepter.Engine(scepter.parse(f"PREFIX : <http://example/>\n{query}", "ep-sparql"), max_derivations=1_000)
    with pytest.raises(scepter.DataError, match=r"the CONSTRUCT at line 3 keeps deriving at 1: one by one, \d\d\d? triples"):
        running.push(events("1 { :a :p 1 }")[0])
        running.close()


def test_alone_in_its_file_a_construct_does_not_see_what_it_constructs() -> None:
    query = "CONSTRUCT { ?x :p ?z } WHERE { ?x :p ?y . ?y :p ?z }"
    stream = "1 { :a :p :b } 2 { :b :p :c } 3 { :c :p :d }"
    assert answers(query, stream) == ["1..2 {:a :p :c}", "2..3 {:b :p :d}"]
    beside = query + "\nSELECT ?y { :a :p ?y }"
    assert answers(beside, stream) == ["1..1 y=:b", "1..2 y=:c", "1..3 y=:d"]


def test_a_rule_over_static_triples_derives_static_triples() -> None:
    query = """CONSTRUCT { ?x :reach ?y } WHERE { ?x :to ?y }
    CONSTRUCT { ?x :reach ?z } WHERE { ?x :reach ?y . ?y :to ?z }
    SELECT ?x ?y { ?x :p ?v . ?x :reach ?y }"""
    found = answers(query, "3 { :a :p 1 } 5 { :c :to :d }", background=":a :to :b . :b :to :c .")
    assert found == ["3..3 x=:a y=:b", "3..3 x=:a y=:c", "3..5 x=:a y=:d"]


def test_a_rule_over_a_named_graph_derives_static_triples() -> None:
    query = """CONSTRUCT { ?x :owner ?y } WHERE { GRAPH <http://example/db> { ?y :owns ?x } }
    SELECT ?x ?y { ?x :p ?v . ?x :owner ?y }"""
    assert answers(query, "3 { :a :p 1 } 5 { :a :p 2 }", background={EX + "db": ":o :owns :a ."}) == [
        "3..3 x=:a y=:o",
        "5..5 x=:a y=:o",
    ]


def test_rules_that_keep_deriving_over_the_background_are_stopped() -> None:
    query = "CONSTRUCT { ?x :r 1 } WHERE { ?x :q ?v }\nCONSTRUCT { _:b :p ?x } WHERE { ?x :p ?v }"
    with pytest.raises(scepter.DataError, match="the CONSTRUCT at line 3 keeps deriving over the background"):
        engine(query, background=":a :p 1 .").push(events("1 { :a :p 1 }")[0])


def test_recursion_over_time_goes_on() -> None:
    query = """CONSTRUCT { ?x :count 1 } WHERE { ?x :start ?v }
    CONSTRUCT { ?x :count ?m } WHERE { { ?x :count ?n } SEQ { ?x :tick ?v } BIND (?n + 1 AS ?m) }
    SELECT (MAX(?n) AS ?most) { ?x :count ?n }"""
    stream = "0 { :a :start 1 } " + " ".join(f"{t} {{ :a :tick {t} }}" for t in range(1, 6))
    assert answers(query, stream)[-1] == "0..5 most=6"


def test_entailment_of_derived_triples() -> None:
    query = "CONSTRUCT { ?x a :Cat } WHERE { ?x :meows ?v }\nSELECT ?x { ?x a :Animal }"
    assert answers(query, "1 { :tom :meows 1 }", ontology=":Cat rdfs:subClassOf :Animal .") == ["1..1 x=:tom"]


# ---- rule 10

AB = "1 { :x :a 1 } 2 { :x :a 2 } 3 { :y :b 3 } 4 { :y :b 4 } 5 { :y :b 5 }"
PAIRS = "SELECT ?v ?w { { ?x :a ?v } SEQ { ?y :b ?w } }"


def test_unrestricted_is_every_pair() -> None:
    assert len(answers(PAIRS, AB)) == 6


def test_chronological_and_recent() -> None:
    assert answers(PAIRS, AB, policy="chronological") == ["1..3 v=1 w=3", "2..4 v=2 w=4"]
    assert answers(PAIRS, AB, policy="recent") == ["2..3 v=2 w=3", "1..4 v=1 w=4"]


def test_a_bound_counts_before_pairing() -> None:
    query = "SELECT ?v ?w { { ?x :a ?v } SEQ { ?y :b ?w } FILTER (getDURATION() < 2) }"
    assert answers(query, AB, policy="chronological") == ["2..3 v=2 w=3"]


def test_other_filters_come_after_it_and_undo_nothing() -> None:
    query = "SELECT ?v ?w { { ?x :a ?v } SEQ { ?y :b ?w } FILTER (?v = 2) }"
    assert answers(query, AB, policy="chronological") == ["2..4 v=2 w=4"]


def test_consumption_is_per_operator() -> None:
    query = "SELECT ?u ?v ?w { { ?x :a ?u } SEQ { ?x :b ?v } SEQ { ?x :b ?w } }"
    assert answers(query, "1 { :x :a 1 } 2 { :x :b 2 } 3 { :x :b 3 }", policy="chronological") == ["1..3 u=1 v=2 w=3"]


def test_ties_go_by_arrival_then_by_the_triple() -> None:
    stream = "1 { :x :a 2 } 1 { :x :a 1 } 2 { :y :b 1 } 3 { :y :b 2 }"
    assert answers(PAIRS, stream, policy="chronological") == ["1..2 v=2 w=1", "1..3 v=1 w=2"]
    stream = "1 { :x :a 2 , 1 } 2 { :y :b 1 } 3 { :y :b 2 }"
    assert answers(PAIRS, stream, policy="chronological") == ["1..2 v=1 w=1", "1..3 v=2 w=2"]


def test_the_naive_policy_is_not_for_this() -> None:
    with pytest.raises(scepter.OptionError, match="EP-SPARQL has no policy 'naive'"):
        engine(PAIRS, policy="naive")


# ---- rule 11

BOUNDS = [
    "getDURATION() < 10",
    "getDURATION() <= 9",
    "10 > getDURATION()",
    "getENDTIME() - getSTARTTIME() < 10",
    "getENDTIME() < getSTARTTIME() + 10",
    "getENDTIME() - 10 < getSTARTTIME()",
    "2 * getDURATION() < 20 && ?v = ?v",
    "-getDURATION() > -10",
]


@pytest.mark.parametrize("bound", BOUNDS)
def test_what_is_out_of_bounds_is_released_however_the_bound_is_written(bound: str) -> None:
    running = engine(f"SELECT ?v ?w {{ {{ ?x :p ?v }} SEQ {{ ?x :q ?w }} OPTIONAL {{ ?x :r ?u }} FILTER ({bound}) }}")
    for event in events(" ".join(f"{t} {{ :a :p {t} ; :r {t} }}" for t in range(100))):
        running.push(event)
    assert running.state_size()["solutions"] < 30
    assert len(running.push(events("100 { :a :q 1 }")[0]) + running.advance(101)) > 0


def test_without_a_bound_everything_is_kept() -> None:
    running = engine("SELECT ?v ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }")
    for event in events(" ".join(f"{t} {{ :a :q {t} }}" for t in range(50))):
        running.push(event)
    running.advance(50)
    assert running.state_size()["solutions"] == 50


def test_an_optional_part_out_of_bounds_still_keeps_its_partner_from_standing_alone() -> None:
    query = "SELECT ?v ?w { { ?x :q ?w } OPTIONALSEQ { ?x :p ?v } FILTER (getDURATION() < 5) }"
    assert answers(query, "1 { :a :q 1 } 50 { :a :p 2 } 51 { :b :p 3 }") == ["51..51 v=3"]


def test_minus_remembers_only_that_it_was_there() -> None:
    running = engine("SELECT ?x { ?x :p ?v MINUS { ?x :q ?w } FILTER (getDURATION() < 5) }")
    for event in events(" ".join(f"{t} {{ :a :q {t} }}" for t in range(50))):
        running.push(event)
    running.advance(50)
    assert running.state_size()["solutions"] == 1


# ---- rule 12


def test_range_windows() -> None:
    query = "SELECT (SUM(?v) AS ?sum) { ?x :p ?v } WINDOW [RANGE 3]"
    assert answers(query, "1 { :a :p 1 } 2 { :a :p 2 } 4 { :a :p 4 } 9 { :a :p 8 }") == [
        "1..1 sum=1", "1..2 sum=3", "2..4 sum=6", "9..9 sum=8",
    ]  # fmt: skip


def test_solutions_of_one_end_enter_together() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?x :p ?v } WINDOW [ROWS 3]"
    assert answers(query, "1 { :a :p 1 , 2 } 2 { :a :p 3 , 4 }") == ["1..1 n=2", "1..2 n=3"]


def test_windows_are_released() -> None:
    running = engine("SELECT (COUNT(*) AS ?n) { ?x :p ?v } WINDOW [RANGE 5]")
    for event in events(" ".join(f"{t} {{ :a :p {t} }}" for t in range(50))):
        running.push(event)
    assert running.state_size()["solutions"] <= 6


def test_range_in_units_of_time() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?x :p ?v } WINDOW [RANGE 1 DAYS]"
    stream = "2026-01-01T00:00:00Z { :a :p 1 } 2026-01-01T23:59:59Z { :a :p 2 } 2026-01-02T00:00:00Z { :a :p 3 }"
    assert [answer[-1] for answer in answers(query, stream)] == ["1", "2", "2"]


def test_groups_and_having() -> None:
    query = "SELECT ?x (SUM(?v) AS ?sum) { ?x :p ?v } GROUP BY ?x HAVING (SUM(?v) > 2)"
    assert answers(query, "1 { :a :p 1 } 2 { :b :p 5 } 3 { :a :p 3 }") == ["2..2 sum=5 x=:b", "1..3 sum=4 x=:a"]


def test_aggregates_of_time() -> None:
    query = "SELECT (MAX(getDURATION()) AS ?longest) (getDURATION() AS ?all) { ?x :p ?v }"
    assert answers(query, "1..3 { :a :p 1 } 5..6 { :a :p 2 }") == ["1..3 all=2 longest=2", "1..6 all=5 longest=2"]


# ---- rule 13


def test_exists_looks_back() -> None:
    query = "SELECT ?x { ?x :p ?v FILTER NOT EXISTS { ?x :q ?w } }"
    assert answers(query, "1 { :a :p 1 } 2 { :a :q 1 } 3 { :a :p 2 } 3 { :b :p 3 }") == ["1..1 x=:a", "3..3 x=:b"]


def test_exists_sees_the_outer_solution() -> None:
    query = "SELECT ?x ?v { ?x :p ?v FILTER EXISTS { ?x :limit ?l FILTER (?v > ?l) } }"
    assert answers(query, "1 { :a :limit 5 } 2 { :a :p 4 } 3 { :a :p 6 }") == ["3..3 v=6 x=:a"]


def test_exists_of_a_sequence() -> None:
    query = "SELECT ?x { ?x :p ?v FILTER EXISTS { { ?x :q ?a } SEQ { ?x :r ?b } } }"
    assert answers(query, "1 { :a :r 1 } 2 { :a :q 1 } 3 { :a :p 1 } 4 { :a :r 2 } 5 { :a :p 2 }") == ["5..5 x=:a"]


def test_exists_within_exists_sees_no_marks_of_the_outer_one() -> None:
    inner = "EXISTS { ?x :r ?b VALUES ?b { 7 8 } }"
    query = f"SELECT ?x {{ ?x :p ?v FILTER EXISTS {{ ?x :q ?a VALUES ?a {{ 1 2 }} FILTER {inner} }} }}"
    given = "1 { :a :r 7 } 2 { :a :q 2 } 3 { :a :p 1 } 4 { :b :r 8 } 5 { :b :q 1 } 6 { :b :p 1 }"
    assert answers(query, f"{given} 7 {{ :c :r 9 }} 8 {{ :c :q 1 }} 9 {{ :c :p 1 }}") == ["3..3 x=:a", "6..6 x=:b"]


def test_exists_in_a_value() -> None:
    query = "SELECT ?x (EXISTS { ?x :q ?w } AS ?known) { ?x :p ?v }"
    assert answers(query, "1 { :a :p 1 } 2 { :a :q 1 } 3 { :a :p 2 }") == ["1..1 known=false x=:a", "3..3 known=true x=:a"]


def test_sub_selects_keep_their_intervals() -> None:
    query = "SELECT ?x ?n { { SELECT ?x (COUNT(?v) AS ?n) { ?x :p ?v } GROUP BY ?x } SEQ { ?x :q ?w } }"
    assert answers(query, "1 { :a :p 1 } 2 { :a :p 2 } 4 { :a :q 1 }") == ["1..4 n=1 x=:a", "1..4 n=2 x=:a"]


def test_a_path_of_no_length_is_told_of_no_derived_graph() -> None:
    query = """CONSTRUCT { ?x :q ?v } WHERE { { ?x :p ?v } SEQ { ?x :q ?w } }
    SELECT ?x ?y { ?x :p ?w . :a :q* ?y }"""
    assert answers(query, "0 { :a :p 1 } 1 { :a :q 1 }") == ["0..0 x=:a y=:a", "0..1 x=:a y=1"]


def test_paths_of_any_length_stay_within_an_event() -> None:
    query = "SELECT ?y { :a :to+ ?y }"
    assert answers(query, "1 { :a :to :b . :b :to :c } 2 { :c :to :d }") == ["1..1 y=:b", "1..1 y=:c"]


def test_sequences_of_steps_go_over_events() -> None:
    assert answers("SELECT ?y { :a :to/:to ?y }", "1 { :a :to :b } 3 { :b :to :c }") == ["1..3 y=:c"]


def test_modifiers_apply_to_the_rows_of_one_end() -> None:
    query = "SELECT ?x ?v { ?x :p ?v } ORDER BY DESC(?v) LIMIT 1"
    assert answers(query, "1 { :a :p 1 , 3 , 2 } 2 { :a :p 5 , 4 }") == ["1..1 v=3 x=:a", "2..2 v=5 x=:a"]


def test_named_background_graphs() -> None:
    query = "SELECT ?x ?g ?k { ?x :p ?v GRAPH ?g { ?x :kind ?k } }"
    graphs = {EX + "g1": ":a :kind 1 .", EX + "g2": ":b :kind 2 ."}
    assert answers(query, "1 { :a :p 1 } 2 { :b :p 2 }", background=graphs) == ["1..1 g=:g1 k=1 x=:a", "2..2 g=:g2 k=2 x=:b"]


def test_from_and_from_named() -> None:
    graphs = {"": ":a :kind 0 .", EX + "g1": ":a :kind 1 .", EX + "g2": ":a :kind 2 ."}
    query = "SELECT ?k ?l FROM :g1 FROM NAMED :g2 { ?x :p ?v . ?x :kind ?k GRAPH ?g { ?x :kind ?l } }"
    assert answers(query, "1 { :a :p 1 }", background=graphs) == ["1..1 k=1 l=2"]


def test_from_stream() -> None:
    running = engine("SELECT ?x FROM STREAM :s WHERE { ?x :p ?v }")
    assert len(running.push(events("1 { :a :p 1 }")[0])) == 1
    with pytest.raises(scepter.OptionError):
        running.push(events("2 { :a :p 1 }", EX + "t")[0])


def test_every_stream_without_from_stream() -> None:
    running = engine("SELECT ?x { { ?x :p ?v } SEQ { ?x :q ?w } }")
    running.push(events("1 { :a :p 1 }", EX + "t")[0])
    assert len(running.push(events("2 { :a :q 1 }", EX + "u")[0])) == 1


def test_construct_where_and_ask() -> None:
    assert answers("CONSTRUCT WHERE { ?x :p ?v }", "1 { :a :p 1 }") == ["1..1 {:a :p 1}"]
    assert answers("ASK { ?x :p ?v . ?x :q ?w }", "1 { :a :p 1 } 3 { :a :q 1 } 2..3 { :a :p 2 } 4 { :a :q 2 }") == ["1..3 true"]


def test_values_after_the_modifiers() -> None:
    query = "SELECT ?x (COUNT(*) AS ?n) { ?x :p ?v } GROUP BY ?x VALUES ?x { :b }"
    assert answers(query, "1 { :a :p 1 } 2 { :b :p 2 }") == ["2..2 n=1 x=:b"]


def test_random_values_are_computed_once_per_solution() -> None:
    query = "CONSTRUCT { ?x :id ?u } WHERE { ?x :p ?v BIND (STRUUID() AS ?u) }\nSELECT ?x { ?x :id ?u }"
    assert answers(query, "1 { :a :p 1 }") == ["1..1 x=:a"]


def test_an_endless_number_of_events_at_one_instant_is_answered_once_each() -> None:
    stream = " ".join(f"1 {{ :a :p {v} }}" for v in range(60))
    assert len(answers("SELECT ?v { ?x :p ?v }", stream)) == 60


def test_a_label_names_one_blank_node_per_solution() -> None:
    running = engine("SELECT (BNODE('a') AS ?b) (BNODE('a') AS ?c) (BNODE('z') AS ?d) { ?x :p ?v }")
    found = [m.bindings for e in events("1 { :a :p 1 , 2 } 2 { :a :q 1 }") for m in running.push(e)] + [
        m.bindings for m in running.close()
    ]
    first, second = found
    assert first["b"] == first["c"] != first["d"]
    assert first["b"] != second["b"]


def test_iri_goes_by_the_base_of_the_query() -> None:
    assert answers("BASE <http://example/b/> SELECT (IRI('../c') AS ?i) { ?x :p ?v }", "1 { :a :p 1 }") == ["1..1 i=:c"]
