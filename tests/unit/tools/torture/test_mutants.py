"""The torture chamber's mutants, some of them: the long run is by hand (`tools/torture`)."""

from __future__ import annotations

import cProfile
import random
from collections.abc import Callable
from functools import partial

import pytest

from scepter.errors import QueryError
from scepter.lower import lower
from scepter.runtime.queries import parse
from scepter.syntax.parse import LONGEST
from torture.mutants import attempt, mutated, others, seeds
from torture.programs import LANGUAGES, program, stream

ORIGINALS = seeds() | others()


@pytest.mark.parametrize("first", range(0, 1_000, 100))
def test_mutants_are_read_or_refused(first: int) -> None:
    found = [attempt(number, ORIGINALS) for number in range(first, first + 100)]
    # how long one takes is a matter of the machine, and of what it compiles first
    assert [finding for finding in found if finding is not None and "seconds" not in finding.trouble] == []


def test_a_mutant_is_the_same_whenever_it_is_made() -> None:
    assert mutated(b"abc" * 20, random.Random(3)) == mutated(b"abc" * 20, random.Random(3))
    assert stream(1, 2, 10, 3) == stream(1, 2, 10, 3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_mutated_is_right_to_begin_with(language: str) -> None:
    for seed in range(20):
        assert parse(program(language, seed).text, language).streams is not None


def test_a_query_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(QueryError, match="the query has 1,000,001 characters") as caught:
        parse("# " + "x" * (LONGEST - 1), "spaseq")
    assert caught.value.code == "too-long"


LONG = {
    "spaseq": "SELECT * WITHIN 10 FROM STREAM S <http://e/s> WHERE {{ SEQ ({names}) {gpms} }}",
    "ep-sparql": "SELECT * FROM STREAM <http://e/s> WHERE {{ {unions} }}",
    "sparkwave": "SELECT ?x FROM STREAM <http://e/s> [RANGE 10] WHERE {{ {triples} }}",
}


@pytest.mark.parametrize("language", LONG)
def test_long_queries_are_no_deep_ones(language: str) -> None:
    assert parse(long(language, 2_000), language).streams == ["http://e/s"]


@pytest.mark.parametrize(
    ("language", "called"), [("spaseq", "GPMs"), ("ep-sparql", "groups"), ("sparkwave", "triple patterns")]
)
def test_more_parts_than_a_plan_can_have_are_refused(language: str, called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.lower.limits.MOST_PARTS", 200)
    lower(long(language, 200), language)
    with pytest.raises(QueryError, match=f"201 {called}.* stand here, and 200 are allowed") as caught:
        lower(long(language, 201), language)
    assert caught.value.code == "too-complex" and caught.value.diagnostic.span is not None


@pytest.mark.parametrize("language", LONG)
def test_checking_takes_calls_linear_in_the_parts(language: str) -> None:
    lower(long(language, 2), language)  # what is loaded once
    once, twice = (calls(partial(lower, long(language, parts), language)) for parts in (100, 200))
    assert twice < 2.3 * once


def calls(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: unlike time, the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def long(language: str, parts: int) -> str:
    numbers = range(parts)
    return LONG[language].format(
        names="; ".join(f"G{n}" for n in numbers),
        gpms=" ".join(f"DEFINE GPM G{n} ON S {{ ?x <http://e/p{n}> ?v{n} }}" for n in numbers),
        unions=" UNION ".join(f"{{ ?x <http://e/p{n}> ?y }}" for n in numbers),
        triples=" . ".join(f"?x <http://e/p{n}> ?v{n}" for n in numbers),
    )


def test_a_hundred_thousand_groups_are_refused_with_a_place() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT * FROM STREAM <http://e/s> WHERE { " + "{ ?x ?p 1 } " * 80_000 + "}", "ep-sparql")
    assert caught.value.code == "too-complex" and caught.value.diagnostic.span is not None
