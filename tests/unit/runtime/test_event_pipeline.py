"""OBEP event by event: what comes back from which push, and what is kept.

time    1   2   3   4   5 …
item    A   B   A   B   …
"""

from __future__ import annotations

from pathlib import Path

import pytest

import scepter
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import XSD
from scepter.rdf.times import PROV_TIMES
from scepter.runtime.local import run_local
from scepter.timeline import Allen

NS = "http://e/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
EVENTS = f"PREFIX : <{NS}>\nEVENT A AS ClassA\nEVENT B AS ClassB\n"
ONTOLOGY = f"PREFIX : <{NS}>\nPREFIX owl: <http://www.w3.org/2002/07/owl#>\n:ClassA owl:disjointWith :ClassC .\n"


def engine(definition: str, form: str = "RDF", **options: object) -> scepter.Engine:
    query = scepter.parse(f"{EVENTS}EVENT X MATCH {definition}\nRETURN X AS {form} STREAM", "obep")
    return scepter.Engine(query, ontology=ONTOLOGY, **options)  # type: ignore[arg-type]


def item(kind: str, start: int, end: int | None = None, name: str = "x") -> scepter.Event:
    return scepter.Event(NS + "s", f"<{NS}{name}> a <{NS}Class{kind}> .", start, end)


def intervals(matches: list[scepter.Match]) -> list[tuple[int, int]]:
    return [(match.start, match.end) for match in matches]


def test_a_sequence_comes_back_with_its_last_event() -> None:
    run = engine("A SEQ B WITHIN 5")
    assert run.push(item("A", 1)) == []
    assert intervals(run.push(item("B", 2))) == [(1, 2)]
    assert intervals(run.push(item("B", 2, name="y"))) == [(1, 2)]  # the same instant, another occurrence
    assert run.push(item("B", 2)) == []  # the same again is no other
    assert run.close() == []


def test_not_waits_until_its_instant_is_over() -> None:
    run = engine("NOT A")
    assert run.push(item("B", 1)) == []
    assert intervals(run.push(item("A", 2))) == [(1, 1)]
    assert run.push(item("B", 2)) == []
    assert intervals(run.close()) == [(2, 2)]


def test_another_item_of_the_instant_may_use_the_triples_of_not() -> None:
    run = engine("NOT A")
    run.push(scepter.Event(NS + "s", f"<{NS}x> a <{NS}ClassA>, <{NS}ClassB> .", 1))
    run.push(item("B", 1))
    assert [len(match.graph or ()) for match in run.close()] == [2]  # one rest, and what it is


def test_first_comes_at_once_and_once() -> None:
    run = engine("FIRST A")
    assert intervals(run.push(item("A", 1))) == [(1, 1)]
    assert intervals(run.push(item("A", 1, name="y"))) == [(1, 1)]
    assert run.push(item("A", 2)) == []
    assert run.close() == []


def test_last_comes_at_the_end() -> None:
    run = engine("LAST A")
    assert [run.push(item("A", t)) for t in (1, 2, 3)] == [[], [], []]
    assert intervals(run.close()) == [(3, 3)]


def test_during_comes_with_the_end_of_what_is_around_it() -> None:
    run = engine("B DURING A WITHIN 5")
    assert run.push(item("B", 3)) == []
    assert intervals(run.push(item("A", 1, 4))) == [(3, 3)]
    assert run.push(item("A", 2, 5)) == []  # within another as well: the same occurrence


def test_first_of_what_may_come_late_waits_for_the_end() -> None:
    run = engine("FIRST (B DURING A)")
    run.push(item("B", 3))
    assert run.push(item("A", 2, 4)) == []
    run.push(item("A", 0, 5))
    assert intervals(run.close()) == [(3, 3)]


def test_event_stream_names_event_and_individual() -> None:
    (match,) = engine("A", "EVENT").push(item("A", 1))
    assert match.occurrence is not None and match.graph is not None
    event, individual = match.occurrence
    assert event.value == NS + "X"
    assert individual in {triple.subject for triple in match.graph}


def test_the_individual_is_determined_by_the_occurrence() -> None:
    first, second = (engine("A", "EVENT").push(item("A", 1))[0].occurrence for _ in range(2))
    assert first == second
    assert engine("A", "EVENT").push(item("A", 2))[0].occurrence != first


def test_what_contradicts_the_ontology_is_a_dead_letter_once() -> None:
    run = engine("NOT A")
    run.push(scepter.Event(NS + "s", f"<{NS}x> a <{NS}ClassA>, <{NS}ClassC> .", 1))
    run.push(item("B", 1))
    assert intervals(run.close()) == [(1, 1)]
    (letter,) = run.dead_letters
    assert letter.reason.startswith("inconsistent") and "ClassC" in letter.text


