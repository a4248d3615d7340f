"""The compiled search against its slow twin: thresholds, blocks, stalled pairs, branches."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.search import Row, search
from scepter.algebra.expressions import Arithmetic, Compare, Constant, Expression, Variable
from scepter.algebra.query import Selection
from scepter.kernel.condition.programs import number_of
from scepter.kernel.rows import Int64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.runs import Runs, Waiting
from scepter.kernel.sequence.step_search import Order, StepSearch
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.physical.sequence_plan import AtomPlan, Branch, StatefulFilter
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, XSD, Literal, Term

KEY = TermKey.fixed()
VARIABLES = ("k", "a", "e", "b", "c")
RUN_SLOTS, ROW_SLOTS = (0, 1, 2), (0, 3, 2, 4)
"""k joins and is always bound, e may be unbound on either side; a is the run's, b and c the row's."""

TERMS: tuple[Term, ...] = (
    *(Literal(str(i), XSD + "integer") for i in range(12)),
    *(Literal(t, XSD + "decimal") for t in ("0.1", "0.3", "6.999", "7.0", "7.14", "1.02", "11.99")),
    *(Literal(t, XSD + "double") for t in ("7", "0.1", "NaN", "INF", "7.14")),
    *(Literal(t, XSD + "float") for t in ("0.1", "7", "7.14")),
    Literal("7.140000000000000000001", XSD + "decimal"),
    Literal("x"),
    Literal("9007199254740993", XSD + "integer"),
)
CONDITIONS: tuple[tuple[Expression, ...], ...] = (
    (),
    (Compare(">", Variable("b"), Variable("a")),),
    (Compare("<=", Variable("b"), Arithmetic("*", Variable("a"), Constant(Literal("1.02", XSD + "decimal")))),),
    (Compare(">=", Variable("a"), Variable("b")), Compare("<", Variable("a"), Variable("c"))),
    (Compare("=", Variable("b"), Variable("e")),),
    (Compare("!=", Variable("b"), Variable("a")), Compare(">", Variable("b"), Constant(Literal("3", XSD + "integer")))),
    (Compare("<", Arithmetic("+", Variable("b"), Variable("c")), Variable("a")),),
    (Compare("<", Variable("nowhere"), Variable("a")),),
)


def columns(rows: list[Row], names: tuple[str, ...]) -> tuple[NDArray[np.uint64], Int64, NDArray[np.float64], NDArray[np.int8]]:
    ids = np.zeros((len(rows), len(names)), np.uint64)
    number = np.full((len(rows), len(names)), np.nan)
    scale = np.full((len(rows), len(names)), -1, np.int8)
    for r, row in enumerate(rows):
        for c, name in enumerate(names):
            if name in row.bindings:
                term = row.bindings[name]
                ids[r, c] = term_id(KEY, str(term))
                number[r, c], scale[r, c] = number_of(term)
    return ids, np.zeros(ids.shape, np.int64), number, scale


def runs_of(rows: list[Row]) -> Runs:
    def column(name: str) -> Int64:
        return np.array([getattr(row, name) for row in rows], np.int64)

    zero = np.zeros(len(rows), np.int64)
    return Runs(
        column("time"), zero, zero, column("limit"), column("rank_limit"), zero, zero, zero, zero.astype(np.uint64), zero,
        zero + 1, np.zeros((len(rows), 0), np.int64), *columns(rows, VARIABLES),
    )  # fmt: skip


def solutions_of(rows: list[Row]) -> Solutions:
    time = np.array([row.time for row in rows], np.int64)
    none = np.zeros((len(rows), 1), np.int64)
    branch = np.array([row.branch for row in rows], np.int8)
    return Solutions(time, time, branch, none, none, *columns(rows, tuple(VARIABLES[s] for s in ROW_SLOTS)))


def bound(random: Random, names: str) -> dict[str, Term]:
    found: dict[str, Term] = {"k": IRI(f"http://e/{random.randrange(2)}")}
    few = random.sample(TERMS, 6)
    for name in names:
        if name != "e" or random.random() < 0.6:
            found[name] = random.choice(few if random.random() < 0.7 else TERMS[:12])
    return found


def made(random: Random, runs: int, rows: int, branches: int) -> tuple[list[Row], list[Row]]:
    span = max(4, rows // random.choice((1, 3)))
    candidates = [
        Row(t, bound(random, "bec"), branch=random.randrange(branches)) for t in sorted(random.choices(range(span), k=rows))
    ]
    ranked = [Row(r.time, r.bindings, rank=sum(x.time <= r.time for x in candidates), branch=r.branch) for r in candidates]
    begun = []
    for _ in range(runs):
        time = random.randrange(-1, span)
        rank_limit = random.choice((2**62, random.randrange(rows + 1)))
        begun.append(
            Row(time, bound(random, "ae"), time + random.choice((0, 3, span)), rank_limit, time + 1 + random.randrange(2))
        )
    return begun, ranked


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from((Selection.NEXT, Selection.ANY, Selection.STRICT)),
    st.sampled_from(CONDITIONS), st.sampled_from(CONDITIONS), st.integers(0, 20),
    st.sampled_from((0, 1, 5, 33, 140)), st.booleans(), st.integers(0, 2**32),
)  # fmt: skip
def test_the_search_finds_what_its_twin_finds(
    selection: Selection,
    first: tuple[Expression, ...],
    second: tuple[Expression, ...],
    runs: int,
    rows: int,
    two: bool,
    seed: int,
) -> None:
    conditions = (first, second) if two else (first,)
    begun, candidates = made(Random(seed), runs, rows, len(conditions))

    def accepts(bindings: object, branch: int) -> bool:
        return all(holds(c, bindings, Context()) for c in conditions[branch])  # type: ignore[arg-type]

    undecided = 0

    def decide(_: Runs, places: Int64, __: Solutions, at: Int64, ___: int, ____: bool) -> NDArray[np.bool_]:
        nonlocal undecided
        undecided += len(places)
        pairs = [(begun[p], candidates[a]) for p, a in zip(places.tolist(), at.tolist(), strict=True)]
        return np.array([accepts({**run.bindings, **row.bindings}, row.branch) for run, row in pairs], np.bool_)

    branches = tuple(Branch((0,), (), (), tuple(StatefulFilter(c, 0, False) for c in cs)) for cs in conditions)
    atom = AtomPlan(branches, ROW_SLOTS, frozenset((0, 3, 4)))
    step = StepSearch(0, atom, (0,), (0, 2), frozenset(RUN_SLOTS), VARIABLES, KEY)
    table, state = solutions_of(candidates), runs_of(begun)
    keyed = step.keyed(table, Order.of(table, step.columns), np.array([row.rank for row in candidates], np.int64))
    only = np.array([run.only for run in begun], np.int64)
    # the kernel looks for the next instant first: no row lies between `after` and `only`
    after = only - 1 if selection is Selection.STRICT else state.time
    got_runs, got_rows = step(
        selection, state, step.key_of_runs(state), np.arange(len(begun)), keyed, after, state.limit, only, decide
    )
    pairs = list(zip(got_runs.tolist(), got_rows.tolist(), strict=True))
    event(f"undecided: {min(undecided, 2)}, found: {min(len(pairs), 2)}")
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == search(selection, begun, candidates, accepts)
    if selection is Selection.STRICT or not runs or not 0 < rows <= 16:
        return
    # few rows look for the runs of their keys, where no window counts events
    state, undecided = state.replace(rank_limit=np.full(len(begun), 2**62)), 0
    keyed = step.keyed(table, Order.of(table, step.columns), None)
    pool = Waiting(len(VARIABLES))
    pool.append(state, step.key_of_runs(state))
    few = step.of_few(selection, pool, table)
    all_runs, all_rows = step(
        selection, state, step.key_of_runs(state), np.arange(len(begun)), keyed, state.time, state.limit, only, decide
    )
    assert (few is None) == (undecided > 0)
    if few is not None:
        assert (few.runs.tolist(), few.rows.tolist()) == (all_runs.tolist(), all_rows.tolist())
        assert few.todo[few.done].tolist() == (sorted(set(all_runs.tolist())) if selection is Selection.NEXT else [])
