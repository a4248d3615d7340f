from __future__ import annotations

from dataclasses import replace

import pytest

from scepter.algebra.invariants import InvariantError
from scepter.algebra.query import Program, Query, Sequence
from scepter.algebra.text import parse_node
from scepter.algebra.walk import find
from scepter.optimizer.optimizer import RULES, optimize

QUERY = parse_node(
    '(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s> (bgp (triple ?s <p> ?o))))))', Query
)


def drop_everything(query: Query) -> Query:
    return replace(query, pattern=Sequence(()))


def keep_everything(query: Query) -> Query:
    return query


def test_nothing_to_do_returns_the_same_program() -> None:
    program = Program((QUERY, QUERY))
    assert optimize(program) is program
    assert optimize(program, rules=()) is program


def test_an_empty_program_stays_empty() -> None:
    program = Program(())
    assert optimize(program, check=True) is program


def test_only_the_query_that_changes_changes() -> None:
    other = parse_node(
        '(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s> (join (bgp) (bgp (triple ?s <p> ?o)))))))',
        Query,
    )
    optimized = optimize(Program((QUERY, other)))
    assert optimized.units[0] is QUERY
    assert optimized.units[1] == QUERY


def test_a_broken_invariant_names_the_rule() -> None:
    with pytest.raises(InvariantError, match="after drop_everything, steps") as caught:
        optimize(Program((QUERY,)), rules=(keep_everything, drop_everything, *RULES), check=True)
    assert caught.value.after == "drop_everything"


def test_what_was_broken_before_is_not_blamed_on_a_rule() -> None:
    with pytest.raises(InvariantError) as caught:
        optimize(Program((drop_everything(QUERY),)), check=True)
    assert caught.value.after is None


def test_without_check_nothing_is_checked() -> None:
    assert next(find(optimize(Program((QUERY,)), rules=(drop_everything,)), Query)).pattern.steps == ()