def test_what_contradicts_is_told_by_its_name_also_where_matches_show_none(tmp_path: Path) -> None:
    path, letters = tmp_path / "items.nq", list[DeadLetter]()
    path.write_text(
        f"<{NS}x> <{TYPE}> <{NS}ClassA> <urn:item> .\n<{NS}x> <{TYPE}> <{NS}ClassC> <urn:item> .\n"
        f'<urn:item> <{PROV_TIMES.iris[0]}> "7"^^<{XSD}integer> .\n'
    )
    query = scepter.parse(f"{EVENTS}RETURN A AS RDF STREAM", "obep")
    given = {"ontology": ONTOLOGY, "dead_letter": letters.append, "named": False}
    assert [*run_local(query, {NS + "s": open_source(path)}, **given)] == []  # type: ignore[arg-type]
    assert [letter.reason.partition(" contradicts")[0] for letter in letters] == ["inconsistent: the item <urn:item> at 7"]


def test_a_duration_that_is_no_whole_number_of_units() -> None:
    run = engine("A SEQ B WITHIN 5 ms", time_unit="s")
    with pytest.raises(scepter.QueryError, match="whole number"):
        run.push(item("A", 1))


@pytest.mark.parametrize("relation", ["SEQ", "AND", *sorted({relation.value for relation in Allen} - {"DURING", "CONTAINS"})])
def test_state_is_released(relation: str) -> None:
    """With WITHIN, and with instants, what is kept follows the window and not the stream."""
    run = engine(f"A {relation} B WITHIN 5")
    sizes = []
    for time in range(600):
        run.push(item("AB"[time % 2], time, name=f"n{time}"))
        sizes.append(run.state_size()["occurrences"])
    assert max(sizes[300:]) <= max(sizes[:300]) + 8
    assert max(sizes) < 200


@pytest.mark.parametrize("pattern", ["B DURING Long", "Long CONTAINS B", "FIRST (B DURING Long)"])
def test_state_is_released_where_what_is_around_has_a_window(pattern: str) -> None:
    text = f"{EVENTS}EVENT Long MATCH A SEQ A WITHIN 5\nEVENT X MATCH {pattern}\nRETURN X AS RDF STREAM"
    run = scepter.Engine(scepter.parse(text, "obep"))
    sizes, found = [], 0
    for time in range(600):
        found += len(run.push(item("AB"[time % 2], time, name=f"n{time}")))
        sizes.append(run.state_size()["occurrences"])
    assert max(sizes) < 250
    assert found == 1 if pattern.startswith("FIRST") else found > 250


def test_without_a_window_first_not_and_and_keep_nothing() -> None:
    for definition in ("FIRST A", "NOT A", "A AND B", "A OR B"):
        run = engine(definition)
        for time in range(300):
            run.push(item("AB"[time % 2], time, name=f"n{time}"))
        assert run.state_size()["occurrences"] < 100, definition


class _Unread:
    """A source that nobody may read."""

    def lasting(self) -> object:
        raise AssertionError("data was read")


def test_an_inconsistent_ontology_is_told_before_any_data_is_read() -> None:
    query = scepter.parse(f"{EVENTS}RETURN A AS RDF STREAM", "obep")
    ontology = ONTOLOGY + ":x a :ClassA , :ClassC ."
    with pytest.raises(scepter.OptionError, match="the ontology contradicts itself"):
        run_local(query, {NS + "s": _Unread()}, ontology=ontology)  # type: ignore[dict-item]


def test_unknown_words_are_told_once_before_any_data_is_read() -> None:
    query = scepter.parse(f"PREFIX : <{NS}>\nEVENT A AS ClasA and not ClasA\nRETURN A AS RDF STREAM", "obep")
    told: list[str] = []
    with pytest.raises(AssertionError, match="data was read"):
        run_local(query, {NS + "s": _Unread()}, ontology=ONTOLOGY, warn=lambda w: told.append(f"{w.code}: {w.help}"))  # type: ignore[dict-item]
    assert told == ["unknown-word: did you mean ClassA?"]


def test_without_ontology_and_static_assertions_no_word_is_unknown() -> None:
    query = scepter.parse(f"{EVENTS}RETURN A AS RDF STREAM", "obep")
    assert [w.code for w in scepter.Engine(query).warnings] == ["unused-event"]
