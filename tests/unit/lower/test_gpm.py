"""What a GPM sees of those before it."""

from __future__ import annotations

import pytest

from scepter.errors import QueryError
from scepter.lower import lower
from scepter.lower.gpm import Before


def test_names_before_a_step() -> None:
    steps = {"a": 0, "b": 1}
    first, second, third = (Before(steps, at) for at in range(3))
    steps["c"] = 2  # read later: no step before it has it
    assert [sorted(each) for each in (first, second, third)] == [[], ["a"], ["a", "b"]]
    assert "b" in third and "b" not in second and "c" not in third
    assert len(third) == 2
    more = third.plus(frozenset({"b", "d"}))
    assert sorted(more) == ["a", "b", "d"] and "d" in more and "d" not in third
    assert more.steps is steps  # no copy: 10,000 GPMs would make 10,000 of them


def query(sequence: str, condition: str) -> str:
    gpms = "".join(f"DEFINE GPM {name} ON S {{ ?s :{name} ?{name.lower()} }} " for name in "AB")
    last = f"DEFINE GPM C ON S {{ ?s :C ?c FILTER ({condition}) }}"
    return f"PREFIX : <a:> SELECT ?s WITHIN 9 FROM STREAM S <a:s> WHERE {{ SEQ ({sequence}) {gpms}{last} }}"


@pytest.mark.parametrize("sequence", ["A; B; C", "A; (B & C)", "(A & B & C)", "A; (A | B); C", "A; ((B | A) & C)"])
def test_a_filter_sees_what_stands_before(sequence: str) -> None:
    assert lower(query(sequence, "?a > ?c && ?b > 1")).warnings == ()


@pytest.mark.parametrize("sequence", ["A; C; B", "A; (C & B)", "A; (B | C)", "A; (A | (B & A) | C)", "A; B!; C"])
def test_a_filter_does_not_see_what_stands_behind_or_beside(sequence: str) -> None:
    with pytest.raises(QueryError, match=r"FILTER uses \?b, which neither GPM C nor anything before it binds"):
        lower(query(sequence, "?a > ?c && ?b > 1"))


def test_iterations_before_are_seen_by_name() -> None:
    assert lower(query("A; B+; C", "COUNT(B.?b) > 1")).warnings == ()
    with pytest.raises(QueryError, match=r"B\+ is not complete where this FILTER is tested"):
        lower(query("A; C; B+", "COUNT(B.?b) > 1"))
