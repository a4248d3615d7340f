"""Every case of the conformance suite can be diagnosed: there are matches where the case expects some, else what stops them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_never

import pytest

from scepter.cases.loader import load_case
from scepter.cases.model import Case, Graphs, Refusal, Rows, Truth
from scepter.cases.query import query_of
from scepter.cases.runner import find_cases
from scepter.cases.source import TimelineSource
from scepter.cli.inputs import assign_streams
from scepter.cli.options import run_options
from scepter.insight.diagnosis.diagnose import diagnose
from scepter.insight.diagnosis.model import Findings
from scepter.insight.diagnosis.text import diagnosis_text

CASES = Path(__file__).parents[2] / "cases"
FILES = find_cases([CASES])


def expects_matches(case: Case) -> bool:
    match case.expectation:
        case Rows(rows):
            return bool(rows)
        case Graphs(graphs):
            return bool(graphs)
        case Truth(holds):
            return holds
        case Refusal():
            pytest.skip("the query is refused")
        case _:
            assert_never(case.expectation)


def diagnosed(case: Case) -> Findings:
    query = query_of(case)
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    streams, _ = assign_streams(query, [(name, TimelineSource(name, events)) for name, events in case.streams.items()])
    options = run_options(query.lowered, **given)
    return diagnose(query, streams, background=case.background, ontology=case.ontology, options=options)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(CASES)).removesuffix(".case.yaml") for path in FILES])
def test_case(path: Path) -> None:
    case = load_case(path)
    if "ON TIMEOUT" in case.query:
        pytest.skip("why the pattern is (not) matched is diagnosed, whatever ran out of time")
    expected = expects_matches(case)
    findings = diagnosed(case)
    assert findings.until is None
    assert any(diagnosis.matches for diagnosis in findings.diagnoses) == expected
    text = diagnosis_text(findings)
    assert ("◀ nothing passes" in text or not findings.diagnoses) or expected
