"""Where the conformance cases are silent: answers worked out by hand from the rules, one timeline above each."""

from __future__ import annotations

from collections import Counter

from naive.spaseq import Event, Match, evaluate_program
from scepter.lower import lower
from scepter.rdf.terms import IRI, TYPE, XSD, Literal, Term, Triple

NS = "http://example/"
STREAM = f"{NS}s"


def value(number: int | str) -> Term:
    return Literal(str(number), f"{XSD}integer") if isinstance(number, int) else IRI(NS + number)


def event(time: int | tuple[int, int], *facts: tuple[str, str, int | str], stream: str = STREAM) -> Event:
    start, end = time if isinstance(time, tuple) else (time, time)
    triples = (Triple(IRI(NS + s), IRI(TYPE if p == "a" else NS + p), value(o)) for s, p, o in facts)
    return Event(stream, start, end, frozenset(triples), f"e{start}-{end}")


def kinds(timeline: str) -> list[Event]:
    """`1 A  2 B  3..5 C`: events about one thing, named for its kind and its time."""
    words = timeline.split()
    events = []
    for place in range(0, len(words), 2):
        start, _, end = words[place].partition("..")
        kind = words[place + 1]
        events.append(event((int(start), int(end or start)), (f"{kind.lower()}{words[place]}", "a", kind)))
    return events


def run(head: str, sequence: str, definitions: dict[str, str], events: list[Event]) -> list[Match]:
    lines = [f"PREFIX : <{NS}>", head, f"FROM STREAM S <{STREAM}>", "WHERE {", f"SEQ ({sequence})"]
    lines += [f"DEFINE GPM {label} ON S {{ {body} }}" for label, body in definitions.items()]
    (matches,) = evaluate_program(lower("\n".join([*lines, "}"]), "spaseq").program, events)
    return matches


def of_kind(labels: str) -> dict[str, str]:
    return {label: f"?{label.lower()} a :{label}" for label in labels}


def intervals(matches: list[Match]) -> Counter[tuple[int, int]]:
    return Counter((match.start, match.end) for match in matches)


def selected(matches: list[Match]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sorted(match.events)) for match in matches)


def test_interval_events_are_seen_at_their_end() -> None:
    #      1 2 3 4 5 6
    # A    [-----]          seen at 4, after B's 3, so B at 5 follows and B at 3 does not
    # B        |   |
    matches = run("SELECT * WITHIN 10", "A : B", of_kind("AB"), kinds("1..4 A 3 B 5 B"))
    assert intervals(matches) == {(1, 5): 1}


def test_the_start_is_the_least_start_even_of_a_later_event() -> None:
    matches = run("SELECT * WITHIN 10", "A ; B", of_kind("AB"), kinds("3 A 1..5 B"))
    assert intervals(matches) == {(1, 5): 1}


def test_sliding_measures_from_the_least_start() -> None:
    # 1..5 starts at 1: 5 - 1 > 3. The B at 4 is the next one and lies inside.
    assert intervals(run("SELECT * WITHIN 3 SLIDING", "A : B", of_kind("AB"), kinds("3 A 4 B 1..5 B"))) == {(3, 4): 1}


def test_a_counting_window_counts_events_of_equal_time() -> None:
    # [1, 3] holds A, two X, B: four events
    events = kinds("1 A 2 X 2 X 3 B")
    assert not run("SELECT * WITHIN 3 EVENTS", "A ; B", of_kind("AB"), events)
    assert intervals(run("SELECT * WITHIN 4 EVENTS", "A ; B", of_kind("AB"), events)) == {(1, 3): 1}


def test_trailing_negation_in_a_counting_window() -> None:
    # The three events from A on are A X X; B at 4 is outside. Four would hold it.
    events = kinds("1 A 2 X 3 X 4 B")
    assert intervals(run("SELECT * WITHIN 3 EVENTS", "A ; B!", of_kind("AB"), events)) == {(1, 3): 1}
    assert not run("SELECT * WITHIN 4 EVENTS", "A ; B!", of_kind("AB"), events)
    # At the end of the input a window that is not full closes as well.
    assert intervals(run("SELECT * WITHIN 9 EVENTS", "A ; B!", of_kind("AB"), kinds("1 A 2 X"))) == {(1, 2): 1}


