"""The diagnosis of queries that are trees of operators: EP-SPARQL, Sparkwave, RSEP-QL and OBEP on hand-made streams."""

from __future__ import annotations

from scepter.cases.source import TimelineSource
from scepter.insight.diagnosis.diagnose import diagnose
from scepter.insight.diagnosis.model import Diagnosis
from scepter.rdf.timeline_notation import parse_timeline
from scepter.runtime.queries import parse

PREFIXES = {"": "http://example/"}
STREAM = "http://example/s"


def diagnosed(language: str, text: str, events: str, background: str | None = None) -> Diagnosis:
    source = TimelineSource("s", parse_timeline(events, PREFIXES))
    query = parse(f"PREFIX : <http://example/>\n{text}", language)
    (diagnosis,) = diagnose(query, {STREAM: source}, background=background).diagnoses
    return diagnosis


def counts(diagnosis: Diagnosis) -> list[tuple[str, int]]:
    """All stages, those without a text by the title of their step."""
    return [(stage.condition or step.title, stage.count) for step in diagnosis.steps for stage in step.stages]


STATIC = "@prefix : <http://example/> .\n:x :kind :good .\n:y :kind :good .\n:z :kind :bad .\n"


class TestEpSparql:
    QUERY = """SELECT ?c FROM STREAM <http://example/s>
        WHERE { { ?c :price ?a } SEQ { ?c :price ?b } ?c :kind :good FILTER (?b > ?a * 2 && getDURATION() < 5) }"""

    def test_solutions_are_counted_from_the_leaves_up(self) -> None:
        events = "1 { :x :price 10 } 2 { :x :price 15 } 3 { :z :price 1 } 4 { :z :price 5 } 9 { :x :price 40 }"
        diagnosis = diagnosed("ep-sparql", self.QUERY, events, STATIC)
        assert diagnosis.matches == 0
        assert counts(diagnosis) == [
            ("?c :price ?a", 5),
            ("?c :price ?b", 5),
            ("right sides joined on ?c", 5),
            ("solutions", 4),
            ("?c :kind :good (static)", 2),
            ("{ { ?c :price ?a } SEQ { ?c :price ?b } } joined with { ?c :kind :good }", 3),
            ("FILTER (?b > ?a * 2)", 2),
            ("FILTER (getDURATION() < 5)", 0),
        ]
        reasons = {stopped.reason for stopped in diagnosis.stopped}
        assert reasons == {
            "FILTER (getDURATION() < 5) was false: 8 < 5, by 3",
            "FILTER (getDURATION() < 5) was false: 7 < 5, by 2",
        }

    def test_a_relation_that_does_not_hold(self) -> None:
        text = "SELECT ?c FROM STREAM <http://example/s> WHERE { { ?c :up ?a } DURING { ?c :down ?b } }"
        diagnosis = diagnosed("ep-sparql", text, "1..9 { :x :up 1 } 3..5 { :x :down 2 } 1..2 { :y :up 1 }")
        assert counts(diagnosis)[2:] == [("right sides joined on ?c", 1), ("solutions", 0)]
        assert diagnosis.stopped[0].reason == "it joins one 3..5, and DURING does not hold between the two"
        assert diagnosis.stopped[1].reason == "nothing on the right side of DURING has ?c = :y"

    def test_a_plain_chain_is_diagnosed_as_a_sequence(self) -> None:
        text = """SELECT ?c FROM STREAM <http://example/s>
            WHERE { { ?c :price ?a } SEQ { ?c :price ?b } FILTER (?b > ?a * 2 && getDURATION() < 5) }"""
        diagnosis = diagnosed("ep-sparql", text, "1 { :x :price 10 } 2 { :x :price 15 } 9 { :x :price 40 }")
        stages = {stage.condition: stage.count for stage in diagnosis.steps[1].stages}
        assert stages == {
            "on the streams": 3,
            "graph pattern": 3,
            "joined on ?c": 3,
            "FILTER (?b > ?a * 2)": 1,
            "later than { ?c :price ?a }": 1,
            "WITHIN 5 time units": 0,
            "partial matches so far": 0,
        }

    def test_rules_have_their_own_steps(self) -> None:
        text = """CONSTRUCT { ?c :fell ?b } WHERE { { ?c :price ?a } SEQ { ?c :price ?b } FILTER (?b < ?a) }
            SELECT ?c FROM STREAM <http://example/s> WHERE { ?c :fell ?v . ?c :alarm ?w }"""
        diagnosis = diagnosed("ep-sparql", text, "1 { :x :price 10 } 2 { :x :price 5 } 3 { :y :alarm 1 }")
        assert ("?c :fell ?v", 1) in counts(diagnosis) and ("?c :alarm ?w", 1) in counts(diagnosis)
        assert counts(diagnosis)[-1] == ("joined", 0)


