"""Which runs are one match: told by marks in columns, against the sets of events themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE
from scepter.kernel.sequence.match_identity import identity, one_of_each
from scepter.kernel.sequence.runs import Runs, no_runs

Path = tuple[tuple[int, ...], int, int]
"""Events in the order they were selected, what the run binds, and its time."""
paths = st.lists(
    st.tuples(st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple), st.integers(1, 2), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def runs_of(given_paths: list[Path], nodes: Lineage) -> Runs:
    ends = []
    for events, _, _ in given_paths:
        node = NO_LINEAGE
        for number in events:
            one = np.array([[number]], np.int64)
            node = int(nodes.stepped(np.array([node]), 0, one[0], one[0], np.empty((1, 0), np.int64))[0])
        ends.append(node)
    none = no_runs(1)
    columns = {
        name: np.zeros((len(ends), *getattr(none, name).shape[1:]), getattr(none, name).dtype) for name in Runs.__slots__
    }
    columns["node"] = np.array(ends, np.int64)
    columns["time"] = np.array([time for _, _, time in given_paths], np.int64)
    columns["ids"] = np.array([[bound] for _, bound, _ in given_paths], np.uint64)
    return Runs(**columns)


@settings(max_examples=300, deadline=None)
@given(paths, st.booleans())
@example([((1, 1, 2), 1, 0), ((1, 2, 2), 1, 0)], False)
@example([((0,), 1, 3), ((0,), 1, 0), ((0, 0), 1, 0)], False)
def test_one_run_of_each_match_stays(given_paths: list[Path], with_row: bool) -> None:
    nodes = Lineage()
    runs = runs_of(given_paths, nodes)

    def told(row: int) -> object:
        return row % 2 if with_row else None

    first: dict[object, int] = {}
    for row in sorted(range(len(runs)), key=runs.time.__getitem__):
        first.setdefault((identity(nodes, runs, row), told(row)), row)
    event(f"{len(runs) - len(first)} repeated")
    assert one_of_each(nodes, runs, told).tolist() == sorted(first.values())
    for row, (events, _, _) in enumerate(given_paths):
        assert identity(nodes, runs, row)[0] == frozenset(events)
