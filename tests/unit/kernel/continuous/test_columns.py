"""The parts of the columnar road: tables of ids, join orders, what is kept and let go of."""

from __future__ import annotations

import numpy as np
import pytest

from scepter import Engine, Event, parse
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.continuous.idtable import IdTable, look_up
from scepter.kernel.continuous.joins import plan_joins
from scepter.kernel.continuous.memories import Memories
from scepter.rdf.terms import IRI

NS = "http://e/"


def triple(subject: str, predicate: str, object: str) -> TriplePattern:
    nodes = (Variable(t[1:]) if t.startswith("?") else Constant(IRI(NS + t)) for t in (subject, predicate, object))
    return TriplePattern(*nodes)


def test_a_table_finds_what_was_put_and_nothing_else() -> None:
    table, random = IdTable(), np.random.default_rng(1)
    ids = np.unique(random.integers(1, 2**64, 3_000, np.uint64))
    ids[:50] = np.arange(1, 51, dtype=np.uint64) * 4096  # all in one bucket
    for number, id in enumerate(ids.tolist()):
        table.put(id, number)
        table.put(id, number)
    assert len(table) == len(np.unique(ids))
    found = [look_up(table.keys, table.values, id, -1) for id in ids]
    assert [ids[place] for place in found] == ids.tolist()
    strange = np.setdiff1d(random.integers(1, 2**64, 100, np.uint64), ids)
    assert {look_up(table.keys, table.values, id, -1) for id in strange} == {-1}
    assert set(table.missing(np.concatenate([ids, strange, strange])).tolist()) == set(strange.tolist())


def test_joins_follow_what_is_known_and_numbers_come_from_objects() -> None:
    triples = [triple("?o", "product", "?p"), triple("?o", "price", "?v"), triple("?p", "a", "T"), triple("?v", "in", "?x")]
    plan = plan_joins(triples, [0, 0, 0, 0])
    assert plan.names == ("o", "p", "v", "x")
    # after a new price: its offer's product (subject known), the product's type, and what the price is in
    assert [pattern for pattern, _ in plan.steps[1].tolist()] == [0, 2, 3]
    assert [int(plan.index_bits[k]) for _, k in plan.steps[1].tolist()] == [1, 1, 1]
    # after a new type: the offers of the product, by object
    assert plan.index_bits[plan.steps[2][0][1]] == 4
    assert plan.origins[plan.names.index("v")] == (1, 2)
    assert plan.origins[plan.names.index("o")] == (0, 0)


def test_what_does_not_connect_comes_last_and_has_an_index_of_everything() -> None:
    plan = plan_joins([triple("?a", "p", "?b"), triple("?c", "p", "?d"), triple("?b", "q", "?e")], [0, 0, 0])
    assert [pattern for pattern, _ in plan.steps[0].tolist()] == [2, 1]
    assert plan.index_bits[plan.steps[0][1][1]] == 0


@pytest.mark.parametrize("window", [10, 1_000])
def test_memory_follows_the_window(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.kernel.continuous.memories._LEAST", 16)
    monkeypatch.setattr("scepter.kernel.continuous.memories.CHUNK", 8)
    rooms: list[int] = []
    add = Memories.add

    def watched(self: Memories, *given: object) -> object:
        found = add(self, *given)  # type: ignore[arg-type]
        rooms.append(self.capacity)
        return found

    monkeypatch.setattr(Memories, "add", watched)
    query = parse(f"SELECT * FROM STREAM <{NS}s> [RANGE {window}] WHERE {{ ?a <{NS}p> ?b . ?b <{NS}q> ?c }}", "sparkwave")
    engine = Engine(query)
    for i in range(3 * window):
        engine.push(Event(f"{NS}s", f"<{NS}a{i}> <{NS}p> <{NS}b{i}> . <{NS}x> <{NS}other> <{NS}y> .", i))
    size = engine.state_size()
    assert size["occurrences"] == window + 1  # both ends count
    assert size["pattern entries"] == window + 1
    assert max(rooms) <= 8 * (window + 16)
    engine.advance(10 * window)
    assert engine.state_size()["occurrences"] == 0
