"""The command line of the generators."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from scepter import generate
from scepter.cli.generate import generate as command
from scepter.errors import OptionError


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(arguments))


def test_a_folder_and_how_to_run_it(tmp_path: Path) -> None:
    result = run("smartgrid", "--output", str(tmp_path / "grid"), "--events", "8", "--disorder", "2s")
    assert result.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "grid").iterdir()) == [
        "background.ttl",
        "main.nq",
        "smart-grid.spaseq",
        "storage.nq",
        "weather.nq",
    ]
    assert result.stdout == ""
    assert "scepter run" in result.stderr
    assert "--stream http://smartgrid.org/weather=" in result.stderr


def test_one_stream_to_standard_output(tmp_path: Path) -> None:
    result = run("stocks", "--stream", "stocks", "--events", "5")
    written = generate.write("stocks", tmp_path, events=5)
    assert result.stdout == next(iter(written.streams.values())).read_text()


def test_one_stream_to_a_gzip_file(tmp_path: Path) -> None:
    target = tmp_path / "ticks.nq.gz"
    assert run("stocks", "--stream", "stocks", "--events", "5", "--output", str(target)).exit_code == 0
    assert gzip.decompress(target.read_bytes()).count(b"\n") == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stocks", "--format", "nquad"], "did you mean nquads"),
        (["stocks", "--times", "x"], "--times cannot be"),
        (["stocks", "--disorder", "soon"], "--disorder"),
        (["shares"], "no dataset"),
    ],
)
def test_mistakes(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, OptionError)
    assert words in str(result.exception)
