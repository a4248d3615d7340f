"""The page of errata names cases that are there, and no printed example is left out. They run with the suite."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errata.md").read_text("utf-8")
NAMED = set(re.findall(r"`([a-z-]+/[a-z0-9-]+)`", PAGE))


def test_every_case_that_is_named_is_there() -> None:
    assert [name for name in sorted(NAMED) if not (ROOT / "cases" / f"{name}.case.yaml").is_file()] == []


def test_every_printed_example_is_named() -> None:
    printed = re.compile(r"(?:example|ex|listing|figure|query)-?\d")
    there = {
        f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}"
        for path in (ROOT / "cases").rglob("*.case.yaml")
        if printed.match(path.name)
    }
    assert sorted(there - NAMED) == []
