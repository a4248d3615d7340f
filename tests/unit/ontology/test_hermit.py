"""HermiT's answers, and its faults told in a user's words."""

from __future__ import annotations

import pytest

from scepter.errors import DataError
from scepter.ontology.hermit import available, realise

pytestmark = [pytest.mark.slow, pytest.mark.skipif(available() is not None, reason=f"no HermiT: {available()}")]

TRANSITIVE = ("TransitiveObjectProperty(<http://e/p>)", "TransitiveObjectProperty(<http://e/q>)")
X_IS_A = ("Declaration(Class(<http://e/A>))", "ClassAssertion(<http://e/A> <http://e/x>)")


def test_properties_each_below_the_others_inverse_are_too_much_for_it() -> None:
    below = [
        "SubObjectPropertyOf(ObjectInverseOf(<http://e/q>) <http://e/p>)",
        "SubObjectPropertyOf(ObjectInverseOf(<http://e/p>) <http://e/q>)",
    ]
    with pytest.raises(DataError, match=r"round in circles[\s\S]*say owl:inverseOf instead"):
        realise([*X_IS_A, *TRANSITIVE, *below])


def test_the_same_said_as_inverse_properties_is_not() -> None:
    found = realise([*X_IS_A, *TRANSITIVE, "InverseObjectProperties(<http://e/p> <http://e/q>)"])
    assert "http://e/A" in found["http://e/x"]
