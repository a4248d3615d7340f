"""The examples do what their READMEs show, and their cases hold the queries that stand beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docs.markdown import commands, run, with_output
from scepter.cases.loader import load_case

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = {path.parent for path in EXAMPLES.glob("*/*.ipynb")}
"""Run by test_notebook.py."""
FOLDERS = sorted({path.parent for path in EXAMPLES.glob("*/README.md")} - NOTEBOOKS)


def test_every_example_has_a_readme_a_query_and_a_case() -> None:
    assert len(FOLDERS) >= 8
    assert {path.parent for path in EXAMPLES.glob("*/*.case.yaml")} == set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_readme_shows_what_happens(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_fixtures: bool
) -> None:
    document = (folder / "README.md").read_text("utf-8")
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    shown = commands(document)
    assert shown
    printed = [(expected, run(block.text)) for block, expected in shown if expected is not None]
    assert len(printed) == len(shown), "every command shows what it prints"
    if update_fixtures:
        (folder / "README.md").write_text(with_output(document, printed), "utf-8")
    for expected, text in printed:
        assert text == expected.text or update_fixtures
        assert "0 matches" not in text.splitlines()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_case_holds_the_query_beside_it(folder: Path) -> None:
    beside = {query.read_text("utf-8") for query in folder.iterdir() if query.is_file() and query.suffix != ".gz"}
    for path in folder.glob("*.case.yaml"):
        assert load_case(path).query in beside
