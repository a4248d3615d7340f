"""TimeJoin against its definition: any relation and kind, unbound variables, rows without time, any cut into batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st

from scepter.algebra.expressions import Call, Compare, Constant, Expression, Variable
from scepter.algebra.timed import DURATION
from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.encoding import encoded
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Until
from scepter.kernel.rows import NO_LINEAGE, TIMELESS, Rows, concat, lasting, mappings
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import TimeJoined
from scepter.physical.nodes.nodes import Node, Schema
from scepter.physical.nodes.time_nodes import Kind, TimeJoin
from scepter.rdf.hashing import TermKey
from scepter.rdf.values import to_literal
from scepter.timeline import Allen, Interval, TimeKind

KEY, TEXTS = TermKey.fixed(), Texts()
TERMS = encoded([to_literal(i) for i in range(4)], KEY, TEXTS)
LEFT, RIGHT = ("x", "y", "a"), ("y", "b", "x")


@dataclass(frozen=True)
class Given(Node):
    """An input whose rows the test gives."""

    says = "Given"

    schema: Schema = field()


@dataclass(frozen=True)
class Row:
    """Values of 1 to 3, 0 for unbound; no interval: timeless."""

    values: tuple[int, ...]
    interval: Interval | None

    @property
    def end(self) -> int:
        return TIMELESS[1] if self.interval is None else self.interval.end


def rows_of(given: list[Row], width: int) -> Rows:
    ids, refs, number, scale = mappings(len(given), width)
    for i, row in enumerate(given):
        for j, value in enumerate(row.values):
            if value:
                ids[i, j], refs[i, j], number[i, j], scale[i, j] = (column[value] for column in TERMS)
    times = [TIMELESS if row.interval is None else (row.interval.start, row.interval.end) for row in given]
    start, end = np.array(times, np.int64).reshape(-1, 2).T
    return Rows(ids, refs, number, scale, start.copy(), end.copy(), *lasting(len(given)), np.full(len(given), NO_LINEAGE))


def told(rows: Rows) -> list[tuple[tuple[int, ...], int, int]]:
    values = {int(id): i for i, id in enumerate(TERMS[0].tolist())} | {0: 0}
    return sorted(
        (tuple(values[int(i)] for i in ids), int(start), int(end))
        for ids, start, end in zip(rows.ids, rows.start, rows.end, strict=True)
    )


def rows(width: int, certain: tuple[bool, ...]) -> st.SearchStrategy[list[Row]]:
    values = st.tuples(*(st.integers(1 if sure else 0, 3) for sure in certain))
    times = st.tuples(st.integers(0, 9), st.integers(0, 3)).map(lambda t: Interval(t[0], t[0] + t[1]))
    row = st.builds(Row, values, st.one_of(times, times, times, times, st.none()))
    return st.lists(row, max_size=9, unique=True)


@st.composite
def joins(draw: st.DrawFn) -> tuple[TimeJoin, list[Row], list[Row]]:
    left, right = (draw(st.tuples(*(st.booleans() for _ in range(3)))) for _ in range(2))
    sides = [
        Given(Schema(names, frozenset(n for n, sure in zip(names, certain, strict=True) if sure)))
        for names, certain in ((LEFT, left), (RIGHT, right))
    ]
    kind = draw(st.sampled_from(Kind))
    relation = draw(st.sampled_from((None, None, *Allen))) if kind in (Kind.INNER, Kind.OUTER) else None
    longest = draw(st.sampled_from((None, None, 0, 2, 4))) if kind in (Kind.INNER, Kind.OUTER) else None
    conditions: tuple[Expression, ...] = ()
    if kind not in (Kind.INNER, Kind.MINUS):
        b, two = Variable("b"), Constant(to_literal(2))
        choices = ((), (Compare("<", Variable("a"), b),), (Compare("<", Call(DURATION, ()), two),), (Compare("=", b, two),))
        conditions = draw(st.sampled_from(choices))
    node = TimeJoin(sides[0], sides[1], relation, kind, longest, conditions)
    return node, draw(rows(3, left)), draw(rows(3, right))


def related(relation: Allen | None, a: Row, b: Row) -> bool:
    return relation is None or a.interval is None or b.interval is None or relation.holds(a.interval, b.interval)


def hull(a: Row, b: Row) -> Interval | None:
    if a.interval is None or b.interval is None:
        return a.interval or b.interval
    return a.interval.hull(b.interval)


def meets(condition: Expression, a: dict[str, int], b: Row, names: dict[str, int]) -> bool:
    match condition:
        case Compare("<", Variable("a")):
            return bool(names["a"] and names["b"] and names["a"] < names["b"])
        case Compare("<"):
            return b.interval is not None and b.interval.end - b.interval.start < 2
        case _:
            return names["b"] == 2


def partners(node: TimeJoin, a: Row, right: list[Row]) -> Iterator[tuple[dict[str, int], Interval | None]]:
    """The mappings and intervals of a left row with its partners."""
    own = dict(zip(LEFT, a.values, strict=True))
    for b in right:
        other = dict(zip(RIGHT, b.values, strict=True))
        shared = [name for name in own if name in other and own[name] and other[name]]
        if any(own[name] != other[name] for name in shared) or not related(node.relation, a, b):
            continue
        if node.kind is not Kind.INNER and b.end > a.end:
            continue
        if node.kind is Kind.MINUS and not shared:
            continue
        both = {name: own.get(name, 0) or other.get(name, 0) for name in (*LEFT, "b")}
        if all(meets(condition, own, b, both) for condition in node.conditions):
            yield both, hull(a, b)


def by_definition(node: TimeJoin, left: list[Row], right: list[Row]) -> list[tuple[tuple[int, ...], int, int]]:
    found: set[tuple[tuple[int, ...], int, int]] = set()
    for a in left:
        own = dict(zip(LEFT, a.values, strict=True))
        results = list(partners(node, a, right))
        if node.kind is Kind.OUTER and not results:
            results = [({**own, "b": 0}, a.interval)]
        elif node.kind not in (Kind.INNER, Kind.OUTER):
            results = [(own, a.interval)] if bool(results) is (node.kind is Kind.SEMI) else []
        for mapping, interval in results:
            if interval is not None and node.longest is not None and interval.end - interval.start > node.longest:
                continue
            start, end = TIMELESS if interval is None else (interval.start, interval.end)
            found.add((tuple(mapping[name] for name in node.schema.variables), start, end))
    return sorted(found)


def operator(node: TimeJoin) -> TimeJoined:
    names = tuple(dict.fromkeys((*LEFT, *RIGHT)))
    conditions = TimeConditions(node.conditions, names, TimeKind.INTEGER, KEY, TEXTS, Context()) if node.conditions else None
    return TimeJoined(node, conditions, Lineage())


def cut(side: list[Row], low: int, high: int) -> Rows:
    return rows_of(sorted((r for r in side if low < r.end <= high), key=lambda r: r.end), 3)


@settings(deadline=None, max_examples=400)
@given(joins(), st.lists(st.integers(0, 13), max_size=4), st.booleans(), st.booleans())
def test_the_same_rows_as_by_definition(
    given: tuple[TimeJoin, list[Row], list[Row]], cuts: list[int], undone: bool, carried: bool
) -> None:
    node, left, right = given
    # within the bound pushed into the mandatory side, as the planner does
    if node.longest is not None:
        limit = node.longest
        left = [r for r in left if r.interval is None or r.interval.end - r.interval.start <= limit]
        if node.kind is Kind.INNER or node.relation is Allen.EQUALS:
            right = [r for r in right if r.interval is None or r.interval.end - r.interval.start <= limit]
    note(f"{node}\n{left}\n{right}")
    running = operator(node)
    found = []
    low = TIMELESS[1] - 1
    for high in [*sorted(set(cuts)), 20]:
        if undone:  # an instant that is answered, undone and answered anew
            running.save()
            running.process([cut(left, low, high), cut(right, low, high)], Until(high))
            running.undo()
        found.append(running.process([cut(left, low, high), cut(right, low, high)], Until(high)))
        assert found[-1].end.tolist() == sorted(found[-1].end.tolist())
        for table in running._tables:  # as if there were much to let go of
            table._kept = -3
        running.evict(high)
        if carried:
            state, running = running.dump(), operator(node)
            running.load(state)
        low = high
    assert told(concat(found, len(node.schema.variables))) == by_definition(node, left, right)


def test_what_is_out_of_bounds_is_let_go() -> None:
    sides = [Given(Schema(names, frozenset(names))) for names in (LEFT, RIGHT)]
    running = operator(TimeJoin(sides[0], sides[1], Allen.BEFORE, longest=5))
    for time in range(1, 500):
        row = Row((1, 1, 1), Interval(time, time))
        running.process([rows_of([row], 3), rows_of([row], 3)], Until(time))
        running.evict(time)
    assert running.state_rows()["solutions"] <= 10
    optional = operator(TimeJoin(sides[0], sides[1], Allen.BEFORE, Kind.OUTER, longest=5))
    for time in range(1, 500):
        row = Row((1, 1, 1), Interval(time, time))
        optional.process([rows_of([], 3), rows_of([row], 3)], Until(time))
        optional.evict(time)
    assert optional.state_rows()["solutions"] <= 12
