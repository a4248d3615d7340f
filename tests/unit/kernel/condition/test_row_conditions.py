"""Conditions that columns cannot decide are asked once for each combination of terms, unless they may answer anew."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import scepter
from scepter import Event
from scepter.kernel.condition.row_conditions import Conditions

S = "http://e/s"
EVENTS = [Event(S, f'<http://e/x{at}> <http://e/p> "{at % 3}" .', at) for at in range(60)]


def found(condition: str) -> tuple[int, int]:
    """How many events pass, and of how many rows the exact evaluator was asked."""
    asked: list[int] = []
    exact = Conditions._verdicts

    def noted(conditions: Conditions, table: Any, rows: Any, *rest: Any) -> Any:
        asked.append(len(rows))
        return exact(conditions, table, rows, *rest)

    body = f"?x <http://e/p> ?v FILTER ({condition})"
    text = f"SELECT ?x WITHIN 5 SLIDING FROM STREAM S <{S}> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}"
    with patch.object(Conditions, "_verdicts", noted):
        return len(scepter.run_local(scepter.parse(text, "spaseq"), EVENTS)), sum(asked)


def test_equal_terms_are_asked_once() -> None:
    assert found('CONTAINS(?v, "1")') == (20, 3)
    assert found('CONTAINS(?v, "1") && STRLEN(STR(?x)) > 0') == (20, 60)


def test_what_has_another_value_each_time_is_asked_of_every_row() -> None:
    passing, asked = found("RAND() < 0.5")
    assert asked == 60
    assert 0 < passing < 60  # 2^-59 that it is neither
