"""Runs that wait, the tree of their events, and windows in ticks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Counting, Sliding, Tumbling
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE as ROOT
from scepter.kernel.sequence.run_windows import Bounds, Counts, rank_of, resolve
from scepter.kernel.sequence.runs import Runs, Waiting, no_runs
from scepter.timeline import MAX_INSTANT, Duration, TimeKind


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def runs(*limits: int) -> Runs:
    one = no_runs(1)
    columns = {
        name: np.zeros((len(limits), *getattr(one, name).shape[1:]), getattr(one, name).dtype) for name in Runs.__slots__
    }
    return Runs(**{**columns, "limit": ints(*limits), "node": np.arange(len(limits))})


def keys(count: int) -> NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64)


def test_the_killed_live_until_the_instant_is_closed_and_undo_drops_the_added() -> None:
    pool = Waiting(1)
    pool.append(runs(5, 6, 7), keys(3))
    pool.save()
    pool.kill(ints(1))
    pool.append(runs(8), keys(1))
    pool.kill(ints(3))
    assert pool.runs.limit[pool.live()].tolist() == [5, 6, 7, 8]
    pool.undo()
    assert pool.runs.limit[pool.live()].tolist() == [5, 6, 7]
    pool.append(runs(8, 9), keys(2))
    pool.kill(ints(1, 3))
    pool.kill(ints(1))
    pool.commit()
    assert pool.runs.limit[pool.live()].tolist() == [5, 7, 9]
    pool.kill(ints(0))
    assert pool.runs.limit[pool.live()].tolist() == [7, 9]


def test_a_run_past_its_limit_is_expired_and_the_least_limit_is_known() -> None:
    pool = Waiting(1)
    assert pool.first_limit() is None
    pool.append(runs(5, MAX_INSTANT, 9), keys(3))
    assert pool.expired(4).tolist() == []
    gone = pool.expired(5)  # the caller kills them: they are told once
    assert gone.tolist() == [0]
    pool.kill(gone)
    assert pool.first_limit() == 9
    pool.kill(pool.expired(9))
    assert pool.first_limit() is None


def test_dead_rows_are_swept_and_the_rest_stays() -> None:
    pool = Waiting(1)
    pool.append(runs(*range(1000)), keys(1000))
    pool.save()
    pool.kill(np.arange(0, 1000, dtype=np.int64)[np.arange(1000) % 4 != 0])
    pool.commit()
    assert len(pool.runs) == len(pool) == 250
    assert pool.key.tolist() == list(range(0, 1000, 4))


def test_assigning_a_column_can_be_undone() -> None:
    pool = Waiting(1)
    pool.append(runs(5, 6), keys(2))
    pool.save()
    pool.assign("passed", ints(1), ints(77))
    assert sorted(pool.runs.passed[pool.live()].tolist()) == [0, 77]
    pool.undo()
    assert pool.runs.passed[pool.live()].tolist() == [0, 0]


def test_runs_of_several_tables_stand_one_after_the_other() -> None:
    assert Runs.joined([no_runs(1), runs(1), no_runs(1), runs(2, 3)]).limit.tolist() == [1, 2, 3]
    assert len(Runs.joined([no_runs(1)])) == 0


def test_equal_children_of_one_node_are_one_node() -> None:
    nodes = Lineage()
    first = nodes.stepped(ints(ROOT, ROOT, ROOT), 0, ints(7, 8, 7), ints(-1, -1, -1))
    assert first[0] == first[2] != first[1]
    assert len(nodes) == 2


def test_a_branch_holds_shared_beginnings_once_and_only_what_is_reached() -> None:
    # 10 - 11 - 12
    #    \ 13         99 apart
    nodes = Lineage()
    (root,) = nodes.stepped(ints(ROOT), 0, ints(10), ints(-1))
    nodes.stepped(ints(ROOT), 0, ints(99), ints(-1))
    (middle,) = nodes.stepped(ints(root), 1, ints(11), ints(-1))
    (left,) = nodes.stepped(ints(middle), 1, ints(12), ints(-1))
    (right,) = nodes.stepped(ints(root), 2, ints(13), ints(-1))
    branch, ends = nodes.branch(ints(left, right, ROOT))
    assert sorted(branch.events().tolist()) == [10, 11, 12, 13]
    assert [[event for _, event, _ in branch.selected(end)] for end in ends.tolist()] == [[10, 11, 12], [10, 13], []]


def test_the_values_of_a_part_are_those_its_iterations_bind() -> None:
    nodes, node = Lineage(), ROOT
    nodes.keep_values(2)
    for part, first, second in ((0, 5, 50), (1, 7, -1), (0, -1, 60), (0, 9, 70)):
        (node,) = nodes.stepped(ints(node), part, ints(1), ints(-1), np.array([[first, second]]))
    assert nodes.values(node, 0, 0).tolist() == [5, 9]
    assert nodes.values(node, 0, 1).tolist() == [50, 60, 70]
    assert nodes.values(node, 1, 1).tolist() == []
    assert nodes.values(ROOT, 0, 0).tolist() == []


def test_what_no_run_reaches_is_dropped_and_the_rest_renumbered() -> None:
    nodes = Lineage()
    (root,) = nodes.stepped(ints(ROOT), 0, ints(10), ints(-1))
    nodes.stepped(ints(ROOT), 0, ints(99), ints(-1))
    (leaf,) = nodes.stepped(ints(root), 0, ints(11), ints(-1))
    places = nodes.keep(nodes.live(ints(leaf)))
    assert nodes.selection(int(places[leaf])) == {10, 11}
    assert len(nodes) == 2


def test_limits_of_windows() -> None:
    sliding, tumbling = Bounds(10), Bounds(10, tumbling=True, origin=3)
    assert sliding.limit(ints(5, 5), ints(4, MAX_INSTANT - 1)).tolist() == [14, MAX_INSTANT]
    assert tumbling.limit(ints(3, 12, 13, -1), ints(0, 0, 0, 0)).tolist() == [12, 12, 22, 2]
    assert tumbling.close(ints(12)).tolist() == [13]
    assert sliding.close(ints(12)).tolist() == [12]
    assert Bounds().limit(ints(1), ints(1)).tolist() == [MAX_INSTANT]


def test_windows_resolve_to_ticks() -> None:
    second = Duration(1_000_000)
    assert resolve(Tumbling(second), TimeKind.INTEGER, "ms", 7) == Bounds(1000, tumbling=True, origin=7)
    assert resolve(Sliding(second), TimeKind.DATETIME, "ms", 0) == Bounds(1_000_000)
    assert resolve(Counting(3), TimeKind.INTEGER, "ms", 0) == Bounds(events=3)
    assert resolve(None, TimeKind.INTEGER, "ms", 0) == Bounds()


def test_counts_go_on_from_batch_to_batch() -> None:
    groups = np.zeros(4, np.uint64)
    counts, seen = Counts(2).observe(groups, ints(1, 2, 2, 3))
    assert rank_of(seen, groups[:3], ints(1, 2, 9), "right").tolist() == [1, 3, 4]
    counts, seen = counts.observe(groups[:1], ints(5))
    assert rank_of(seen, groups[:3], ints(3, 5, 5), "right").tolist() == [4, 5, 5]
    assert rank_of(seen, groups[:1], ints(5), "left").tolist() == [4]
    restored = Counts(2)
    restored.load(*counts.columns())
    _, again = restored.observe(groups[:0], ints())
    assert rank_of(again, groups[:1], ints(5), "right").tolist() == [5]


def test_runs_are_found_by_their_keys_whatever_was_added_killed_undone_and_swept() -> None:
    drawn, keys = np.random.default_rng(7), np.array([0, 1, 1 << 40, 1 << 41, (1 << 40) + 1], np.uint64)  # some share a chain
    pool = Waiting(1)
    for step in range(400):
        many = int(drawn.integers(0, 6))
        pool.append(runs(*[9] * many), drawn.choice(keys, many))
        live = pool.live()
        pool.kill(live[drawn.random(len(live)) < 0.2])
        wanted = set(drawn.choice(keys, 2).tolist())
        assert pool.of_keys(np.array(sorted(wanted), np.uint64)).tolist() == [
            row for row in pool.live().tolist() if int(pool.key[row]) in wanted
        ]
        match step % 7:
            case 2:
                pool.save()
            case 4:
                pool.undo()
            case 5:
                pool.commit()
            case 6:
                pool.sweep()


def test_bounds_are_known_of_the_rows_that_stand_where_they_stood() -> None:
    pool = Waiting(1)
    pool.append(runs(*range(3)), keys(3))
    room, known = pool.bounds(4)
    assert known == 0
    room[:3] = 7.0
    pool.save()
    pool.append(runs(*range(200)), keys(200))  # beyond the room there was
    room, known = pool.bounds(4)
    assert known == 3
    assert len(room) >= 203
    assert (room[:3] == 7.0).all()
    assert pool.bounds(4)[1] == 203
    pool.undo()  # others may come to stand behind the first three
    assert pool.bounds(4)[1] == 3
    pool.commit()
    pool.kill(ints(0))
    pool.sweep()
    assert pool.bounds(4)[1] == 0
