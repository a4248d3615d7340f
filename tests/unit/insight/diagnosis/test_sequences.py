"""The diagnosis of sequences on hand-made streams: what passes each condition, and what stops the longest partial matches."""

from __future__ import annotations

from scepter.cases.source import TimelineSource
from scepter.insight.diagnosis.diagnose import diagnose
from scepter.insight.diagnosis.model import Diagnosis, Findings
from scepter.insight.diagnosis.text import diagnosis_text
from scepter.rdf.timeline_notation import parse_timeline
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse

PREFIXES = {"": "http://example/"}


def found(sequence: str, window: str, gpms: str, *, options: RunOptions = RunOptions(), **streams: str) -> Findings:  # noqa: B008
    """A diagnosis of a query over streams in the timeline notation."""
    froms = " ".join(f"FROM STREAM {name} <http://example/{name}>" for name in streams)
    text = f"PREFIX : <http://example/> SELECT * {window} {froms} WHERE {{ SEQ ({sequence}) {gpms} }}"
    sources = {
        f"http://example/{name}": TimelineSource(name, parse_timeline(events, PREFIXES)) for name, events in streams.items()
    }
    return diagnose(parse(text, "spaseq"), sources, options=options)


def one(findings: Findings) -> Diagnosis:
    (diagnosis,) = findings.diagnoses
    return diagnosis


def counts(diagnosis: Diagnosis, step: int) -> dict[str, int]:
    return {stage.condition: stage.count for stage in diagnosis.steps[step].stages}


A = "DEFINE GPM A ON S { ?x :a ?v }"
B = "DEFINE GPM B ON S { ?x :b ?w FILTER (?w > ?v * 1.05) }"


class TestConditions:
    def test_every_condition_of_a_step_has_its_count(self) -> None:
        # x: a 100, then b 103 and, too late, b 110; y: b before a; z: b of a value that nobody has
        diagnosis = one(
            found(
                "A; B", "WITHIN 10 SLIDING", f"{A} {B}",
                S="1 { :y :b 200 } 2 { :y :a 10 } 3 { :x :a 100 } 5 { :x :b 103 } 20 { :x :b 110 } "
                "21 { :z :b 7 } 22 { :x :c 1 }",
            )
        )  # fmt: skip
        assert diagnosis.matches == 0
        assert counts(diagnosis, 0) == {"on S": 7, "graph pattern": 2, "partial matches so far": 2}
        assert counts(diagnosis, 1) == {
            "on S": 7,
            "graph pattern": 4,
            "joined on ?x": 3,
            "FILTER (?w > ?v * 1.05)": 2,
            "later than A": 1,
            "WITHIN 10 time units": 0,
            "the first that fits": 0,
            "partial matches so far": 0,
        }

    def test_a_false_filter_is_told_with_its_values(self) -> None:
        diagnosis = one(found("A; B", "WITHIN 10", f"{A} {B}", S="1 { :x :a 100 } 2 { :x :b 103 }"))
        (stopped,) = diagnosis.stopped
        assert stopped.selected == ("A = e1 at 1",)
        assert stopped.bindings == "?v = 100, ?x = :x"
        assert stopped.reason == "B = e2 at 2: FILTER (?w > ?v * 1.05) was false: 103 > 100 * 1.05 = 105, by 2"

    def test_an_error_in_a_filter_is_no_false_comparison(self) -> None:
        diagnosis = one(found("A; B", "WITHIN 10", f"{A} {B}", S='1 { :x :a "many" } 2 { :x :b 103 }'))
        assert "FILTER (?w > ?v * 1.05) has no value" in diagnosis.stopped[0].reason

    def test_a_local_filter_that_nothing_passes(self) -> None:
        high = "DEFINE GPM A ON S { ?x :a ?v FILTER (?v > 20) }"
        diagnosis = one(found("A; B", "WITHIN 10", f"{high} {B}", S="1 { :x :a 7 } 2 { :x :b 103 }"))
        stage = diagnosis.steps[0].stopper
        assert stage is not None and stage.condition == "FILTER (?v > 20)"
        assert stage.example == "e1 at 1: was false: 7 > 20, by 13"
        assert diagnosis.stopped == () and diagnosis.partial == 0
        assert counts(diagnosis, 1)["partial matches so far (none through A to go on with)"] == 0

    def test_a_pattern_that_no_event_has_is_told_triple_by_triple(self) -> None:
        both = "DEFINE GPM A ON S { ?x :a ?v ; :b ?w }"
        diagnosis = one(found("A", "WITHIN 10", both, S="1 { :x :a 7 } 2 { :x :b 103 } 3 { :x :b 1 }"))
        assert diagnosis.steps[0].stages[1].example == "each triple alone: ?x :a ?v in 1, ?x :b ?w in 2"

    def test_several_mappings_of_one_event_are_one_event(self) -> None:
        diagnosis = one(found("A; B", "WITHIN 10", f"{A} {B}", S="1 { :x :a 1 . :y :a 2 } 2 { :x :b 0, 9 }"))
        assert counts(diagnosis, 0) == {"on S": 2, "graph pattern": 1, "partial matches so far": 2}
        assert counts(diagnosis, 1)["FILTER (?w > ?v * 1.05)"] == 1

    def test_matches_are_counted_and_nothing_is_stopped(self) -> None:
        diagnosis = one(found("A; B", "WITHIN 10", f"{A} {B}", S="1 { :x :a 1 } 2 { :x :b 3 } 3 { :x :b 4 }"))
        assert (diagnosis.matches, diagnosis.stopped) == (1, ())
        assert counts(diagnosis, 1)["WITHIN 10 time units"] == 2
        assert counts(diagnosis, 1)["the first that fits"] == 1


