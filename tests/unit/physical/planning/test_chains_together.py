from __future__ import annotations

import pytest

from scepter.algebra.expressions import Compare, Constant, Variable
from scepter.physical.planning.chains_together import weakest
from scepter.rdf.terms import XSD, Literal


def _below(lexical: str) -> Compare:
    return Compare("<", Variable("v"), Constant(Literal(lexical, f"{XSD}integer")))


def test_the_greater_bound_is_the_weaker_condition() -> None:
    assert weakest([(_below("7"),), (_below("10"),)]) == (_below("10"),)


@pytest.mark.parametrize("lexical", ["abc", "", "NaN", "1e5", "1_000", "1.5", " 9 "])
def test_a_bound_that_is_no_number_is_weaker_than_nothing(lexical: str) -> None:
    """A comparison with it never holds; as the condition below a shared join it would lose the other query's answers."""
    assert weakest([(_below("7"),), (_below(lexical),)]) == ()
    assert weakest([(_below(lexical),), (_below("7"),)]) == ()
