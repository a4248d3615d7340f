"""`scepter test` through the command line."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scepter.cli.main import app

RUNNER = CliRunner()

CASE = """\
name: NAME
language: spaseq
prefixes: {"": "http://example/"}
streams:
  http://example/s: |
    1 { :x :v 3 }
    2 { :y :v 3.0 }
query: |
  PREFIX : <http://example/>
  SELECT ?x
  WITHIN 10
  FROM STREAM S <http://example/s>
  WHERE { SEQ (A) DEFINE GPM A ON S { ?x :v ?v FILTER (?v = 3) } }
expect:
  - {start: 1, end: 1, x: ":x"}
"""
SECOND = '  - {start: 2, end: 2, x: ":y"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.case.yaml").write_text(CASE.replace("NAME", "good") + SECOND)
    return tmp_path


def test_all_pass(folder: Path) -> None:
    result = RUNNER.invoke(app, ["test", str(folder), "--engine", "local"])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_a_failure_shows_the_rows_and_exit_code_1(folder: Path) -> None:
    (folder / "bad.case.yaml").write_text(CASE.replace("NAME", "bad"))
    report = folder / "report.xml"
    result = RUNNER.invoke(app, ["test", str(folder), "--engine", "local", "--junit", str(report)])
    assert result.exit_code == 1
    assert "failed   " in result.stdout
    assert "    1 row unexpected" in result.stdout
    assert "unexpected  2      2    :y" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    suite = ET.parse(report).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_an_error_in_a_query_points_into_the_case_file(folder: Path) -> None:
    (folder / "bad.case.yaml").write_text(CASE.replace("NAME", "bad").replace("?v = 3", "?w = 3"))
    result = RUNNER.invoke(app, ["test", str(folder), "--engine", "local"])
    assert result.exit_code == 1
    assert "bad.case.yaml:13:" in result.stdout


def test_a_selection(folder: Path) -> None:
    (folder / "bad.case.yaml").write_text("query: [")
    assert RUNNER.invoke(app, ["test", str(folder), "--engine", "local", "-k", "good"]).exit_code == 0
    none = RUNNER.invoke(app, ["test", str(folder), "--engine", "local", "-k", "nothing"])
    assert none.exit_code == 2
    assert "selects none of 2 cases" in none.stderr


def test_a_manifest(folder: Path) -> None:
    (folder / "not-yet.yaml").write_text("later.case.yaml: comes later\n")
    (folder / "later.case.yaml").write_text(CASE.replace("NAME", "later"))
    result = RUNNER.invoke(app, ["test", str(folder), "--engine", "local"])
    assert result.exit_code == 0
    assert "(comes later)" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"
    (folder / "later.case.yaml").write_text(CASE.replace("NAME", "later") + SECOND)
    passing = RUNNER.invoke(app, ["test", str(folder), "--engine", "local"])
    assert passing.exit_code == 1
    assert "remove it from the manifest" in passing.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none"], "there is no none"),
        ([".", "--engine", "flink"], "--engine cannot be 'flink'"),
        ([".", "--engine", "local", "-k", "("], "cannot be read"),
    ],
)
def test_wrong_arguments(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(folder)
    result = RUNNER.invoke(app, ["test", *arguments])
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""