class TestReasons:
    GPMS = "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w }"

    def reason(self, sequence: str, window: str, events: str, more: str = "") -> str:
        diagnosis = one(found(sequence, window, self.GPMS + more, S=events))
        assert diagnosis.matches == 0
        return diagnosis.stopped[0].reason

    def test_nothing_joins(self) -> None:
        assert self.reason("A; B", "WITHIN 10", "1 { :x :a 1 } 2 { :y :b 1 } 3 { :z :b 1 }") == (
            "none of the 2 found by B has ?x = :x"
        )

    def test_no_event_at_all(self) -> None:
        assert self.reason("A; B", "WITHIN 10", "1 { :x :a 1 }") == "no event passes B: graph pattern"

    def test_the_order(self) -> None:
        assert self.reason("A; B", "WITHIN 10", "1 { :x :b 1 } 2 { :x :a 1 }") == (
            "B = e1 at 1: it fits, but does not come after A"
        )

    def test_a_tumbling_window(self) -> None:
        assert self.reason("A; B", "WITHIN 10", "9 { :x :a 1 } 11 { :x :b 1 }") == (
            "B = e2 at 11: it fits, but comes after the window of the match closes at 10: WITHIN 10 time units"
        )

    def test_a_sliding_window(self) -> None:
        assert self.reason("A; B", "WITHIN 10 SLIDING", "9 { :x :a 1 } 20 { :x :b 1 }") == (
            "B = e2 at 20: it fits, but the match would last too long, from 9: WITHIN 10 time units, by 1"
        )

    def test_a_window_of_events(self) -> None:
        assert self.reason("A; B", "WITHIN 2 EVENTS", "1 { :x :a 1 } 2 { :y :c 1 } 3 { :x :b 1 }") == (
            "B = e3 at 3: it fits, but makes 3 events from first to last: WITHIN 2 EVENTS"
        )

    def test_strict_contiguity(self) -> None:
        assert self.reason("A, B", "WITHIN 10", "1 { :x :a 1 } 2 { :y :c 1 } 3 { :z :c 1 } 4 { :x :b 1 }") == (
            "B = e4 at 4: it fits, but e2 at 2 and 1 more stands between, and ',' asks for the very next event"
        )

    def test_a_negation_between(self) -> None:
        more = " DEFINE GPM N ON S { ?x :n ?m FILTER (?m > ?v) }"
        events = "1 { :x :a 5 } 2 { :x :n 3 } 3 { :x :n 9 } 4 { :x :b 1 }"
        assert self.reason("A; N!; B", "WITHIN 10", events, more) == "B = e4 at 4: it fits, but N = e3 at 3 stands between"

    def test_a_negation_at_the_end(self) -> None:
        more = " DEFINE GPM N ON S { ?x :n ?m }"
        diagnosis = one(
            found("A; B; N!", "WITHIN 10", self.GPMS + more, S="1 { :x :a 5 } 2 { :x :b 3 } 3 { :y :n 9 } 4 { :x :n 1 }")
        )
        assert diagnosis.steps[-1].stages[0].condition == "no N until the window closes"
        assert diagnosis.stopped[0].reason == "N = e4 at 4 comes before the window closes"

    def test_what_comes_later_is_told_before_what_fits_but_came_earlier(self) -> None:
        events = "1 { :x :b 200 } 2 { :x :a 100 } 3 { :x :b 103 }"
        diagnosis = one(found("A; B", "WITHIN 10", f"{A} {B}", S=events))
        assert diagnosis.stopped[0].reason.endswith("was false: 103 > 100 * 1.05 = 105, by 2")


