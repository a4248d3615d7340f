"""The generated queries and the naive evaluator themselves: checked queries only, and laws that hold whatever the query."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from naive.comparison import comparable_graph, comparable_row
from naive.spaseq import Event, Match, evaluate_program
from property.spaseq_strategies import DB, EXAMPLES, QueryText, background, events, queries
from scepter.lower import lower

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=SLOW)


def answers(text: str, stream: list[Event]) -> Counter[object]:
    (matches,) = evaluate_program(lower(text, "spaseq").program, stream, background={DB: background()})
    return Counter(map(comparable, matches))


def comparable(match: Match) -> object:
    return match.start, match.end, comparable_row(match.row), comparable_graph(match.graph or ())


@MANY
@given(queries())
def test_every_generated_query_is_accepted(query: QueryText) -> None:
    lowered = lower(query.text, "spaseq")
    (accepted,) = lowered.program.units
    assert tuple(stream.iri.value for stream in accepted.streams) == query.streams


@MANY
@given(queries(), events(), st.randoms(use_true_random=False))
def test_arrival_never_changes_the_matches(query: QueryText, stream: list[Event], random: Any) -> None:
    shuffled = random.sample(stream, len(stream))
    note(query.text)
    assert answers(query.text, shuffled) == answers(query.text, stream)


SELECTIONS = """\
PREFIX : <http://example/>
SELECT *
WITHIN 9 {}
FROM STREAM S1 <http://example/s1>
WHERE {{
  SEQ (A {} B)
  DEFINE GPM A ON S1 {{ ?s :p ?v1 }}
  DEFINE GPM B ON S1 {{ ?s ?r ?v2 FILTER (?v2 >= ?v1) }}
}}
"""


@MANY
@given(events(("http://example/s1",)), st.sampled_from(["", "SLIDING", "EVENTS"]))
def test_strict_is_among_next_is_among_any(stream: list[Event], window: str) -> None:
    strict, following, every = (answers(SELECTIONS.format(window, operator), stream) for operator in ",;:")
    assert strict <= following <= every
