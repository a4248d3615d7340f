"""The engine against the definitions: random queries, streams, static data and schemas, any batch size, any arrival within
the delay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import sparkwave as naive
from naive.comparison import comparable_graph, comparable_row
from property.sparkwave_strategies import Setting, continuous, periodic, timed
from property.spaseq_strategies import EXAMPLES
from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.lower import lower
from scepter.rdf.terms import Triple

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)


def by_definition(setting: Setting) -> Counter[object]:
    (unit,) = lower(setting.text, "sparkwave").program.units
    if isinstance(unit, ContinuousQuery):
        matches = naive.Continuous(unit, setting.events, setting.static, setting.schema).matches()
    else:
        assert isinstance(unit, PeriodicQuery)
        matches = naive.periodic(unit, setting.events, setting.static, setting.schema)
    asks = "\nASK" in setting.text
    rows = (True if asks else comparable_graph(m.graph) if m.graph is not None else comparable_row(m.row) for m in matches)
    return Counter((m.start, m.end, row) for m, row in zip(matches, rows, strict=True))


def turtle(triples: Iterable[Triple]) -> str:
    return "\n".join(f"{s} {p} {o} ." for s, p, o in triples) + "\n"


def by_engine(setting: Setting, arriving: Sequence[naive.Event], size: int, delay: int) -> Counter[object]:
    engine = scepter.Engine(
        scepter.parse(setting.text, "sparkwave"),
        max_delay=delay,
        background={None: turtle(setting.static)},
        ontology=turtle(setting.schema),
    )
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving]
    matches = []
    for first in range(0, len(pushed), size):
        batch = pushed[first : first + size]
        matches += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
    matches += engine.close()
    assert not engine.late
    rows = (
        m.boolean
        if m.boolean is not None
        else comparable_graph(m.graph)
        if m.graph is not None
        else comparable_row(m.bindings.items())
        for m in matches
    )
    return Counter((m.start, m.end, row) for m, row in zip(matches, rows, strict=True))


def compare(setting: Setting, size: int, delay: int, random: Any) -> None:
    wanted = by_definition(setting)
    event(f"matches: {min(3, wanted.total())}")
    arriving = sorted(setting.events, key=lambda e: e.end + random.randint(0, delay))
    note(repr(setting))
    note(f"arriving: {[(e.stream[-2:], e.end) for e in arriving]}")
    assert by_engine(setting, arriving, size, delay) == wanted


@MANY
@given(continuous(), st.sampled_from([1, 1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_continuous_matches_are_those_of_the_definitions(setting: Setting, size: int, delay: int, random: Any) -> None:
    compare(setting, size, delay, random)


@MANY
@given(periodic(), st.sampled_from([1, 1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_periodic_answers_are_those_of_the_definitions(setting: Setting, size: int, delay: int, random: Any) -> None:
    compare(setting, size, delay, random)


@MANY
@given(timed(), st.sampled_from([1, 1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_timestamps_are_those_of_the_latest_triple(setting: Setting, size: int, delay: int, random: Any) -> None:
    compare(setting, size, delay, random)
