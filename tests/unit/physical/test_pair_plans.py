"""Which queries are pairs, and what `explain` says of them."""

from __future__ import annotations

import pytest

import scepter
from scepter.algebra.windows import Policy, WindowedQuery
from scepter.lower import lower
from scepter.physical.pairs import ALL, COMPETE, EACH, GROUP, PairPlan, plan_pairs

EVENTS = "EVENT ON :w { ?x :p ?y } AS E1 EVENT ON :w { ?y :q ?z } AS E2"


def text(match: str, head: str = "SELECT ?x ?y ?z", events: str = EVENTS) -> str:
    windows = "FROM NAMED :S WIN [RANGE 5] AS :w"
    return f"PREFIX : <http://example/> {head} {windows} {events} WHERE {{ MATCH {{ {match} }} }}"


def plan(query: str, policy: Policy = Policy.UNRESTRICTED) -> PairPlan | None:
    (unit,) = lower(query, "rsep-ql").program.units
    assert isinstance(unit, WindowedQuery)
    return plan_pairs(unit, policy)


@pytest.mark.parametrize(
    ("match", "mode"),
    [
        ("E1 SEQ E2", ALL),
        ("LAST E1 SEQ E2", EACH),
        ("FIRST E1 SEQ E2", EACH),
        ("E1 SEQ RECENT E2", COMPETE),
        ("FIRST E1 SEQ CHRONOLOGICAL E2", COMPETE),
        ("E1 SEQ NAIVE E2", GROUP),
        ("LAST E1 SEQ FIRST E2", GROUP),
        ("E1 SEQ RECENT LAST E2", GROUP),
    ],
)
def test_pairs_go_in_columns(match: str, mode: int) -> None:
    found = plan(text(match))
    assert found is not None and found.rule.mode == mode


@pytest.mark.parametrize(
    "query",
    [
        text("E1", head="SELECT ?x"),
        text("E1 SEQ LAST E2"),
        text("LAST (E1 SEQ E2)"),
        text("E1 SEQ E2 SEQ E1"),
        text("E1 SEQ E2", head="ASK"),
        text("E1 SEQ E2", head="SELECT DISTINCT ?x"),
        text("E1 SEQ E2", head="REGISTER DSTREAM :out AS SELECT ?x"),
        text("E1 SEQ E2", head="SELECT ?x", events=EVENTS.replace("?x :p ?y", "?x :p ?y OPTIONAL { ?y :r ?z }")),
    ],
)
def test_all_else_is_for_the_operators(query: str) -> None:
    assert plan(query) is None


def test_every_e1_before_the_last_e2_is_for_the_operators_unless_a_policy_chooses() -> None:
    assert plan(text("E1 SEQ LAST E2"), Policy.UNRESTRICTED) is None
    assert plan(text("E1 SEQ LAST E2"), Policy.RECENT) is not None


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ("E1 SEQ E2", "#2 Pairs E1 SEQ E2 by ?y"),
        ("E1 SEQ LAST E2", "#0 Snapshot, by terms │ not in columns: this is no plain MATCH of two events in sequence"),
        ("E1 SEQ E2 SEQ E1", "#0 Snapshot, by terms │ not in columns: this is no plain MATCH of two events in sequence"),
    ],
)
def test_explain_says_how_a_match_is_followed(match: str, told: str) -> None:
    assert told in " ".join(scepter.parse(text(match), "rsep-ql").explain().split())
