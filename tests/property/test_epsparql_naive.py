"""The engine against the definitions: random queries, rules and policies, any batch size, any arrival within the delay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, assume, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import epsparql as naive
from naive.comparison import comparable_graph, comparable_row
from property.epsparql_strategies import EXAMPLES, chains, events, plain_queries, programs, queries, several, statics
from roads import any_sample
from scepter.algebra.timed import TimedProgram
from scepter.errors import QueryError
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.rdf.terms import Triple
from scepter.timeline import TimeKind

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)
UNTRIED = ("unbound-variable", "unbound-time")
"""What random text may say that is refused, with a test of its own."""


def parsed(text: str) -> scepter.Query:
    try:
        return scepter.parse(text, "ep-sparql")
    except QueryError as error:
        assume(error.code not in UNTRIED)
        raise


def by_definition(
    query: scepter.Query, stream: Sequence[naive.Event], static: Sequence[Triple] = (), policy: str | None = None
) -> Counter[object]:
    (program,) = query.lowered.program.units  # as written: the engine runs what the optimizer makes of it
    assert isinstance(program, TimedProgram)
    answers = naive.run(program, stream, static, policy)
    return Counter(
        (number, m.start, m.end, comparable_row(m.row.items()) if m.graph is None else comparable_graph(m.graph))
        for number, matches in enumerate(answers)
        for m in matches
    )


def by_engine(
    query: scepter.Query,
    arriving: Sequence[naive.Event],
    size: int = 1,
    delay: int = 0,
    static: Sequence[Triple] = (),
    policy: str | None = None,
) -> Counter[object]:
    background = "".join(f"{t.subject} {t.predicate} {t.object} .\n" for t in static) + "\n"
    engine = scepter.Engine(query, max_delay=delay, background=background, policy=policy)
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving]
    matches = []
    for first in range(0, len(pushed), size):
        batch = pushed[first : first + size]
        matches += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
    matches += engine.close()
    assert not engine.late
    rows = (comparable_row(m.bindings.items()) if m.graph is None else comparable_graph(m.graph) for m in matches)
    return Counter((m.query, m.start, m.end, row) for m, row in zip(matches, rows, strict=True))


def in_order(stream: Sequence[naive.Event]) -> list[naive.Event]:
    return sorted(stream, key=lambda e: (e.end, e.start))


@MANY
@given(queries(), events(), statics)
def test_same_answers_event_by_event(text: str, stream: list[naive.Event], static: list[Triple]) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    wanted = by_definition(query, ordered, static)
    event(f"matches: {min(3, wanted.total())}")
    assert by_engine(query, ordered, static=static) == wanted


@MANY
@given(several(), events(), statics, st.sampled_from([1, 3, 1_000]))
def test_queries_that_share_operators(text: str, stream: list[naive.Event], static: list[Triple], size: int) -> None:
    query = parsed(text)
    note(text)
    event(f"groups: {len(plan(query.program, Facts(TimeKind.INTEGER)).shared)}")
    ordered = in_order(stream)
    wanted = by_definition(query, ordered, static)
    event(f"matches: {min(3, wanted.total())}")
    assert by_engine(query, ordered, size, static=static) == wanted


@MANY
@given(plain_queries(), events(), st.sampled_from([1, 1_000]))
def test_plain_sparql_over_time(text: str, stream: list[naive.Event], size: int) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    wanted = by_definition(query, ordered)
    event(f"matches: {min(3, wanted.total())}")
    assert by_engine(query, ordered, size) == wanted


@MANY
@given(queries(), events(), st.sampled_from([3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_same_answers_in_batches_and_out_of_order(
    text: str, stream: list[naive.Event], size: int, delay: int, random: Any
) -> None:
    query = parsed(text)
    note(text)
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    assert by_engine(query, arriving, size, delay) == by_definition(query, stream)


@MANY
@given(queries() | programs(), events(), statics, st.integers(0, 1 << 30))
def test_whatever_a_sample_says(text: str, stream: list[naive.Event], static: list[Triple], seed: int) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    with any_sample(seed):
        assert by_engine(query, ordered, 3, static=static) == by_definition(query, ordered, static)


@MANY
@given(programs(), events(), statics)
def test_rules_feed_all(text: str, stream: list[naive.Event], static: list[Triple]) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    wanted = by_definition(query, ordered, static)
    event(f"matches: {min(3, wanted.total())}")
    assert by_engine(query, ordered, static=static) == wanted


@MANY
@given(chains(), events(), st.sampled_from(["chronological", "recent"]), st.sampled_from([1, 3, 1_000]), statics)
def test_policies(text: str, stream: list[naive.Event], policy: str, size: int, static: list[Triple]) -> None:
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    wanted = by_definition(query, ordered, static, policy)
    event(f"matches: {min(3, wanted.total())}")
    assert by_engine(query, ordered, size, static=static, policy=policy) == wanted


@MANY
@given(queries(), events(), st.integers(0, 12))
def test_timewise_monotonicity(text: str, stream: list[naive.Event], now: int) -> None:
    """What is answered over a prefix of the stream is answered over all of it, and nothing more up to then (rule 7)."""
    query = parsed(text)
    note(text)
    ordered = in_order(stream)
    early = by_engine(query, [e for e in ordered if e.end <= now])
    late = Counter({match: n for match, n in by_engine(query, ordered).items() if match[2] <= now})  # type: ignore[index]
    if text.split("\n")[1].startswith("ASK") and not early:
        return
    assert early == late


@MANY
@given(queries(), plain_queries(), events(), statics)
def test_queries_of_one_file_do_not_disturb_each_other(
    text: str, other: str, stream: list[naive.Event], static: list[Triple]
) -> None:
    assume("CONSTRUCT" not in text)  # beside a query a CONSTRUCT is a rule
    query = parsed(f"{text}\n{other}")
    note(query.text)
    ordered = in_order(stream)
    assert by_engine(query, ordered, 1_000, static=static) == by_definition(query, ordered, static)
