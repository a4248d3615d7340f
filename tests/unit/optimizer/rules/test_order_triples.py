"""The order of triple patterns: the heap gives what trying all of them would give, with few looks at each."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.optimizer.rules import order_triples as rule
from scepter.rdf.terms import IRI

NODES = st.sampled_from([Variable(name) for name in "abcdef"] + [Constant(IRI(f"http://e/{name}")) for name in "pqr"])
TRIPLES = st.lists(st.builds(TriplePattern, NODES, NODES, NODES), min_size=1, max_size=10)


def by_trying_all(triples: Sequence[TriplePattern]) -> list[TriplePattern]:
    left, ordered = list(triples), list[TriplePattern]()
    bound: set[str] = set()
    while left:
        best = max(left, key=lambda triple: rule._rank(triple, bound))
        left.remove(best)
        ordered.append(best)
        bound |= rule._names(best)
    return ordered


@given(TRIPLES)
def test_the_heap_gives_the_same_order(triples: list[TriplePattern]) -> None:
    assert [triples[at] for at in rule._places(triples)] == by_trying_all(triples)


def test_each_pattern_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    rank = rule._rank

    def counted(triple: TriplePattern, bound: set[str]) -> tuple[bool, int]:
        nonlocal looks
        looks += 1
        return rank(triple, bound)

    monkeypatch.setattr(rule, "_rank", counted)
    star = [TriplePattern(Variable("x"), Constant(IRI(f"http://e/p{n}")), Variable(f"v{n}")) for n in range(1_000)]
    assert list(rule._places(star)) == list(range(1_000))
    assert looks < 5_000
