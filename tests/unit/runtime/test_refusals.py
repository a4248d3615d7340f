"""The reasons of dead letters show times as results do, wherever an event is refused."""

from __future__ import annotations

import scepter
from scepter.rdf.terms import IRI, Literal
from scepter.runtime import refusals
from scepter.timeline import TimeKind

QUERY = scepter.parse("SELECT ?v WHERE { ?x <http://e/p> ?v }", "ep-sparql")
TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T00:30:00Z", "2027-01-01T00:00:00Z")
LATE = "late: 2026-01-01T00:30:00Z is behind the watermark 2026-01-01T01:00:00Z"
ALONE = "2027-01-01T00:00:00Z would move time on by more than 7200 s (--max-advance), and no other event confirms it"


def events() -> list[scepter.Event]:
    triple = (IRI("http://e/x"), IRI("http://e/p"), Literal("1"))
    return [scepter.Event("http://e/s", [triple], at) for at in TIMES]


def test_a_run_tells_times_as_results_show_them() -> None:
    run = scepter.run_local(QUERY, events(), max_delay="PT0S", max_advance="PT2H")
    assert len(list(run)) == 2
    assert [letter.reason for letter in run.dead_letters] == [LATE, ALONE]


def test_so_does_push() -> None:
    engine = scepter.Engine(QUERY)
    for event in events()[:3]:
        engine.push(event)
    assert [letter.reason for letter in engine.dead_letters] == [LATE]


def test_integers_are_shown_as_they_are() -> None:
    assert refusals.late(3, 5, TimeKind.INTEGER) == "late: 3 is behind the watermark 5"
    assert refusals.ahead(3, TimeKind.INTEGER).startswith("3 is too far ahead")
    assert "more than 100 (--max-advance)" in refusals.unconfirmed(3, 100, TimeKind.INTEGER)
