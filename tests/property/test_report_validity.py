"""Answers at evaluations, against evaluating at each instant."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.spaseq_strategies import EXAMPLES
from property.validity_strategies import Bag, Feeding, Given, at, feedings, given_rows, run, table
from scepter.errors import QueryError
from scepter.kernel.operator import Operator, Until
from scepter.kernel.report.evaluations import AtInstants, AtItems, AtMultiples, Schedule, WhileThere
from scepter.kernel.report.instant_answers import Difference, EveryAnswer
from scepter.kernel.window.extent import Grid, TimeExtent
from scepter.physical.nodes.nodes import Schema
from scepter.timeline import MAX_INSTANT

MANY = settings(deadline=None, max_examples=EXAMPLES)
X = Schema(("x",))


def instants(kind: str, items: list[Given], step: int, given: list[int], passed: int) -> list[int]:
    """The evaluations, by their definitions."""
    times = [item.end for item in items]
    if kind == "items":
        return sorted(set(times))
    if kind == "instants":
        return sorted(set(given))
    if not times:
        return []
    multiples = [t for t in range(60) if t % step == 0]
    if kind == "multiples":
        return [t for t in multiples if min(times) <= t < max(max(times) + step, passed + 1)]
    return [t for t in multiples if at(items, t)]


def schedule(kind: str, step: int, given: list[int]) -> Schedule:
    match kind:
        case "items":
            return AtItems()
        case "instants":
            return AtInstants(given)
        case "multiples":
            return AtMultiples(Grid(step))
        case _:
            return WhileThere(Grid(step))


KINDS = st.sampled_from(["items", "instants", "multiples", "there"])


@st.composite
def windowed(draw: st.DrawFn, step: int) -> list[Given]:
    """Items in a window."""
    times = sorted(draw(st.lists(st.integers(0, 20), max_size=6)))
    since, until = TimeExtent(draw(st.integers(step, 12)), Grid(step)).validity(np.array(times, np.int64))
    return [Given((), t, a, b) for t, a, b in zip(times, since.tolist(), until.tolist(), strict=True)]


@MANY
@given(st.data(), KINDS, st.integers(1, 5), st.sampled_from(["all", "new", "gone"]), feedings())
def test_answers(data: st.DataObject, kind: str, step: int, output: str, feeding: Feeding) -> None:
    rows = [r for r in data.draw(given_rows(1, most=10)) if r.end < 50]
    items = data.draw(windowed(step))
    told = data.draw(st.lists(st.integers(0, 40), max_size=5))

    def make() -> Operator:
        when = schedule(kind, step, told)
        if output == "all":
            return EveryAnswer(X, when, timed=False)
        return Difference(X, when, timed=False, gone=output == "gone")

    made = run(make, [(rows, 1), (items, 0)], feeding)
    assert (np.diff(made.end) >= 0).all() or feeding.watermarks
    found: dict[int, Bag] = {}
    for id, end in zip(made.ids[:, 0].tolist(), made.end.tolist(), strict=True):
        found.setdefault(end, Counter())[(id,)] += 1
    before: Bag = Counter()
    wanted: dict[int, Bag] = {}
    for instant in instants(kind, items, step, told, max(feeding.watermarks, default=0)):
        now = Counter(at(rows, instant))
        wanted[instant] = {"all": now, "new": now - before, "gone": before - now}[output]
        before = now
    assert found == {instant: bag for instant, bag in wanted.items() if bag}


@pytest.mark.parametrize("output", ["new", "gone"])
def test_a_gap_of_2_62_ticks_costs_nothing(output: str) -> None:
    operator = Difference(X, AtMultiples(Grid(1)), timed=False, gone=output == "gone")
    far = 2**62
    rows, items = [Given((1,), 0, 0, 5), Given((2,), far, far, far + 3)], [Given((), 0, 0, 5), Given((), far, far, far + 3)]
    found = operator.process([table(rows, 1), table(items, 0)], Until(far))
    found_last = operator.process([table([], 1), table([], 0)], Until(MAX_INSTANT - 1, last=True))
    wanted = [(1, 0), (2, far)] if output == "new" else [(1, 5)]
    assert [*zip(found.ids[:, 0].tolist(), found.end.tolist(), strict=True)] == wanted
    assert len(found_last) == 0


def test_an_endless_report_is_an_error() -> None:
    operator = EveryAnswer(X, WhileThere(Grid(1)), timed=False)
    operator.process([table([Given((1,), 0, 0, MAX_INSTANT)], 1), table([Given((), 0, 0, MAX_INSTANT)], 0)], Until(9))
    with pytest.raises(QueryError, match="evaluated so often"):
        operator.process([table([], 1), table([], 0)], Until(MAX_INSTANT - 1, last=True))
