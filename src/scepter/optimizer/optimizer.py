"""The rules in their order, and how they are applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from scepter.algebra.invariants import check as check_invariants
from scepter.algebra.query import Program
from scepter.optimizer.rules.drop_duplicate_triples import drop_duplicate_triples
from scepter.optimizer.rules.fold_constants import fold_constants
from scepter.optimizer.rules.lift_filters import lift_filters
from scepter.optimizer.rules.merge_bgps import merge_bgps
from scepter.optimizer.rules.order_triples import order_triples
from scepter.optimizer.rules.push_filters import push_filters
from scepter.optimizer.rules.split_conjuncts import split_conjuncts

Rule: TypeAlias = Callable[[Any], Any]
"""A rewriting of a unit of any kind into one of the same kind; it returns the same object when it changes nothing."""

RULES: tuple[Rule, ...] = (
    fold_constants,  # first: a filter that goes lets BGPs meet, and one that becomes simpler may be split or moved
    lift_filters,
    split_conjuncts,
    merge_bgps,
    push_filters,  # after merging, since a filter between two BGPs would keep them apart
    drop_duplicate_triples,
    order_triples,
)
"""The rules in the order they are applied."""


def optimize(program: Program, *, rules: tuple[Rule, ...] = RULES, check: bool = False) -> Program:
    """The program after every rule; the same object when no rule changes anything.

    With `check`, the algebra's invariants are checked before the first rule and after each, and an InvariantError names the
    rule that broke one.
    """
    if check:
        check_invariants(program)
    for rule in rules:
        units = tuple(rule(unit) for unit in program.units)
        if any(new is not old for new, old in zip(units, program.units, strict=True)):
            program = replace(program, units=units)
        if check:
            check_invariants(program, after=rule.__name__)
    return program
