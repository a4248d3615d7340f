"""State written and read back in the middle of any stream, and solutions shipped to any number of buckets, change no match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from buckets import Buckets, comparable, job_of
from naive import spaseq as naive
from property.spaseq_strategies import BACKGROUND, DB, EXAMPLES, QueryText, events, queries
from property.test_spaseq_naive import by_engine
from scepter.runtime.matches import Match
from scepter.runtime.queries import parse

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)


def merged(query: QueryText, matches: Iterable[Match]) -> Counter[object]:
    if "DISTINCT" in query.text:  # each bucket's rows are distinct; equal rows of different buckets are one
        matches = {match.row(): match for match in matches}.values()
    rows = [comparable(match) for match in matches]
    if "\nASK\n" in query.text:  # each bucket answers; the first answer counts
        rows = sorted(rows, key=lambda row: (row[1], row[0]))[:1]
    return Counter(rows)


@st.composite
def cut_runs(draw: st.DrawFn) -> tuple[QueryText, list[naive.Event], list[bool]]:
    query = draw(queries())
    stream = [e for e in draw(events(query.streams)) if e.stream in query.streams]
    return query, stream, draw(st.lists(st.booleans(), min_size=len(stream), max_size=len(stream)))


@MANY
@given(cut_runs(), st.sampled_from([1, 7]), st.sampled_from([0, 0, 3, 20]), st.booleans())
def test_a_state_read_back_goes_on_as_the_one_written(
    run: tuple[QueryText, list[naive.Event], list[bool]], size: int, delay: int, live: bool
) -> None:
    query, stream, cuts = run
    note(query.text)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    buckets = Buckets(job_of(parse(query.text, "spaseq"), size, background={DB: BACKGROUND}, live=live))
    found: list[Match] = []
    for event, cut in zip(in_order, cuts, strict=True):
        buckets.take(event.stream, event.start, event.end, event.triples)
        if cut:
            buckets.cut()
        found += buckets.release(event.end - delay - 1)
        if cut:
            buckets.cut()
    found += buckets.finish()
    assert merged(query, found) == by_engine(query, in_order, 0, 1, 0)
