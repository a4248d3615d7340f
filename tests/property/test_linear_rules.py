"""Rules that carry on what they derived, in one pass: against the definitions, against rounds over longer streams, and cut
where state is written and read back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from naive import epsparql as naive
from property.epsparql_strategies import STREAM, events, iri
from property.test_epsparql_naive import MANY, by_definition, by_engine, in_order, parsed
from scepter import Engine, Event
from scepter.kernel.derive import one_pass
from scepter.kernel.operator import Until
from scepter.kernel.rows import Int64, Rows
from scepter.physical.planning import interval_plan
from scepter.rdf.terms import XSD, Literal, Triple
from scepter.runtime import pipeline

GIVEN = ("?x :p ?v", "{ ?x :p ?v } SEQ { ?x :q ?w }", "?x :p ?v . ?x :q ?w")
RULES = (
    # template, what is carried on, by what, between, values
    ("?x :r ?u", "?x :r ?v", "?v :p ?u", "", ""),
    ("?x :r ?u", "?x :r ?v", "?x :p ?u", "?x :q ?b", ""),
    (":it :r ?u", ":it :r ?v", "?y :p ?u", "?z :q ?b", ""),
    ("?x :r ?v", "?x :r ?v", "?v :p ?u", "", ""),
    ("_:n :r ?s ; :of ?x", "?n :r ?v ; :of ?x", "?x :p ?u", "?x :q ?b", "BIND (?v + ?u AS ?s)"),
    ("_:n :r ?s ; :of ?u ; :two ?d", "?n :r ?v", "?y :p ?u", "", "BIND (?v * ?u AS ?s) BIND (?s - ?u + 0.5 AS ?d)"),
    ("_:n :r ?s ; :of 1", "?n :r ?v ; :of 1", "?y :p ?u", "", "BIND (-?v / ?u AS ?s)"),
    ("_:n :r ?s ; :last ?v ; :from ?n", "?n :r ?v ; :last ?w ; :from ?m", "?y :p ?u", "", "BIND (?v + ?u AS ?s)"),
    ("?y :r ?u", "?x :r ?v", "?y :p ?u", "", ""),
)
BOUNDS = ("getDURATION() < 4", "getDURATION() <= 6", "getDURATION() < 9 && getDURATION() < 5")


def rules(rule: tuple[str, str, str, str, str], first: str, bound: str) -> str:
    template, left, right, between, values = rule
    pattern = f"{{ {left} }} SEQ {{ {right} }}"
    if between:
        pattern += f" EQUALSOPTIONAL {{ {{ {left} }} SEQ {{ {between} }} SEQ {{ {right} }} }}"
        bound = f"!BOUND(?b) && {bound}"
    begun = template.replace("?u", "?v").replace("?s", "?v").replace("?d", "?v").replace("?y", "?x").replace("?n", "?x")
    shown = " ".join(name for name in ("?x", "?u", "?v", "?w") if name in left)
    return f"""PREFIX : <http://example/>
      CONSTRUCT {{ {begun} }} WHERE {{ {first} }}
      CONSTRUCT {{ {template} }} WHERE {{ {pattern} FILTER ({bound}) {values} }}
      SELECT {shown} WHERE {{ {left} }}"""


def averages(between: str, shortest: int) -> str:
    """As the paper's (5) and (6): what is read of a rule's rows depends on what comes right before them."""
    point = "?n :count ?c ; :sum ?s"
    gap = f"EQUALSOPTIONAL {{ {{ %s }} SEQ {{ {between} }} SEQ {{ %s }} }}"
    return f"""PREFIX : <http://example/>
      CONSTRUCT {{ _:n :count 1 ; :sum ?v }} WHERE {{ ?x :p ?v }}
      CONSTRUCT {{ _:n :count ?d ; :sum ?t }} WHERE {{
        {{ {point} }} SEQ {{ ?x :p ?v }} {gap % (point, "?x :p ?v")}
        FILTER (!BOUND(?b) && getDURATION() < 5) BIND (?c + 1 AS ?d) BIND (?s + ?v AS ?t) }}
      SELECT ?v ?c ?s WHERE {{
        {{ ?x :p ?v }} SEQ {{ {point} }} {gap % ("?x :p ?v", point)}
        FILTER (!BOUND(?b) && getDURATION() >= {shortest}) }}"""


programs = st.builds(rules, st.sampled_from(RULES), st.sampled_from(GIVEN), st.sampled_from(BOUNDS))


@MANY
@given(programs, events(10), st.integers(1, 12))
def test_as_by_definition(text: str, stream: list[naive.Event], size: int) -> None:
    query = parsed(text)
    note(text)
    assert "in one pass" in query.explain()
    ordered = in_order(stream)
    assert by_engine(query, ordered, size) == by_definition(query, ordered)


def long_stream(seed: int, count: int) -> list[naive.Event]:
    """Events of a few subjects, with numbers that add up, some that do not end, and terms that are none."""
    rng = random.Random(seed)
    found = list[naive.Event]()
    for now in range(count):
        value = rng.choice((str(rng.randint(1, 9)), f"{rng.randint(1, 99)}.5", "10000000000000007"))
        number = Literal(value, XSD + ("decimal" if "." in value else "integer"))
        object = rng.choice((number, number, number, number, iri("a"), iri("b"), Literal("word")))
        triple = Triple(iri(rng.choice("ab")), iri(rng.choice("pppq")), object)
        end = now // 2 + rng.randint(0, 3)
        found.append(naive.Event((triple,), max(0, end - rng.choice((0, 0, 2))), end, STREAM))
    return in_order(found)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", [1, 2])
def test_as_in_rounds(rule: tuple[str, str, str, str, str], seed: int) -> None:
    text, stream = rules(rule, GIVEN[0], BOUNDS[1]), long_stream(seed, 300)
    with ExitStack() as patches:
        for module, names in (one_pass, ("_FIRST", "_TOGETHER")), (pipeline, ("_FIRST_ROWS", "_DERIVED_ROWS")):
            for name in names:
                patches.enter_context(mock.patch.object(module, name, 20))
        found = by_engine(parsed(text), stream, 300), by_engine(parsed(text), stream, 11)
    with mock.patch.object(interval_plan, "in_one_pass", return_value=False):
        query = parsed(text)
        assert "in one pass" not in query.explain()
        expected = by_engine(query, stream, 300)
    assert len(expected) > 100
    assert found == (expected, expected)


@pytest.mark.parametrize("rule", RULES)
def test_state_written_and_read_back(rule: tuple[str, str, str, str, str]) -> None:
    process, cuts = one_pass.OnePass.process, list[int]()

    def cut(operator: one_pass.OnePass, inputs: Sequence[Rows], until: Until) -> Rows:
        if not until.open:  # an instant that may be undone is never written
            cuts.append(until.time)
            operator.load({name: array.copy() for name, array in operator.dump().items()})
        return process(operator, inputs, until)

    query, stream = parsed(rules(rule, GIVEN[0], BOUNDS[1])), long_stream(3, 60)
    with mock.patch.object(one_pass.OnePass, "process", cut):
        found = by_engine(query, stream, 3)
    assert len(cuts) > 10
    assert found == by_engine(query, stream, 60)


ASKED = "with what comes right before"


@MANY
@given(st.integers(1, 7), events(10), st.integers(1, 12))
def test_a_reader_is_given_what_it_can_use(shortest: int, stream: list[naive.Event], size: int) -> None:
    query = parsed(averages("?z :p ?b", shortest))
    assert ASKED in " ".join(query.explain().replace("│", " ").split())
    ordered = in_order(stream)
    assert by_engine(query, ordered, size) == by_definition(query, ordered)


@pytest.mark.parametrize("shortest", [2, 5, 8])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_reader_is_given_what_it_can_use_of_long_streams(shortest: int, seed: int) -> None:
    """In short stretches, so that what stands before has been let go of, and with state that is written and read back."""
    text, stream = averages("?z :p ?b", shortest), long_stream(seed, 300)
    made, process, given_rows = one_pass.OnePass._made, one_pass.OnePass.process, [0, 0]

    def counted(operator: one_pass.OnePass, derived: Int64, asked: Int64, *others: Any) -> Rows:
        given_rows[0] += len(asked)
        given_rows[1] += len(derived)
        return made(operator, derived, asked, *others)

    def cut(operator: one_pass.OnePass, inputs: Sequence[Rows], until: Until) -> Rows:
        operator.load({name: array.copy() for name, array in operator.dump().items()})
        return process(operator, inputs, until)

    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(one_pass, "_FIRST", 20))
        patches.enter_context(mock.patch.object(one_pass, "_TOGETHER", 20))
        with mock.patch.object(one_pass.OnePass, "_made", counted):
            found = by_engine(parsed(text), stream, 300)
        with mock.patch.object(one_pass.OnePass, "process", cut):
            assert found == by_engine(parsed(text), stream, 7)
    assert 0 < given_rows[0] <= given_rows[1] * {2: 1, 5: 0.9, 8: 0.5}[shortest]
    with mock.patch.object(interval_plan, "push_semi_joins", tuple):
        query = parsed(text)
        assert ASKED not in " ".join(query.explain().replace("│", " ").split())
        assert found == by_engine(query, stream, 300)


def test_a_reader_with_another_gap_is_given_all() -> None:
    assert ASKED not in " ".join(parsed(averages("?z :q ?b", 5)).explain().replace("│", " ").split())


def test_what_stands_before_stays_for_an_event_that_began_long_ago() -> None:
    """Without a bound nothing may be let go, though other prices have come behind it: the last event begins right after 3."""
    price = [Triple(iri("a"), iri("p"), Literal(str(value), XSD + "integer")) for value in range(6)]
    times = [(1, 1), (2, 2), (3, 3), (5, 5), (4, 40)]
    stream = [naive.Event((triple,), start, end, STREAM) for triple, (start, end) in zip(price, times, strict=False)]
    query = parsed(averages("?z :p ?b", 10))
    found = by_engine(query, stream, 1)
    assert {each[1:3] for each in found if isinstance(each, tuple)} == {(3, 40)}
    assert found == by_definition(query, stream)


def test_with_a_bound_state_does_not_grow() -> None:
    text = averages("?z :p ?b", 6).replace("getDURATION() >= 6", "getDURATION() >= 6 && getDURATION() < 20")
    kept = list[int]()
    for count in (100, 1_000):
        engine = Engine(parsed(text))
        for time in range(count):
            engine.push(Event(str(STREAM), f"<http://example/a> <http://example/p> {time % 7} .", time))
        kept.append(engine.state_size()["solutions"])
    assert kept[1] < 1.5 * kept[0]