class TestForms:
    def test_conjunctions_are_told_scan_by_scan(self) -> None:
        gpms = "DEFINE GPM A ON S { ?x :a ?v FILTER (?v > 1) } DEFINE GPM B ON T { ?x :b ?w FILTER (?w > ?v) }"
        diagnosis = one(found("(A & B)", "WITHIN 10", gpms, S="1 { :x :a 5 } 2 { :x :a 6 }", T="1 { :x :b 3 } 3 { :x :b 9 }"))
        titles = [(step.title, step.depth) for step in diagnosis.steps]
        assert titles == [("A on S", 1), ("B on T", 1), ("(A & B)", 0)]
        assert counts(diagnosis, 2) == {
            "at the same time, joined": 1, "FILTER (?w > ?v)": 0, "partial matches so far": 0
        }  # fmt: skip

    def test_disjunctions_have_a_step_per_branch(self) -> None:
        gpms = "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } DEFINE GPM C ON S { ?x :c ?u }"
        diagnosis = one(found("A; (B | C)", "WITHIN 10", gpms, S="1 { :x :a 5 } 2 { :y :b 6 } 3 { :x :c 1 }"))
        assert [step.title for step in diagnosis.steps] == ["A on S", "; (B | C) by B", "; (B | C) by C"]
        assert counts(diagnosis, 1)["joined on ?x"] == 0
        assert counts(diagnosis, 2)["the first that fits"] == 1
        assert counts(diagnosis, 2)["partial matches so far"] == 1

    def test_iterations_and_aggregates_over_them(self) -> None:
        gpms = "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } "
        gpms += "DEFINE GPM C ON S { ?x :c ?u FILTER (?u > SUM(B.?w)) }"
        diagnosis = one(found("A; B+; C", "WITHIN 10", gpms, S="1 { :x :a 5 } 2 { :x :b 6 } 3 { :x :b 7 } 4 { :x :c 5 }"))
        assert counts(diagnosis, 1)["partial matches so far"] == 2  # one iteration, and two
        assert "FILTER (?u > SUM(B.?w)) was false: 5 > 6, by 1" in [s.reason.partition(": ")[2] for s in diagnosis.stopped]
        assert "FILTER (?u > SUM(B.?w)) was false: 5 > 13, by 8" in [s.reason.partition(": ")[2] for s in diagnosis.stopped]

    def test_an_optional_atom_may_be_left_out(self) -> None:
        gpms = "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } DEFINE GPM C ON S { ?x :c ?u FILTER (?u > 3) }"
        diagnosis = one(found("A; B?; C", "WITHIN 10", gpms, S="1 { :x :a 5 } 2 { :x :b 6 } 4 { :x :c 5 }"))
        assert diagnosis.matches == 1
        assert counts(diagnosis, 2)["later than A or B?"] == 1

    def test_a_step_that_may_begin_a_match_or_go_on(self) -> None:
        diagnosis = one(found("A?; B", "WITHIN 10", f"{A} DEFINE GPM B ON S {{ ?y :b ?w }}", S="1 { :x :a 5 } 2 { :x :c 6 }"))
        assert counts(diagnosis, 1) == {
            "on S": 2, "graph pattern": 0, "begins a match, or goes on with one": 0, "partial matches so far": 0
        }  # fmt: skip
        assert diagnosis.stopped[0].reason == "nothing goes on with it by B"

    def test_a_partition_keeps_the_gpms_that_a_cut_leaves_out(self) -> None:
        # in the partition of x the :c event stands between a and b: C says that it belongs there, although it is cut away
        gpms = "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } DEFINE GPM C ON S { ?x :c ?u }"
        events = "1 { :x :a 5 } 2 { :x :c 6 } 3 { :x :b 5 }"
        partitioned = one(found("A, B, C", "WITHIN 10 PARTITION BY (?x)", gpms, S=events))
        assert counts(partitioned, 1)["partial matches so far"] == 0

    def test_a_constructed_stream_is_diagnosed_too(self) -> None:
        text = """PREFIX : <http://example/>
            CONSTRUCT { ?x :made ?v } INTO STREAM <http://example/T> WITHIN 10 FROM STREAM S <http://example/S>
            WHERE { SEQ (A) DEFINE GPM A ON S { ?x :a ?v } }
            SELECT ?x WITHIN 10 FROM STREAM T <http://example/T>
            WHERE { SEQ (B) DEFINE GPM B ON T { ?x :made ?v FILTER (?v > 3) } }"""
        source = TimelineSource("S", parse_timeline("1 { :x :a 2 } 2 { :x :a 3 }", PREFIXES))
        first, second = diagnose(parse(text, "spaseq"), {"http://example/S": source}).diagnoses
        assert first.matches == 2
        assert counts(second, 0) == {"on T": 2, "graph pattern": 2, "FILTER (?v > 3)": 0, "partial matches so far": 0}


