"""The rules in their order, and how they are applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from scepter.algebra.invariants import check as check_invariants
from scepter.algebra.query import Program, Query

Rule: TypeAlias = Callable[[Query], Query]
"""A rewriting of a query; it returns the same object when it changes nothing."""

RULES: tuple[Rule, ...] = ()
"""The rules in the order they are applied."""


def optimize(program: Program, *, rules: tuple[Rule, ...] = RULES, check: bool = False) -> Program:
    """The program after every rule; the same object when no rule changes anything.

    With `check`, the algebra's invariants are checked before the first rule and after each, and an InvariantError names the
    rule that broke one.
    """
    if check:
        check_invariants(program)
    for rule in rules:
        queries = tuple(rule(query) for query in program.queries)
        if any(new is not old for new, old in zip(queries, program.queries, strict=True)):
            program = replace(program, queries=queries)
        if check:
            check_invariants(program, after=rule.__name__)
    return program
