"""RSEP-QL's WINDOW patterns in columns against the naive evaluator."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import event, given, note
from hypothesis import strategies as st

from naive import rsepql as naive
from property.rsepql_strategies import QueryText, events, window_queries
from property.test_rsepql_naive import MANY, by_definition, by_engine
from roads import any_sample
from scepter.lower import lower


@MANY
@given(window_queries(), events(), st.sampled_from([1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_windows(query: QueryText, stream: list[naive.Event], size: int, delay: int, random: Any) -> None:
    streams = {iri.value for iri in lower(query.text, "rsep-ql").inputs}
    stream = [e for e in stream if e.stream in streams]
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    note(str(query))
    wanted = by_definition(query, stream) if stream else Counter()
    event(f"rows: {min(3, wanted.total())}")
    with any_sample(delay):
        assert by_engine(query, arriving, size, delay) == wanted
