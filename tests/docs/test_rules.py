"""Every rule in the reference of a language has examples, and each example of any page gives what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from docs.markdown import section
from docsite.case_blocks import CaseBlock, case_blocks, render
from scepter.cases.runner import CaseEngine, Status, run_cases
from scepter.cli.execute import case_engines

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"
RULES = {"ep-sparql": 13, "spaseq": 18, "obep": 8, "rsep-ql": 12, "sparkwave": 5}
"""How many rules each language has."""
BLOCKS = [
    (page, number, block)
    for page in sorted(DOCS.rglob("*.md"))
    for number, block in enumerate(case_blocks(page.read_text("utf-8")), 1)
]


@pytest.fixture(scope="module")
def engines() -> Iterator[Mapping[str, CaseEngine]]:
    with case_engines(("local",)) as found:
        yield found


@pytest.mark.parametrize(("page", "number", "block"), BLOCKS, ids=[f"{each[0].stem}-{each[1]}" for each in BLOCKS])
def test_example(page: Path, number: int, block: CaseBlock, tmp_path: Path, engines: Mapping[str, CaseEngine]) -> None:
    path = tmp_path / "example.case.yaml"
    path.write_text(block.file(page.stem), "utf-8")
    (result,) = run_cases([path], engines)
    assert result.status is Status.PASSED, f"{page}, {block.heading}: {result.detail}"


@pytest.mark.parametrize("language", RULES)
def test_every_rule_has_an_example(language: str) -> None:
    rules = section((REFERENCE / f"{language}.md").read_text("utf-8"), "Rules")
    titles = re.findall(r"^### (\d+) · (.+)$", rules, re.MULTILINE)
    assert [int(number) for number, _ in titles] == list(range(1, RULES[language] + 1))
    without = [title for number, title in titles if not list(case_blocks(section(rules, f"{number} · {title}")))]
    assert not without


def test_an_example_that_is_wrong_fails(tmp_path: Path, engines: Mapping[str, CaseEngine]) -> None:
    page, _, block = next(each for each in BLOCKS if each[0].stem in RULES and yaml.safe_load(each[2].text).get("expect"))
    case = yaml.safe_load(block.file(page.stem))
    case["expect"][0]["end"] += 1
    path = tmp_path / "example.case.yaml"
    path.write_text(yaml.safe_dump(case), "utf-8")
    (result,) = run_cases([path], engines)
    assert result.status is Status.FAILED


def test_an_example_is_shown_as_query_stream_and_table() -> None:
    shown = render(
        "```yaml case\nstreams:\n  http://example/s: |\n    1 { :a :p 2 }\nquery: |\n  ASK { ?x :p ?y }\n"
        'expect:      # two is too many\n  - {start: 1, end: 1, x: ":a"}\n```\n'
    )
    assert '```sparql title="Query"\nASK { ?x :p ?y }\n```' in shown
    assert '```turtle title="Stream :s"\n1 { :a :p 2 }\n```' in shown
    assert "| start | end | ?x |\n| --- | --- | --- |\n| 1 | 1 | `:a` |\n\n(two is too many)" in shown