def test_leading_negation_in_a_counting_window() -> None:
    events = kinds("1 N 2 X 3 A")
    assert not run("SELECT * WITHIN 3 EVENTS", "N! ; A", of_kind("NA"), events)
    assert intervals(run("SELECT * WITHIN 2 EVENTS", "N! ; A", of_kind("NA"), events)) == {(3, 3): 1}


def test_leading_negation_without_a_window_looks_back_to_the_start() -> None:
    assert not run("SELECT *", "N! ; A", of_kind("NA"), kinds("1 N 1000 A"))


def test_leading_negation_spares_the_time_of_the_first_event() -> None:
    assert intervals(run("SELECT * WITHIN 10", "N! ; A", of_kind("NA"), kinds("3 N 3 A"))) == {(3, 3): 1}


def test_leading_negation_reaches_back_from_the_end_of_the_match() -> None:
    # The match ends at 8: back to 3 with 5 SLIDING. The N at 2 is out of reach, one at 3 is not.
    assert intervals(run("SELECT * WITHIN 5 SLIDING", "N! ; A ; B", of_kind("NAB"), kinds("2 N 4 A 8 B"))) == {(4, 8): 1}
    assert not run("SELECT * WITHIN 5 SLIDING", "N! ; A ; B", of_kind("NAB"), kinds("3 N 4 A 8 B"))


def test_neighbouring_negations_are_one() -> None:
    definitions = of_kind("ANMC")
    assert not run("SELECT * WITHIN 10", "A ; N! ; M! ; C", definitions, kinds("1 A 2 M 3 C"))
    assert intervals(run("SELECT * WITHIN 10", "A ; N! ; M! ; C", definitions, kinds("1 A 2 X 3 C"))) == {(1, 3): 1}
    # By "," the one event in between is tested against both.
    assert not run("SELECT * WITHIN 10", "A , N! , M! , C", definitions, kinds("1 A 2 M 3 C"))
    assert not run("SELECT * WITHIN 10", "A , N! , M! , C", definitions, kinds("1 A 2 X 3 X 4 C"))


def test_strict_negation_with_equal_times() -> None:
    definitions = of_kind("ANC")
    # N at C's own time is another event: C is the next and is itself no N.
    assert intervals(run("SELECT * WITHIN 10", "A , N! , C", definitions, kinds("1 A 2 N 2 C"))) == {(1, 2): 1}
    # One of the events at the next time is an N: the C after it is refused.
    assert not run("SELECT * WITHIN 10", "A , N! , C", definitions, kinds("1 A 2 N 2 X 3 C"))
    # Only the next time is tested: an N at the time of the C after the next does no harm.
    assert intervals(run("SELECT * WITHIN 10", "A , N! , C", definitions, kinds("1 A 2 X 3 N 3 C"))) == {(1, 3): 1}


def test_kleene_after_a_leading_negation_is_not_first() -> None:
    events = kinds("1 B 2 X 3 B")
    assert selected(run("SELECT * WITHIN 10", "B+", of_kind("B"), events)) == {("e1-1",): 1, ("e3-3",): 1, ("e1-1", "e3-3"): 1}
    assert selected(run("SELECT * WITHIN 10", "N! ; B+", of_kind("NB"), events)) == {("e1-1",): 1, ("e3-3",): 1}


def test_kleene_takes_one_event_per_time_and_branches() -> None:
    # At 2 two Bs: each begins a run, and each is an iteration of the run from 1.
    events = [event(1, ("a", "a", "A")), event(2, ("b", "v", 1)), event(2, ("b", "v", 2)), event(3, ("b", "v", 3))]
    matches = run("SELECT ?v WITHIN 10", "A ; B+", {"A": "?a a :A", "B": "?b :v ?v"}, events)
    assert len(matches) == 4  # {1}, {2}, {1, 3}, {2, 3}


def test_iterations_with_several_mappings_are_one_match_unless_a_row_tells_them_apart() -> None:
    events = [event(1, ("b", "v", 1), ("b", "v", 2)), event(2, ("b", "v", 5))]
    plain = run("SELECT ?v WITHIN 10", "B+", {"B": "?b :v ?v"}, events)
    assert Counter((m.start, m.end, dict(m.row)["v"].lexical) for m in plain) == {  # type: ignore[union-attr]
        (1, 1, "1"): 1,
        (1, 1, "2"): 1,
        (1, 2, "5"): 1,
        (2, 2, "5"): 1,
    }
    summed = run("SELECT (SUM(B.?v) AS ?sum) WITHIN 10", "B+", {"B": "?b :v ?v"}, events)
    assert sorted(int(dict(m.row)["sum"].lexical) for m in summed) == [1, 2, 5, 6, 7]  # type: ignore[union-attr]


