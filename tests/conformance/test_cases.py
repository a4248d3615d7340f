"""Every case of the conformance suite on the engine in this process, and those that are about its exact evaluator alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from scepter.cases.runner import CaseEngine, Status, find_cases, run_cases
from scepter.cli.execute import case_engines

ROOT = Path(__file__).parents[2]
EXACT = ROOT / "tests" / "fixtures" / "exact"
"""What no columns can answer: apart from the suite, whose share in columns is watched."""
FILES = find_cases([ROOT / "cases", EXACT])


@pytest.fixture(scope="module")
def engines() -> Iterator[Mapping[str, CaseEngine]]:
    with case_engines(("local",)) as found:
        yield found


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)).removesuffix(".case.yaml") for path in FILES])
def test_case(path: Path, engines: Mapping[str, CaseEngine]) -> None:
    (result,) = run_cases([path], engines)
    if result.status is Status.SKIPPED:
        pytest.skip(result.detail)
    assert result.status is Status.PASSED, result.detail
