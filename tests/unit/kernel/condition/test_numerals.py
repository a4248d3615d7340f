"""Computed numbers as terms, against terms that are encoded one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scepter.kernel.condition import numerals
from scepter.kernel.condition.calculation import DECIMAL, INTEGER, Amounts
from scepter.kernel.condition.numerals import Numerals
from scepter.kernel.encoding import encoded
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import XSD, Literal

KEY = TermKey.fixed()
_integer = st.tuples(st.integers(-(10**15), 10**15), st.just(0), st.just(INTEGER))
_decimal = st.tuples(st.integers(-9_999, 9_999), st.integers(0, 9), st.just(DECIMAL))
_small = st.tuples(st.integers(-3, 3), st.just(0), st.sampled_from([INTEGER, DECIMAL]))


def amounts(given: list[tuple[int, int, int]]) -> Amounts:
    units, digits, kind = (np.array([each[i] for each in given], np.int64) for i in range(3))
    return Amounts(units, digits, kind)


def spelt(units: int, digits: int, kind: int) -> Literal:
    figures = str(abs(units)).rjust(digits + 1, "0")
    whole, rest = figures[: len(figures) - digits], figures[len(figures) - digits :]
    sign = "-" if units < 0 else ""
    return Literal(sign + (f"{whole}.{rest}" if rest else whole), XSD + ("integer" if kind == INTEGER else "decimal"))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.booleans(), st.lists(st.one_of(_integer, _decimal, _small), max_size=12)), min_size=1, max_size=5),
    st.sampled_from([2, 1 << 16]),
)
def test_terms_are_those_of_their_texts(batches: list[tuple[bool, list[tuple[int, int, int]]]], most: int) -> None:
    """Whatever was written before, forgotten for room, or compacted away."""
    texts = Texts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numerals, "_MOST", most)
        known = Numerals(KEY, texts)
        for compacts, batch in batches:
            if compacts:
                texts.compact(np.empty(0, np.int64))
            ids, refs, number, scale = known.terms(amounts(batch))
            wanted = [spelt(*each) for each in batch]
            again = encoded(wanted, KEY, texts)
            assert [texts.term(int(ref)) for ref in refs] == wanted
            assert ids.tolist() == again[0].tolist()
            assert number.tolist() == again[2].tolist()
            assert scale.tolist() == again[3].tolist()


def test_equal_numbers_share_a_text_from_batch_to_batch() -> None:
    texts = Texts()
    known = Numerals(KEY, texts)
    refs = [known.terms(amounts([(3, 0, INTEGER), (3, 0, INTEGER)]))[1].tolist() for _ in range(2)]
    assert len({*refs[0], *refs[1]}) == 1
    size = texts.size
    known.terms(amounts([(3, 0, INTEGER)]))
    assert texts.size == size
