"""Downward compatibility (spec/20-ep-sparql rule 8): a SPARQL query over one instant gives SPARQL's answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import scepter
from conformance.sparql.answers import difference, our_answer, their_answer, they_refuse
from conformance.sparql.suite import QueryTest, read_area

AREAS = sorted(Path(__file__).parent.glob("*.tests"))
TESTS = [(path.stem, test) for path in AREAS for test in read_area(path)]


@pytest.mark.parametrize("test", [pytest.param(test, id=f"{area}: {test.name}") for area, test in TESTS])
def test_sparql(test: QueryTest) -> None:
    if test.kind == "refused":
        assert test.expect is not None or they_refuse(test.text), "the other engine takes it"
        with pytest.raises(scepter.QueryError):
            scepter.parse(test.text, language="ep-sparql")
        return
    ours, theirs = our_answer(test), their_answer(test)
    same = ours.same_sequence(theirs) if test.kind == "ordered" else ours.same_multiset(theirs)
    assert same, difference(ours, theirs)


def test_names_are_unique() -> None:
    names = [(area, test.name) for area, test in TESTS]
    assert len(set(names)) == len(names)
