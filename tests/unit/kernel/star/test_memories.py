"""The parts of the columnar road: tables of ids, join orders, what is kept and let go of."""

from __future__ import annotations

import numpy as np
import pytest

from scepter import Engine, Event, parse
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.entailment.id_table import IdTable, look_up
from scepter.kernel.star.join_plan import plan_joins
from scepter.kernel.star.memories import Memories
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
    monkeypatch.setattr("scepter.kernel.star.memories._LEAST", 16)
    monkeypatch.setattr("scepter.kernel.star.memories.CHUNK", 8)
    rooms: list[int] = []
    add = Memories.add

    def watched(self: Memories, *given: object) -> object:
        found = add(self, *given)  # type: ignore[arg-type]
        rooms.append(max(self.capacity, len(self._heads) // 2))
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


def test_an_instant_that_is_done_again_and_again_needs_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.kernel.star.memories._LEAST", 16)
    monkeypatch.setattr("scepter.kernel.star.memories.CHUNK", 8)
    buckets: list[int] = []
    undo = Memories.undo

    def watched(self: Memories) -> None:
        undo(self)
        buckets.append(len(self._heads))

    monkeypatch.setattr(Memories, "undo", watched)
    engine = Engine(parse(f"SELECT * FROM STREAM <{NS}s> [RANGE 9] WHERE {{ ?a <{NS}p> ?b . ?b <{NS}q> ?c }}", "sparkwave"))
    for i in range(60):  # the n-th takes n - 1 rows back
        engine.push(Event(f"{NS}s", f"<{NS}a{i}> <{NS}p> <{NS}b{i}> .", 1))
    assert len(buckets) > 50
    assert max(buckets) <= 16 * 60


def test_texts_that_no_match_shows_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.runtime.engine._COMPACT_FROM", 1)
    long = f"{NS}{'p' * 1_000}"
    sizes = {}
    for head in ("SELECT *", "SELECT DISTINCT *"):
        engine = Engine(
            parse(f"{head} FROM STREAM <{NS}s> [RANGE 500] WHERE {{ ?a <{long}> ?b . ?b <{NS}q> ?c }}", "sparkwave")
        )
        for i in range(200):
            engine.push(Event(f"{NS}s", f"<{NS}a{i}> <{long}> <{NS}b{i}> .", i))
        sizes[head] = engine.state_size()["texts"]
        (match,) = engine.push(Event(f"{NS}s", f"<{NS}b7> <{NS}q> <{NS}c> .", 300))
        assert {name: str(term) for name, term in match.bindings.items()} == {
            "a": f"<{NS}a7>",
            "b": f"<{NS}b7>",
            "c": f"<{NS}c>",
        }
    assert max(sizes.values()) < 200 * 200


TWO = f"""PREFIX : <{NS}> SELECT * FROM STREAM :short [RANGE 2] FROM STREAM :long [RANGE 10]
WHERE {{ ?a :p ?b . ?b :q ?c }}"""


def link(stream: str, subject: str, predicate: str, object: str, start: int, end: int | None = None) -> Event:
    return Event(NS + stream, f"<{NS}{subject}> <{NS}{predicate}> <{NS}{object}> .", start, end)


@pytest.mark.parametrize("order", [("short", "long"), ("long", "short")])
def test_a_triple_counts_as_long_as_the_stream_that_counts_it_longest(order: tuple[str, str]) -> None:
    # 1: the same triple on both streams   8: its partner, behind the short window and within the long one
    engine = Engine(parse(TWO, "sparkwave"))
    for stream in order:
        engine.push(link(stream, "a", "p", "b", 1))
    (match,) = engine.push(link("short", "b", "q", "c", 8))
    assert (match.start, match.end) == (1, 8)
    assert {stream: len(events) for stream, events in match.events.items()} == {NS + "short": 2, NS + "long": 1}
    assert engine.push(link("short", "b", "q", "d", 12)) == []


@pytest.mark.parametrize("order", [("short", "long"), ("long", "short"), ("short", "short", "long")])
def test_an_interval_too_long_for_one_stream_counts_on_the_other(
    order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # 0..5: longer than the short window, over there when it ends   6, 7: so much that dead rows go   8: its partner
    monkeypatch.setattr("scepter.kernel.star.memories._LEAST", 2)
    engine = Engine(parse(TWO, "sparkwave"))
    for stream in order:
        engine.push(link(stream, "a", "p", "b", 0, 5))
    engine.push_all(link("short", f"f{i}", "p", "g", 6 + i // 50) for i in range(100))
    (match,) = engine.push(link("short", "b", "q", "c", 8))
    assert (match.start, match.end) == (0, 8)
    shown = {stream: len(events) for stream, events in match.events.items()}
    assert shown == {NS + "short": order.count("short") + 1, NS + "long": 1}


def test_an_instant_that_is_done_again_leaves_no_trace() -> None:
    engine = Engine(parse(TWO, "sparkwave"))
    engine.push(link("long", "z", "p", "b", 0))
    for object in ("b", "b", "x", "b"):  # each push takes the instant back and does it again
        assert engine.push(link("long", "a", "p", object, 1)) == []
    assert engine.state_size()["occurrences"] == 3
    assert [str(m.bindings["a"]) for m in engine.push(link("long", "b", "q", "c", 2))] == [f"<{NS}z>", f"<{NS}a>"]
    assert len(engine.push(link("long", "x", "q", "c", 2))) == 1
    assert engine.push(link("long", "y", "q", "c", 2)) == []
    assert engine.state_size()["occurrences"] == 6
