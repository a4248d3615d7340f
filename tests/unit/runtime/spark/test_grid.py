"""Where rows go in a grid of buckets."""

from __future__ import annotations

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.operator import Until
from scepter.kernel.row.owned import Cell, Owned
from scepter.kernel.rows import Rows, mappings
from scepter.physical.distribution import cutting
from scepter.physical.nodes.nodes import TripleScan
from scepter.physical.nodes.star_nodes import OccurrenceScan
from scepter.rdf.terms import IRI
from scepter.runtime.spark.grid import in_grid

P, Q = Constant(IRI("http://e/p")), Constant(IRI("http://e/q"))
X, Y, Z = (Variable(name) for name in "xyz")
SCAN = TripleScan(TriplePattern(X, P, Y))
OCCURRENCES = OccurrenceScan((TriplePattern(X, P, Y), TriplePattern(Y, Q, Z)), ())
SIDES = (2, 3)


def rows(ids: list[list[int]]) -> Rows:
    given = np.array(ids, np.uint64)
    _, refs, number, scale = mappings(*given.shape)
    times = np.arange(len(given))
    return Rows(given, refs, number, scale, times, times, times, times, times)


MANY = rows([[x, y] for x in range(1, 6) for y in range(1, 6)])


def test_a_row_goes_to_one_bucket_along_what_it_binds_and_to_all_along_the_rest() -> None:
    sent, buckets = in_grid(MANY, SCAN, [(("x",),), ((),)], SIDES)
    assert buckets is not None and len(sent) == 3 * len(MANY)
    for row in range(0, len(sent), 3):
        assert (sent.ids[row : row + 3] == sent.ids[row]).all()
        assert len(set((buckets[row : row + 3] % 2).tolist())) == 1 and sorted(buckets[row : row + 3] // 2) == [0, 1, 2]
    alike = {int(x): int(b) % 2 for x, b in zip(sent.ids[:, 0], buckets, strict=True)}
    assert set(alike.values()) == {0, 1}


def test_what_no_dimension_divides_is_sent_as_it_is() -> None:
    assert in_grid(MANY, SCAN, [((),), ((),)], SIDES) == (MANY, None)


def test_an_occurrence_counts_where_its_patterns_send_it_for_those_patterns_alone() -> None:
    """Both patterns match: by :p the value that decides is the object, by :q the subject."""
    both = rows([[s, 9, o, 0b11] for s in range(1, 9) for o in range(1, 9)])
    sent, buckets = in_grid(both, OCCURRENCES, [(("_:o",), ("_:s",))], (4,))
    assert buckets is not None
    _, by_object = in_grid(both, OCCURRENCES, [(("_:o",),)], (4,))
    _, by_subject = in_grid(both, OCCURRENCES, [(("_:s",),)], (4,))
    assert by_object is not None and by_subject is not None
    told = {(int(s), int(o), int(b)): int(bits) for (s, _, o, bits), b in zip(sent.ids.tolist(), buckets, strict=True)}
    wanted: dict[tuple[int, int, int], int] = {}
    for (s, _, o, _), first, second in zip(both.ids.tolist(), by_object.tolist(), by_subject.tolist(), strict=True):
        for bucket, bit in ((first, 1), (second, 2)):
            wanted[s, o, bucket] = wanted.get((s, o, bucket), 0) | bit
    assert told == wanted and {1, 2, 3} == set(told.values())


def test_what_every_bucket_has_is_owned_by_one() -> None:
    """… the one that rows with these values are sent to."""
    node = cutting.Owned(SCAN, ((0, ("x",)), (1, ("y",))))
    sent, buckets = in_grid(MANY, SCAN, [(("x",),), (("y",),)], SIDES)
    assert buckets is not None
    for bucket in range(6):
        mine = Owned(node, Cell(SIDES, bucket)).process([MANY], Until(99))
        assert mine.ids.tolist() == sent.ids[buckets == bucket].tolist()
