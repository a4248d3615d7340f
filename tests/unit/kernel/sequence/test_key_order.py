"""Rows in the order of their keys, and searches that begin where the last one did."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from scepter import Event, parse
from scepter.io.given import EventsSource
from scepter.kernel.sequence.forward_search import NOTHING, instants_after
from scepter.kernel.sequence.key_order import sort_by_key
from scepter.runtime.local import run_local

S = "http://e/s"


@pytest.mark.parametrize("different", [1, 2, 300, 4096, 4097, 20_000])
def test_few_keys_and_many_give_the_stable_order(different: int) -> None:
    random = np.random.default_rng(different)
    keys = random.integers(0, 2**64, different, dtype=np.uint64)[random.integers(0, different, 20_000)]
    assert (sort_by_key(keys) == np.argsort(keys, kind="stable")).all()


@pytest.mark.parametrize("order", ["as they come", "in order", "backwards"])
def test_the_next_instant_is_found_wherever_the_last_one_was(order: str) -> None:
    random = Random(order)
    pairs = sorted({(random.randrange(5), random.randrange(60)) for _ in range(120)})
    asked = [(random.randrange(6), random.randrange(-2, 62)) for _ in range(200)]
    asked = asked if order == "as they come" else sorted(asked, reverse=order == "backwards")
    groups, times = (np.array(column) for column in zip(*pairs, strict=True))
    of, after = (np.array(column) for column in zip(*asked, strict=True))
    found = instants_after(groups.astype(np.uint64), times, of.astype(np.uint64), after)
    wanted = [min((t for g, t in pairs if g == group and t > time), default=NOTHING) for group, time in asked]
    assert found.tolist() == wanted


@pytest.mark.parametrize("operator", [",", ";", ":"])
def test_many_rows_of_a_step_find_what_loops_find(operator: str) -> None:
    """More rows than `moment.MANY`, which look in the order of their keys."""
    random = Random(5)
    ticks = [(time, random.randrange(7), random.randrange(100)) for time in range(1, 3001)]
    query = parse(f"""PREFIX : <http://e/> SELECT ?c ?p ?q WITHIN 40 SLIDING PARTITION BY (?c) FROM STREAM S <{S}>
    WHERE {{ SEQ (A {operator} B) DEFINE GPM A ON S {{ ?c :price ?p }}
             DEFINE GPM B ON S {{ ?c :price ?q FILTER (?q < ?p * 0.3) }} }}""")
    events = [Event(S, f"<http://e/c{c}> <http://e/price> {p} .", time) for time, c, p in ticks]
    found = [(match.start, match.end) for match in run_local(query, {S: EventsSource(S, events)})]
    wanted = []
    for time, company, price in ticks:
        later = [(t, p) for t, c, p in ticks[time : time + 40] if c == company]
        later = later[:1] if operator == "," else later
        falls = [(time, t) for t, p in later if 10 * p < 3 * price]
        wanted += falls[:1] if operator == ";" else falls
    assert sorted(found) == sorted(wanted)
    assert len(wanted) > 100
