"""In which rounds units that feed each other run."""

from __future__ import annotations

from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind


def rounds(*units: tuple[str, str]) -> tuple[int, ...]:
    """Of units that read one stream and construct another, or none."""
    text = "PREFIX : <http://e/> " + "\n".join(
        f"{f'CONSTRUCT {{ ?x :p ?y }} INTO STREAM :{made}' if made else 'SELECT ?x'} WITHIN 5 FROM STREAM S :{read} "
        "WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?y } }"
        for read, made in units
    )
    return plan(parse(text, "spaseq").program, Facts(kind=TimeKind.INTEGER)).rounds


def test_units_without_a_constructed_stream_are_one_round() -> None:
    assert rounds(("s", ""), ("t", "")) == (0, 0)


def test_a_reader_comes_behind_its_makers_wherever_it_stands() -> None:
    assert rounds(("made", ""), ("s", "made")) == (1, 0)
    assert rounds(("b", ""), ("a", "b"), ("s", "a")) == (2, 1, 0)


def test_all_that_answer_are_in_the_last_round() -> None:
    assert rounds(("s", "a"), ("s", ""), ("a", "b"), ("a", ""), ("b", "")) == (0, 2, 1, 2, 2)


def test_what_nobody_reads_is_an_answer() -> None:
    assert rounds(("s", "a"), ("s", "")) == (0, 0)