class TestSparkwave:
    QUERY = """SELECT ?x FROM STREAM <http://example/s> [RANGE 5] WHERE { ?x :a ?v . ?x :b ?w . ?x :kind :good }"""

    def test_windows_are_told_apart_from_joins(self) -> None:
        diagnosis = diagnosed("sparkwave", self.QUERY, "1 { :x :a 1 } 20 { :x :b 2 } 21 { :z :b 2 }", STATIC)
        assert counts(diagnosis) == [
            ("?x :a ?v", 1),
            ("?x :b ?w", 2),
            ("?x :kind :good (static)", 2),
            ("joined, whatever their times", 1),
            ("in the windows", 0),
        ]
        assert diagnosis.stopped[0].reason == "?x :b ?w joins some, but not in the windows"

    def test_triples_that_never_join(self) -> None:
        diagnosis = diagnosed("sparkwave", self.QUERY, "1 { :x :a 1 } 2 { :y :b 2 }", STATIC)
        assert counts(diagnosis)[-2:] == [("joined, whatever their times", 0), ("in the windows", 0)]
        assert diagnosis.stopped[0].reason == "nothing joins ?x :b ?w with it"

    def test_matches_are_counted(self) -> None:
        diagnosis = diagnosed("sparkwave", self.QUERY, "1 { :x :a 1 } 2 { :x :b 2 }", STATIC)
        assert (diagnosis.matches, counts(diagnosis)[-1]) == (1, ("joined", 1))


def test_rsepql_counts_events_windows_and_their_join() -> None:
    text = """REGISTER ISTREAM :out AS SELECT ?p ?r FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 1]
        EVENT ON :w { ?p :hot ?t FILTER (?t > 38) } AS Hot
        EVENT ON :w { ?p :fast ?f } AS Fast
        WHERE { MATCH { Hot SEQ Fast } WINDOW :w { ?p :in ?r } }"""
    diagnosis = diagnosed("rsep-ql", text, "1 { :x :hot 39 } 2 { :y :hot 40 } 3 { :x :fast 1 } 4 { :y :in :room }")
    assert diagnosis.matches == 0
    assert counts(diagnosis) == [
        ("Hot ON :w { ?p :hot ?t FILTER (?t > 38) }", 2),
        ("Fast ON :w { ?p :fast ?f }", 1),
        ("Hot SEQ Fast", 1),
        ("WINDOW :w: ?p :in ?r", 1),
        ("right sides joined on ?p", 0),
        ("solutions", 0),
    ]
    assert diagnosis.stopped[0].reason == "nothing on the right side of joined with has ?p = :x"


def test_obep_counts_occurrences_within_and_guard() -> None:
    text = """FROM STREAM <http://example/s>
        EVENT Free AS (Room and has some Open)
        EVENT Busy AS (Room and has some Person)
        EVENT Entering MATCH Free AS F SEQ Busy AS B WITHIN (5) IF { EVENT F { ?r a :Room . } EVENT B { ?r a :Room . } }
        RETURN Entering AS RDF STREAM"""
    events = """1 { :r1 a :Room ; :has :o . :o a :Open } 3 { :r2 a :Room ; :has :p . :p a :Person }
        30 { :r1 a :Room ; :has :p . :p a :Person }"""
    diagnosis = diagnosed("obep", text, events)
    assert diagnosis.matches == 0
    assert [(step.title, [stage.count for stage in step.stages]) for step in diagnosis.steps] == [
        ("event :Free", [1]),
        ("event :Busy", [2]),
        ("event :Entering", [2, 1, 0]),
    ]
