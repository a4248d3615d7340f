"""A query of more patterns than a plan may be deep ends in a diagnostic, and one of as many as it may is run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scepter.api.query import parse
from scepter.errors import QueryError
from scepter.physical.planning.depth import DEEPEST
from scepter.runtime.queries import Query


def _triples(count: int) -> str:
    return "PREFIX : <http://e/> SELECT ?x WHERE { " + " ".join(f"?x :p{i} ?y ." for i in range(count)) + " }"


def _chain(operator: str) -> Callable[[int], str]:
    def text(count: int) -> str:
        groups = f" {operator} ".join(f"{{ ?x :p{i} ?y }}" for i in range(count))
        return f"PREFIX : <http://e/> SELECT ?x WHERE {{ {groups} }}"

    return text


_WIDE = [_triples, _chain("DURING"), _chain("OPTIONALSEQ")]


@pytest.mark.parametrize("text", _WIDE)
def test_a_plan_deeper_than_it_may_be_is_refused(text: Callable[[int], str]) -> None:
    with pytest.raises(QueryError, match="too-complex"):
        parse(text(DEEPEST + 40), "ep-sparql")


def test_a_plan_deeper_than_the_planner_may_recurse_is_refused() -> None:
    with pytest.raises(QueryError, match="too-complex"):
        parse(_triples(1_000), "ep-sparql")


@pytest.mark.parametrize("text", _WIDE)
def test_a_plan_as_deep_as_it_may_be_is_explained_under_a_deep_stack(text: Callable[[int], str]) -> None:
    query = _below(60, text(DEEPEST - 10))
    assert query.explain("json")


def _below(frames: int, text: str) -> Query:
    return parse(text, "ep-sparql") if frames == 0 else _below(frames - 1, text)
