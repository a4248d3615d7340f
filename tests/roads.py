"""The slow twin of every plan: what columns are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from scepter.algebra.query import Program
from scepter.physical.facts import Facts
from scepter.physical.plan import PhysicalPlan
from scepter.physical.planner import plan


def _exactly(program: Program, facts: Facts) -> PhysicalPlan:
    return plan(program, replace(facts, exact=True))


@contextmanager
def exact_evaluators() -> Iterator[None]:
    """Runs that are set up inside work on terms, wherever there is an exact evaluator."""
    with patch("scepter.runtime.engine.planned", _exactly):
        yield


def _unindexed(program: Program, facts: Facts) -> PhysicalPlan:
    return plan(program, replace(facts, indexed=False))


@contextmanager
def without_indexes() -> Iterator[None]:
    """Runs that are set up inside compare what others look up by key."""
    with patch("scepter.runtime.engine.planned", _unindexed):
        yield
