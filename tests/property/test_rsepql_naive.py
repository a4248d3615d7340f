"""The engine against the naive evaluator: random queries, random streams, any batch size, any arrival within the delay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import rsepql as naive
from naive.comparison import comparable_graph, comparable_row
from property.rsepql_strategies import BACKGROUND, DB, EXAMPLES, QueryText, background, events, queries
from scepter.algebra.windows import WindowedQuery
from scepter.lower import lower

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)
STATIC = {"": background(), DB: background()}


def by_definition(query: QueryText, stream: Sequence[naive.Event]) -> Counter[object]:
    (unit,) = lower(query.text, "rsep-ql").program.units
    assert isinstance(unit, WindowedQuery)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    policy = query.policy or "unrestricted"
    outputs = naive.evaluate(unit, in_order, policy=policy, evaluate_at=query.evaluate_at, background=STATIC)
    asks = "\nASK\n" in query.text
    rows = (
        True if asks else comparable_graph(each.graph) if each.graph is not None else comparable_row(each.row)
        for each in outputs
    )
    return Counter((each.start, each.end, row) for each, row in zip(outputs, rows, strict=True))


def by_engine(query: QueryText, arriving: Sequence[naive.Event], size: int, delay: int) -> Counter[object]:
    engine = scepter.Engine(
        scepter.parse(query.text, "rsep-ql"), time_unit="ms", max_delay=delay, background={None: BACKGROUND, DB: BACKGROUND},
        policy=query.policy, evaluate_at=query.evaluate_at,
    )  # fmt: skip
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving if e.stream in engine.query.streams]
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


@MANY
@given(queries(), events())
def test_same_answers_event_by_event(query: QueryText, stream: list[naive.Event]) -> None:
    streams = lower(query.text, "rsep-ql").inputs
    stream = [e for e in stream if e.stream in {iri.value for iri in streams}]
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    note(str(query))
    wanted = by_definition(query, stream) if stream else Counter()
    event(f"rows: {min(3, wanted.total())}")
    assert by_engine(query, in_order, 1, 0) == wanted


@MANY
@given(queries(), events(), st.sampled_from([3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_same_answers_in_batches_and_out_of_order(
    query: QueryText, stream: list[naive.Event], size: int, delay: int, random: Any
) -> None:
    streams = lower(query.text, "rsep-ql").inputs
    stream = [e for e in stream if e.stream in {iri.value for iri in streams}]
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    note(str(query))
    assert by_engine(query, arriving, size, delay) == (by_definition(query, stream) if stream else Counter())
