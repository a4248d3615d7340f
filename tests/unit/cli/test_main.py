"""The program itself: commands, usage errors, exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scepter.cli.main import COMMANDS, app

RUNNER = CliRunner()


def test_version() -> None:
    result = RUNNER.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("scepter 0.")


def test_help_names_every_command() -> None:
    result = RUNNER.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert all(f"  {command} " in result.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_shows_an_example_of_itself(command: str) -> None:
    text = RUNNER.invoke(app, [command, "--help"], terminal_width=200).stdout.split("Options:")[1]
    listed = re.findall(r"^  (--[a-z-]+|-k)\b", text, re.MULTILINE)
    assert listed
    shown = " ".join(text.split())
    assert [name for name in listed if f"Example: {name}" not in shown] == []


@pytest.mark.parametrize(
    "arguments",
    [["nope"], ["--nope"], ["run", "--nope"], ["check"], ["check", "a", "b"], ["run", "q", "--stream"], ["test"]],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stdout == "" or arguments in (["check"], ["test"])


def test_the_module_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "scepter", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("scepter ")


def test_help_and_check_need_no_heavy_import(tmp_path: Path) -> None:
    query = tmp_path / "q.spaseq"
    query.write_text("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    heavy = ("numba", "numpy", "pyarrow", "pandas", "pyspark")
    for arguments in (["--help"], ["check", str(query)]):
        code = (
            "import sys, scepter.cli.main as m\n"
            f"try:\n    m.app({arguments!r})\nexcept SystemExit as end:\n    assert not end.code\n"
            f"sys.exit(' '.join(name for name in {heavy!r} if name in sys.modules) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
