"""Where plans are cut, and by which key."""

from __future__ import annotations

import pytest

from scepter.physical.distribution.cutting import Owned
from scepter.physical.distribution.partitioning import PartitionKind, unit_partitioning
from scepter.physical.distribution.stages import Stages, stages
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import Received, nodes
from scepter.physical.plan import UnitPlan
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

PREFIX = "PREFIX : <http://e/> "


def planned(text: str, language: str = "ep-sparql") -> UnitPlan:
    return plan(parse(PREFIX + text, language).program, Facts(kind=TimeKind.INTEGER)).units[0]


def key(text: str, language: str = "ep-sparql") -> tuple[str, ...] | str:
    found = stages(planned(text, language).root)
    return found.why or found.variables if isinstance(found, Stages) else found.why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?c WHERE { { ?c :a ?x } OPTIONAL { ?c :b ?y } } SEQ { ?c :d ?z }", ("c",)),
        ("SELECT ?x WHERE { { ?c :a ?x } OPTIONAL { ?c :b ?y } } SEQ { ?c :d ?z }", ("c",)),  # hidden, and still the key
        ("SELECT ?c WHERE { { ?c :a ?x } UNION { ?c :b ?y } } DURING { ?c :d ?z }", ("c",)),
        ("SELECT ?x WHERE { { ?c :a ?x } OPTIONAL { ?c :b ?y } } SEQ { ?d :e ?z }", "share no variable"),
        ("SELECT ?x WHERE { { ?c :a ?x } DURING { ?x :b ?y } } SEQ { ?y :d ?z }", "different scans"),
    ],
)
def test_the_key_is_what_all_rows_of_an_answer_agree_in(text: str, expected: tuple[str, ...] | str) -> None:
    found = key(text)
    assert found == expected if isinstance(expected, tuple) else isinstance(found, str) and expected in found


def test_a_group_is_divided_by_its_keys_and_hears_of_every_instant() -> None:
    unit = planned("SELECT ?s (COUNT(?v) AS ?n) FROM STREAM :x [RANGE 5 STEP 5] WHERE { ?s :v ?v } GROUP BY ?s", "sparkwave")
    found = stages(unit.root)
    assert isinstance(found, Stages)
    assert found.variables == ("s",) and found.everywhere
    assert sum(isinstance(node, Received) for node in nodes(found.above)) == len(found.below)


def test_without_group_by_an_aggregate_looks_at_all_rows() -> None:
    found = key("SELECT (COUNT(?v) AS ?n) FROM STREAM :x [RANGE 5 STEP 5] WHERE { ?s :v ?v }", "sparkwave")
    assert isinstance(found, str) and "without GROUP BY" in found


def test_what_only_an_exists_binds_is_no_key_of_static_rows() -> None:
    """A static row with partners of several values would be an answer in the bucket of each."""
    inner = "{ GRAPH :g { ?s :kind ?k } FILTER EXISTS { WINDOW :w { ?s :v ?v } } }"
    given = "FROM NAMED :g FROM NAMED WINDOW :w ON :x [RANGE 5 STEP 5]"
    assert key(f"SELECT ?s ?v {given} WHERE {{ {inner} BIND(?k AS ?v) }}", "rsep-ql") == ("s",)


def test_what_has_no_key_is_cut_into_slices_of_time_where_a_bound_is_known() -> None:
    text = "SELECT ?x WHERE { { ?c :a ?x } OPTIONAL { ?c :b ?y } } SEQ { ?d :e ?z }"
    facts = Facts(kind=TimeKind.INTEGER)
    assert unit_partitioning(planned(text), facts).kind is PartitionKind.GRID
    bounded = text.replace("OPTIONAL { ?c :b ?y }", "SEQ { ?f :b ?y }") + " FILTER (getDURATION() < 10)"
    assert unit_partitioning(planned(f"{bounded} "), facts).kind is PartitionKind.SLICES
    found = unit_partitioning(planned(PATH.replace("?z }", "?z . ?z :r 1 }"), "sparkwave"), facts)
    assert found.kind is PartitionKind.SLICES and found.variables == ("y", "z")  # live it is a grid


def grid(text: str, language: str = "ep-sparql") -> tuple[list[tuple[str, ...]], tuple[int, ...]]:
    found = stages(planned(text, language).root)
    assert isinstance(found, Stages) and found.why
    return [each.variables for each in found.dimensions], found.sides(8)


PATH = "SELECT ?x ?z FROM STREAM :s [RANGE 5] WHERE { ?x :p ?y . ?y :q ?z }"


@pytest.mark.parametrize(
    ("text", "language", "dimensions", "sides"),
    [
        ("SELECT * WHERE { { :i :a ?y } DURING { ?y :b ?z } } SEQ { ?z :d 1 }", "ep-sparql", [("y",), ("z",)], (2, 4)),
        ("SELECT ?x ?z WHERE { { ?x :a 1 } OPTIONAL { ?x :b 2 } } SEQ { ?z :d 3 }", "ep-sparql", [("x",), ("z",)], (4, 2)),
        # what is optional has to be everywhere
        ("SELECT ?x ?z WHERE { { ?z :d 3 } OPTIONALSEQ { ?x :a 1 } } SEQ { ?x :b 2 }", "ep-sparql", [("x",)], (8,)),
        (PATH.replace("?z }", "?z . ?z :r 1 }"), "sparkwave", [("y",), ("z",)], (2, 4)),
    ],
)
def test_without_a_key_rows_meet_in_a_grid(
    text: str, language: str, dimensions: list[tuple[str, ...]], sides: tuple[int, ...]
) -> None:
    assert grid(text, language) == (dimensions, sides)


