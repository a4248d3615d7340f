"""Which guards become joins and conditions in columns, and which are asked as a whole."""

from __future__ import annotations

import pytest

import scepter
from scepter import Event

HEAD = """PREFIX : <http://e/>
FROM STREAM <http://e/s> EVENT Price AS price some Thing EVENT Halt AS halted some Thing
EVENT Halted MATCH Price AS A SEQ Halt AS B WITHIN (1 s) IF { """
TAIL = " } RETURN Halted AS RDF STREAM"
PRICE, HALT = "EVENT A { ?c :price ?p }", "EVENT B { ?c :halted ?h }"
STREAM = [
    Event("http://e/s", f"<http://e/{who}> <http://e/{what}> {value} .", at)
    for at, (who, what, value) in enumerate([("a", "price", 5), ("b", "price", 50), ("a", "halted", 7), ("b", "halted", 60)])
]


def found(guard: str) -> tuple[bool, list[tuple[int, int]]]:
    """Whether the guard is asked as a whole, and when the composite event occurs."""
    query = scepter.parse(HEAD + guard + TAIL, "obep")
    occurrences = scepter.run_local(query, STREAM)
    return "Guard over" in query.explain(), sorted((int(each.start), int(each.end)) for each in occurrences)


@pytest.mark.parametrize(
    "guard",
    [
        f"{PRICE} {HALT} FILTER (?p > 9)",
        f"{PRICE} FILTER (?p > 9) {HALT}",
        f"EVENT A {{ ?c :price ?p FILTER (?p > 9) }} {HALT}",
        f"{PRICE} {HALT} FILTER (?p > 9 && ?h > 9)",
        f"{PRICE} {HALT} FILTER (?h > 9) FILTER (?p > 9)",
        f"{PRICE} {HALT} FILTER (?p + ?h > 100)",
        f'{PRICE} {HALT} FILTER (REGEX(STR(?c), "b$"))',
    ],
)
def test_conditions_are_in_columns_wherever_they_stand(guard: str) -> None:
    assert found(guard) == (False, [(1, 3)])


def test_a_condition_sees_what_its_block_binds() -> None:
    assert found(f"{PRICE} {HALT} FILTER (?h > 0)") == (False, [(0, 2), (1, 3)])
    with pytest.raises(scepter.QueryError, match=r"\?h, which no EVENT block that it sees binds"):
        found(f"EVENT A {{ ?c :price ?p FILTER (?h > 0) }} {HALT}")


@pytest.mark.parametrize("condition", ["EXISTS { EVENT B { ?c :halted ?h } }", "RAND() < 2"])
def test_other_guards_are_asked_as_a_whole(condition: str) -> None:
    assert found(f"{PRICE} {HALT} FILTER ({condition}) FILTER (?p > 9)") == (True, [(1, 3)])
