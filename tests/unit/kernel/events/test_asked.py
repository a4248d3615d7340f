"""The search for a guard's block in what occurrences assert, against every way to lay its triples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from scepter.kernel.events.asked import solve
from scepter.kernel.events.assertion_sets import AssertionSets
from scepter.kernel.interrupts import interruptible
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey

TERMS, WIDTH = 4, 5


@pytest.mark.parametrize("seed", range(60))
def test_solutions_are_all_ways_to_lay_the_triples_in_order(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    sets = AssertionSets(TermKey.fixed(), Texts())
    triples = np.array(sorted({tuple(each) for each in drawn.integers(1, TERMS, (12, 3)).tolist()}), np.uint64)
    numbers = np.arange(len(triples))
    sets.add(triples, 10 * numbers[:, None] + np.arange(3), numbers.astype(np.float64), np.zeros(len(triples), np.int8))
    members = [np.sort(drawn.choice(len(triples), drawn.integers(0, len(triples) + 1), replace=False)) for _ in range(3)]
    set_ids, set_refs = sets.made(np.array([len(each) for each in members]), np.concatenate(members))
    rows = int(drawn.integers(0, 6))
    which = drawn.integers(0, 3, rows)
    ids, refs = np.zeros((rows, 2), np.uint64), np.full((rows, 2), -1, np.int64)
    ids[:, 0], refs[:, 0] = set_ids[which], set_refs[which]
    ids[:, 1] = drawn.integers(0, TERMS, rows)  # 0 is unbound
    ids[drawn.random(rows) < 0.1, 0] = 0  # has no set
    patterns = int(drawn.integers(1, 4))
    variables = np.where(drawn.random((patterns, 3)) < 0.7, drawn.integers(1, WIDTH, (patterns, 3)), -1)
    constants = np.where(variables < 0, drawn.integers(1, TERMS, (patterns, 3)), 0).astype(np.uint64)
    mapping = ids, refs, np.full((rows, 2), np.nan), np.full((rows, 2), -1, np.int8)
    origin, found, found_refs, number, scale = interruptible(
        solve, None, mapping, 0, *sets.columns(), (constants, variables), WIDTH
    )

    first, count, ordered = sets.columns()[0]
    expected = []
    for row in range(rows):
        own = ordered[first[which[row]] : first[which[row]] + count[which[row]]].tolist() if ids[row, 0] else []
        for laid in product(own, repeat=patterns):
            bound = {v: (int(ids[row, v]), int(refs[row, v]), False) for v in (0, 1) if ids[row, v]}
            if all(_fits(bound, triples[t].tolist(), t, variables[i], constants[i]) for i, t in enumerate(laid)):
                expected.append((row, {v: (term, ref) for v, (term, ref, _) in bound.items()}))
    told = [
        (int(origin[i]), {v: (int(found[i, v]), int(found_refs[i, v])) for v in range(WIDTH) if found[i, v]})
        for i in range(len(origin))
    ]
    assert told == expected
    for i, v in product(range(len(origin)), range(1, WIDTH)):  # an object brings its number along
        is_object = found[i, v] != 0 and found_refs[i, v] % 10 == 2
        assert scale[i, v] == (0 if is_object else -1)
        assert number[i, v] == found_refs[i, v] // 10 if is_object else np.isnan(number[i, v])


def _fits(
    bound: dict[int, tuple[int, int, bool]],
    triple: list[int],
    at: int,
    variables: NDArray[np.int64],
    constants: NDArray[np.uint64],
) -> bool:
    for position, (v, constant) in enumerate(zip(variables.tolist(), constants.tolist(), strict=True)):
        if v < 0:
            if triple[position] != constant:
                return False
        elif bound.setdefault(v, (triple[position], 10 * at + position, True))[0] != triple[position]:
            return False
    return True