def test_occurrences_are_divided_by_pattern_and_what_static_triples_match_is_kept_once() -> None:
    found = stages(planned(PATH, "sparkwave").root)
    assert isinstance(found, Stages) and not found.why and not found.plain
    (by_pattern,) = found.dimensions[0].keys
    assert by_pattern == (("_:o",), ("_:s",))  # ?y stands behind :p and before :q
    assert any(isinstance(node, Owned) for node in nodes(found.above))


def test_a_grid_that_would_give_each_bucket_most_of_all_rows_is_none() -> None:
    text = "SELECT ?x WHERE { { ?x :a 1 } SEQ { :i :b 1 } } SEQ { { :i :d 1 } SEQ { :j :d 1 } }"
    found = stages(planned(text).root)
    assert isinstance(found, Stages) and found.why and not found.dimensions
    assert not any(isinstance(node, Owned) for node in nodes(found.above))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?y WHERE { ?x :p ?y . ?x :q ?z }", ("x",)),
        ("SELECT ?y WHERE { ?x :p ?y OPTIONAL { ?x :q ?z } FILTER NOT EXISTS { ?x :r ?w } }", ("x",)),
        ("SELECT ?y WHERE { ?x :p ?y . ?y :q ?z }", ("y",)),
        ("SELECT ?y WHERE { ?x :p ?y . ?y :q ?z . ?z :r ?w }", "at the same place"),
    ],
)
def test_triples_that_count_for_a_while_are_divided_by_what_stands_at_one_place(
    text: str, expected: tuple[str, ...] | str
) -> None:
    found = key(text.replace("WHERE", "FROM STREAM :s [RANGE 5] WHERE"), "sparkwave")
    assert found == expected if isinstance(expected, tuple) else isinstance(found, str) and expected in found


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("A SEQ B", ("x",)),
        ("LAST A SEQ B", ("x",)),
        ("LAST (A SEQ B)", "LAST looks at all items"),
        ("A SEQ CHRONOLOGICAL B", "consumes whole items"),
        ("A SEQ B SEQ C", "share no variable"),
    ],
)
def test_match_is_divided_unless_items_of_other_keys_bear_on_it(match: str, expected: tuple[str, ...] | str) -> None:
    text = """SELECT ?x FROM NAMED :s WIN [RANGE 9 STEP 1] AS :w EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?x :q ?z } AS B
        EVENT ON :w { ?z :r ?u } AS C WHERE { MATCH { MATCHED } }"""
    found = key(text.replace("MATCHED", match), "rsep-ql")
    assert found == expected if isinstance(expected, tuple) else isinstance(found, str) and expected in found


@pytest.mark.parametrize(
    ("match", "everywhere"),
    [
        ("A SEQ LAST B", "B"),
        ("A SEQ NAIVE B", "B"),
        ("A SEQ NAIVE (B SEQ D)", "BD"),
        ("(A SEQ NAIVE B) SEQ D", "B"),
        ("(LAST A SEQ B) SEQ NAIVE D", "D"),
        ("LAST A SEQ NAIVE B", "AB"),
        ("LAST (A SEQ B)", "AB"),
    ],
)
def test_items_among_which_match_chooses_whatever_their_key_go_to_every_bucket(match: str, everywhere: str) -> None:
    text = """SELECT ?x FROM NAMED :s WIN [RANGE 9 STEP 1] AS :w EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?x :q ?z } AS B
        EVENT ON :w { ?x :r ?u } AS D WHERE { MATCH { MATCHED } }"""
    found = stages(planned(text.replace("MATCHED", match), "rsep-ql").root)
    assert isinstance(found, Stages) and found.why
    labels = [label for label in "ABD" if label in match]
    by = [each.divides(place) for each in found.dimensions for place, _ in enumerate(labels)]
    assert by == [label not in everywhere for label in labels][: len(by)]
    assert bool(by) == any(label not in everywhere for label in labels)


def explained(text: str, language: str) -> str:
    return " ".join(str(parse(PREFIX + text, language).explain()).split())


def test_queries_that_feed_each_other_are_told_to_run_in_rounds_and_live_one_behind_another() -> None:
    text = """CONSTRUCT { ?m :is :Hot } INTO STREAM :hot WITHIN 5 FROM STREAM S :s
        WHERE { SEQ (A) DEFINE GPM A ON S { ?m :t ?t } }
        SELECT ?m WITHIN 5 FROM STREAM H :hot FROM STREAM S :s
        WHERE { SEQ (A ; B) DEFINE GPM A ON H { ?m :is :Hot } DEFINE GPM B ON S { ?m :off ?o } }"""
    told = explained(text, "spaseq")
    assert told.count("live behind those of the queries that construct what it reads") == 1
    assert "a log of events" not in told
    assert "over history in round 1 of 2" in told and "over history in round 2 of 2" in told


def test_ask_is_told_to_have_live_a_stage_behind_its_buckets() -> None:
    told = explained("ASK { { ?x :a ?y } OPTIONAL { ?x :b ?z } } SEQ { ?x :c ?w }", "ep-sparql")
    assert "in buckets of ?x: all above" in told
    assert "live 2, one behind another: in buckets of ?x: Answers" in told
    assert "then in one bucket, since ASK has one answer: FirstAnswer, of all buckets" in told
