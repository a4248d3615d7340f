"""Other plans of the same queries: slow twins, which columns are compared with, and other orders of joins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch
from zlib import crc32

from scepter.algebra.patterns import TriplePattern
from scepter.algebra.query import Program
from scepter.physical.facts import Facts
from scepter.physical.plan import PhysicalPlan
from scepter.physical.planning.planner import plan


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


@contextmanager
def any_sample(seed: int) -> Iterator[None]:
    """Runs that are set up inside order their joins as if a sample of the streams had said any numbers."""

    def seen(triple: TriplePattern) -> int:
        return crc32(f"{seed} {triple}".encode()) % 7

    def sampled(program: Program, facts: Facts) -> PhysicalPlan:
        return plan(program, replace(facts, seen=seen, sampled=1_000))

    with patch("scepter.runtime.engine.planned", sampled):
        yield
