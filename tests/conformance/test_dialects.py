"""Queries in the dialects and shapes of public benchmarks answer: CityBench, SRBench, LSBench, YABench, RSPLab, Linear Road.

The texts are written anew; expected rows are worked out by hand from the rules. They run in this process: on Spark the cases of
`cases/` stand for the same operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from scepter.cases.runner import CaseEngine, Status, find_cases, run_cases
from scepter.cli.execute import case_engines

FOLDER = Path(__file__).parents[1] / "fixtures" / "dialects"
FILES = find_cases([FOLDER])


@pytest.fixture(scope="module")
def engines() -> Iterator[Mapping[str, CaseEngine]]:
    with case_engines(("local",)) as found:
        yield found


def test_every_benchmark_is_there() -> None:
    shapes = {path.name.split("-")[0] for path in FILES}
    assert {"citybench", "srbench", "lsbench", "yabench", "rsplab", "linear"} <= shapes


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".case.yaml"))
def test_dialect(path: Path, engines: Mapping[str, CaseEngine]) -> None:
    (result,) = run_cases([path], engines)
    assert result.status is Status.PASSED, result.detail