def test_a_conjunction_that_swaps_its_events_is_one_match() -> None:
    definitions = {"A": "?x a :A", "B": "?x a :A"}
    events = [event(1, ("x", "a", "A")), event(1, ("x", "a", "A"), ("y", "a", "Y"))]
    assert selected(run("SELECT * WITHIN 10", "(A & B)", definitions, events)).total() == 3  # {1}, {2}, {1, 2}


def test_and_binds_tighter_than_or() -> None:
    definitions = of_kind("ABC")
    assert intervals(run("SELECT * WITHIN 10", "(A & B | C)", definitions, kinds("1 C 2 A 3 A 3 B"))) == {(1, 1): 1, (3, 3): 1}


def test_partition_sees_only_its_own_mappings() -> None:
    # Both companies are in the event at 1. In :x's partition its next event is at 3, in :y's at 2.
    events = [event(1, ("x", "p", 1), ("y", "p", 1)), event(2, ("y", "p", 2)), event(3, ("x", "p", 3))]
    definitions = {"A": "?c :p ?p1", "B": "?c :p ?p2"}
    assert intervals(run("SELECT * WITHIN 10 PARTITION BY (?c)", "A , B", definitions, events)) == {(1, 2): 1, (1, 3): 1}


def test_an_event_is_in_the_partition_though_a_filter_refuses_it() -> None:
    events = [event(1, ("x", "p", 1)), event(2, ("x", "p", 0)), event(3, ("x", "p", 3))]
    definitions = {"A": "?c :p ?p1", "B": "?c :p ?p2 FILTER (?p2 > ?p1)"}
    assert not [m for m in run("SELECT * WITHIN 10 PARTITION BY (?c)", "A , B", definitions, events) if m.start == 1]


def test_optional_with_two_readings_of_one_event_is_one_match() -> None:
    # e2 is B (then C? stays open until 10) and is C (with B left out). Same event, same mapping: once, and at 2.
    definitions = {"A": ":a a :A", "B": ":b a :B", "C": ":b a :B"}
    events = [event(1, ("a", "a", "A")), event(2, ("b", "a", "B"))]
    matches = run("CONSTRUCT { :a :b :c } WITHIN 10", "A ; B? ; C?", definitions, events)
    assert intervals(matches) == {(1, 2): 1}


def test_distinct_and_ask() -> None:
    events = kinds("1 A 1 X 2 B 2 B")
    head = "SELECT {} (1 AS ?one) WITHIN 10"
    assert len(run(head.format(""), "A ; B", of_kind("AB"), events)) == 2
    assert len(run(head.format("DISTINCT"), "A ; B", of_kind("AB"), events)) == 1
    assert intervals(run("ASK WITHIN 10", "A : B", of_kind("AB"), kinds("1 A 2 B 3 B"))) == {(1, 2): 1}
    assert not run("ASK WITHIN 10", "A : B", of_kind("AB"), kinds("2 A 1 B"))


def test_no_events_no_matches() -> None:
    assert run("SELECT * WITHIN 10", "A ; B+", of_kind("AB"), []) == []


def test_constructed_events_feed_the_next_query() -> None:
    text = f"""
    PREFIX : <{NS}>
    CONSTRUCT {{ ?a :then ?b }} INTO STREAM <{NS}pairs>
    WITHIN 10
    FROM STREAM S <{STREAM}>
    WHERE {{ SEQ (A ; B) DEFINE GPM A ON S {{ ?a a :A }} DEFINE GPM B ON S {{ ?b a :B }} }}

    SELECT ?x
    WITHIN 10
    FROM STREAM P <{NS}pairs>
    WHERE {{ SEQ (X) DEFINE GPM X ON P {{ ?x :then ?y }} }}
    """
    first, second = evaluate_program(lower(text, "spaseq").program, kinds("1 A 3 B"))
    assert intervals(first) == intervals(second) == {(1, 3): 1}
