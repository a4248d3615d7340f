"""GapJoin against its definition: any keys and bound, any cut into batches, undone, carried over, and in rounds."""

from __future__ import annotations

from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from property.test_time_join import TERMS, Given, Row, rows, rows_of, told
from scepter.kernel.gap_join.gap_join import GapJoined
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Until
from scepter.kernel.rows import Rows, concat
from scepter.kernel.time_join.time_join import DisorderedError
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.time_nodes import GapJoin
from scepter.timeline import Interval

LEFT, RIGHT = ("x", "a"), ("x", "c")
_timed = rows(2, (True, True)).map(lambda some: [row for row in some if row.interval is not None])


def join(between: tuple[str, ...], longest: int | None, *, keyed: bool) -> GapJoin:
    left, right, third = (Given(Schema(each, frozenset(each))) for each in (LEFT, RIGHT if keyed else ("y", "c"), between))
    return GapJoin(left, right, third, longest)


def of(row: Row) -> Interval:
    assert row.interval is not None
    return row.interval


def by_definition(
    node: GapJoin, left: list[Row], right: list[Row], between: list[Row]
) -> list[tuple[tuple[int, ...], int, int]]:
    """The pairs for which no triple of rows has the same mapping and the same interval, as the anti-join says."""
    found = set()
    gap = [node.between.schema.variables.index(name) for name in node.gap_keys]
    for a in left:
        for c in right:
            if (node.keys and a.values[0] != c.values[0]) or of(a).end >= of(c).start:
                continue
            if node.longest is not None and of(c).end - of(a).start > node.longest:
                continue
            filled = any(
                of(first).end < of(b).start and of(b).end < of(last).start and all(b.values[at] == a.values[0] for at in gap)
                for first in left if first.values == a.values and of(first).start == of(a).start
                for last in right if last.values == c.values and of(last).end == of(c).end
                for b in between
            )  # fmt: skip
            if not filled:
                mapping = (*a.values, c.values[1]) if node.keys else (*a.values, *c.values)
                found.add((mapping, of(a).start, of(c).end))
    return sorted(found)


def cut(side: list[Row], low: int, high: int) -> Rows:
    return rows_of(sorted((r for r in side if low < r.end <= high), key=lambda r: r.end), 2)


_nodes = st.builds(join, st.sampled_from((("x", "b"), ("b", "d"))), st.sampled_from((None, None, 3, 6)), keyed=st.booleans())


@settings(deadline=None, max_examples=300)
@given(_nodes, _timed, _timed, _timed, st.lists(st.integers(0, 13), max_size=4), st.booleans(), st.booleans())
def test_the_same_rows_as_by_definition(
    node: GapJoin, left: list[Row], right: list[Row], between: list[Row], cuts: list[int], undone: bool, carried: bool
) -> None:
    note(f"{node}\n{left}\n{right}\n{between}")
    running, found, low = GapJoined(node, Lineage()), [], -1
    for high in [*sorted(set(cuts)), 20]:
        batch = [cut(side, low, high) for side in (left, right, between)]
        if undone:
            running.save()
            running.process(batch, Until(high))
            running.undo()
        found.append(running.process(batch, Until(high)))
        for table in (running._lefts, running._betweens):  # as if there were much to let go of
            table._kept = -3
        running.evict(high)
        if carried:
            state, running = running.dump(), GapJoined(node, Lineage())
            running.load(state)
        low = high
    assert told(concat(found, len(node.schema.variables))) == by_definition(node, left, right, between)


@settings(deadline=None, max_examples=300)
@given(_nodes, _timed, _timed, _timed, st.integers(0, 12))
@example(
    join(("x", "b"), None, keyed=False), [Row((1, 1), Interval(start, end)) for start, end in ((0, 0), (0, 1), (1, 1))],
    [Row((1, 1), Interval(2, 2))], [], 2,
)  # fmt: skip
def test_left_rows_may_come_in_rounds(
    node: GapJoin, left: list[Row], right: list[Row], between: list[Row], middle: int
) -> None:
    note(f"{node}\n{left}\n{right}\n{between}")
    running, found, low = GapJoined(node, Lineage()), [], -1
    for high in (middle, 20):
        now = [row for row in left if low < row.end <= high]
        late = [row for i, row in enumerate(now) if i % 3 == 1]
        running.open_rounds(single=False)
        try:
            first = [cut([row for row in now if row not in late], low, high), cut(right, low, high), cut(between, low, high)]
            found.append(running.process(first, Until(high)))
            nothing = rows_of([], 2)
            for row in late:
                found.append(running.process([rows_of([row], 2), nothing, nothing], Until(high)))
            running.close_rounds()
        except DisorderedError:  # a row that comes later ended earlier: what tries shorter stretches is `Derive`
            return
        running.evict(high)
        low = high
    # a round may give a row that one before it gave: what rules derive is a set
    assert sorted(set(told(concat(found, len(node.schema.variables))))) == by_definition(node, left, right, between)


def test_what_is_out_of_bounds_is_let_go() -> None:
    running = GapJoined(join(("x", "b"), 5, keyed=True), Lineage())
    for time in range(1, 500):
        rows_now = rows_of([Row((1, 1), Interval(time, time))], 2)
        running.process([rows_now, rows_now, rows_now], Until(time))
        running.evict(time)
    assert running.state_rows()["solutions"] <= 20


@settings(deadline=None, max_examples=200)
@given(_nodes, _timed, _timed, _timed, st.integers(0, 12), st.integers(0, 4))
def test_keys_with_too_many_rows_are_forgotten_and_the_others_stay(
    node: GapJoin, left: list[Row], right: list[Row], between: list[Row], middle: int, most: int
) -> None:
    note(f"{node}\n{left}\n{right}\n{between}")
    running = GapJoined(node, Lineage())
    running.process([cut(side, -1, middle) for side in (left, right, between)], Until(middle))
    gone = running.shed(most)
    values = {int(ref): value for value, ref in enumerate(TERMS[1].tolist())}
    for shed in gone:
        assert shed.rows > most
        key = [values[ref] for _, ref in shed.key]
        left = [row for row in left if row.end > middle or list(row.values[: len(key)]) != key]
        if len(key) == len(node.gap_keys):
            between = [row for row in between if row.end > middle or list(row.values[: len(key)]) != key]
    assert not running.shed(most)
    later = [row for row in right if row.end > middle]
    batch = [cut(side, middle, 20) for side in (left, later, between)]
    assert told(running.process(batch, Until(20))) == by_definition(node, left, later, between)