class TestBounds:
    def test_only_the_first_events_are_looked_at_and_it_says_so(self) -> None:
        events = " ".join(f"{n} {{ :x :a {n} }}" for n in range(100))
        text = f"PREFIX : <http://example/> SELECT * WITHIN 10 FROM STREAM S <http://example/S> WHERE {{ SEQ (A) {A} }}"
        source = TimelineSource("S", parse_timeline(events, PREFIXES))
        findings = diagnose(parse(text, "spaseq"), {"http://example/S": source}, most_events=40)
        assert (findings.events, findings.total, findings.until) == (40, 100, "39")
        assert one(findings).matches == 40
        assert diagnosis_text(findings).startswith(
            "diagnosis: the first 40 of 100 events, up to 39 (at most 40 are looked at)\n"
        )

    def test_an_explosion_is_answered_on_fewer_events(self) -> None:
        # every three of 200 events are a match: 1.3 million
        gpms = " ".join(f"DEFINE GPM {name} ON S {{ ?{name} :a ?v{name} }}" for name in "ABC")
        findings = found("A : B : C", "WITHIN 1000", gpms, S=" ".join(f"{n} {{ :x{n} :a {n} }}" for n in range(200)))
        assert (findings.events, findings.total) == (50, 200)
        assert one(findings).matches == 50 * 49 * 48 // 6
        assert "partial matches" in findings.why

    def test_no_event_no_diagnosis(self) -> None:
        assert diagnosis_text(found("A", "WITHIN 10", A, S="")) == "diagnosis: none, there is no event"

    def test_events_before_the_start_are_not_seen(self) -> None:
        diagnosis = one(found("A", "WITHIN 10", A, options=RunOptions.of(start=2), S="1 { :x :a 1 } 2 { :x :a 1 }"))
        assert counts(diagnosis, 0) == {"on S": 1, "graph pattern": 1, "partial matches so far": 1}


class TestTimeouts:
    def test_what_ran_out_of_time_is_told_beside_what_was_completed(self) -> None:
        later = "DEFINE GPM B ON S { ?x :b ?w }"
        findings = found(
            "A; B", "ON TIMEOUT WITHIN 10 SLIDING", f"{A} {later}",
            S="1 { :x :a 1 } 2 { :y :a 1 } 3 { :x :b 1 } 30 { :y :b 1 }",
        )  # fmt: skip
        diagnosis = one(findings)
        assert (diagnosis.timeouts, diagnosis.matches) == (1, 1)
        assert "1 partial match ran out of time, 1 match completed" in diagnosis_text(findings)
