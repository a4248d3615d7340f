"""The engine against the naive evaluator: random queries, random streams, any batch size, any arrival within the delay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import spaseq as naive
from naive.comparison import comparable_graph, comparable_row
from property.spaseq_strategies import BACKGROUND, DB, EXAMPLES, QueryText, background, events, queries
from scepter.lower import lower

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)


def by_definition(query: QueryText, stream: Sequence[naive.Event], start: int) -> Counter[object]:
    (matches,) = naive.evaluate_program(lower(query.text, "spaseq").program, stream, background={DB: background()}, start=start)
    asks = "\nASK\n" in query.text
    rows = (
        True if asks else comparable_graph(match.graph) if match.graph is not None else comparable_row(match.row)
        for match in matches
    )
    return Counter((match.start, match.end, row) for match, row in zip(matches, rows, strict=True))


def by_engine(query: QueryText, arriving: Sequence[naive.Event], start: int, size: int, delay: int) -> Counter[object]:
    engine = scepter.Engine(
        scepter.parse(query.text, "spaseq"), time_unit="ms", start=start, max_delay=delay, background={DB: BACKGROUND}
    )
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving if e.stream in query.streams]
    matches = []
    for first in range(0, len(pushed), size):
        batch = pushed[first : first + size]
        matches += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
    matches += engine.close()
    rows = (
        match.boolean
        if match.boolean is not None
        else comparable_graph(match.graph)
        if match.graph is not None
        else comparable_row(match.bindings.items())
        for match in matches
    )
    return Counter((match.start, match.end, row) for match, row in zip(matches, rows, strict=True))


@st.composite
def runs(draw: st.DrawFn) -> tuple[QueryText, list[naive.Event]]:
    query = draw(queries())
    return query, draw(events(query.streams))


@MANY
@given(runs(), st.sampled_from([0, 0, 0, 3]))
def test_same_matches_event_by_event(run: tuple[QueryText, list[naive.Event]], start: int) -> None:
    query, stream = run
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    wanted = by_definition(query, stream, start)
    event(f"matches: {min(3, wanted.total())}")
    note(query.text)
    assert by_engine(query, in_order, start, 1, 0) == wanted


@MANY
@given(runs(), st.sampled_from([3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_same_matches_in_batches_and_out_of_order(
    run: tuple[QueryText, list[naive.Event]], size: int, delay: int, random: Any
) -> None:
    query, stream = run
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    note(query.text)
    assert by_engine(query, arriving, 0, size, delay) == by_definition(query, stream, 0)
