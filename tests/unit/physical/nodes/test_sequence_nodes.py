"""What a plan tells of the scans of a sequence."""

from __future__ import annotations

import pytest

import scepter


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (2, "matched once for A1 too"),
        (21, "A19 and A20 too"),
        (30, "A19, A20 and 9 more too"),
    ],
)
def test_scans_that_are_matched_together_are_named_or_counted(count: int, told: str) -> None:
    scans = " ".join(f"DEFINE GPM A{i} ON S {{ ?c :p ?v{i} }}" for i in range(count))
    names = " ; ".join(f"A{i}" for i in range(count))
    query = f"PREFIX : <http://e/> SELECT ?c WITHIN 5 SLIDING FROM STREAM S <http://e/s> WHERE {{ SEQ ({names}) {scans} }}"
    plan = " ".join(scepter.parse(query, "spaseq").explain().replace("│", " ").split())
    assert told in plan
