"""`scepter doctor`: what it finds, what it advises, and its exit code."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scepter import Matches, Query
from scepter.cli import trial
from scepter.cli.checkup import State, in_range, java, java_version, package, spark, writable
from scepter.cli.main import app
from scepter.cli.trial import FALLS
from scepter.io.given import Given


def doctor(*arguments: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(app, ["doctor", *arguments])
    return result.exit_code, result.output.splitlines()


def a_java(home: Path, says: str) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return home


def test_all_is_well_and_every_language_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, 'openjdk version "21.0.1" 2023-10-17')))
    code, lines = doctor("--run")
    assert code == 0
    assert lines[0].split()[:3] == ["ok", "scepter", f"{metadata.version('scepter')},"]
    for language in FALLS:
        assert any(line.split()[:2] == ["ok", language] and "answers" in line for line in lines)
    assert any("21.0.1" in line and "JAVA_HOME" in line for line in lines)
    assert lines[-1].startswith("queries run in this process")


def test_the_small_queries_read_a_file_so_that_its_kernels_are_compiled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def run_local(query: Query, streams: Given) -> Matches:
        read.append(streams)
        return query.run(streams)

    monkeypatch.setattr(trial, "run_local", run_local)
    assert [finding.state for finding in trial.answers()] == [State.FINE] * 5
    assert [isinstance(each, Path) and each.suffix for each in read] == [".nq"] * 5


def test_no_java_is_a_limit_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    code, lines = doctor()
    assert code == 0
    told = next(i for i, line in enumerate(lines) if line.startswith("limited  Java"))
    assert "do: install Java 17 or later, or pip install 'scepter[jdk]'" in lines[told + 1]
    assert "no Spark (no Java)" in lines[-1]


@pytest.mark.parametrize(
    ("says", "state", "told"),
    [
        ('java version "1.8.0_292"', State.LIMITED, "Spark needs 17"),
        ('openjdk version "17" 2021-09-14', State.FINE, "17 in"),
        ('openjdk version "25-ea" 2025-09-16', State.FINE, "25-ea"),
        ("no words", State.LIMITED, "does not start"),
    ],
)
def test_versions_of_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, state: State, told: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, says)))
    found = java()
    assert (found.state, told in found.found) == (state, True), found


def test_a_java_that_cannot_be_started_or_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert java_version(tmp_path) is None

    def hangs(*args: object, **more: object) -> None:
        raise subprocess.TimeoutExpired("java", 60)

    monkeypatch.setattr(subprocess, "run", hangs)
    assert java_version(tmp_path) is None


def test_packages_that_are_missing_or_of_another_version() -> None:
    assert package("no-such-package", ">=1,<2").state is State.BROKEN
    old = package("numba", ">=99")
    assert (old.state, old.advice) == (State.LIMITED, "pip install 'numba>=99'")
    assert package("numba", ">=0.1").state is State.FINE


def test_a_missing_package_is_told_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["lark>=1", "no-such-package>=1", "pyspark>=4", "x; extra == 'y'"]
    monkeypatch.setattr(metadata, "requires", lambda name: asked)
    code, lines = doctor()
    assert code == 1
    assert lines[-1] == "queries cannot run: see above"
    assert any("do: pip install 'no-such-package>=1'" in line for line in lines)


WITHOUT = """
import sys
from importlib import metadata
missing, found = sys.argv.pop(1), metadata.version
def version(name):
    if name == missing:
        raise metadata.PackageNotFoundError(name)
    return found(name)
metadata.version = version
sys.modules[missing] = None  # an import of it fails
from scepter.cli.main import main
main()
"""


def without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program where a package that it depends on is not installed."""
    return subprocess.run([sys.executable, "-c", WITHOUT, package, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", ["lark", "numba", "pyarrow"])
def test_an_installation_without_a_package_is_examined(package: str) -> None:
    done = without(package, "doctor", "--run")
    assert (done.returncode, done.stderr) == (1, "")
    told = [line.split() for line in done.stdout.splitlines()]
    assert ["broken", package, "is", "not", "installed"] in told
    assert done.stdout.splitlines()[-1] == "queries cannot run: see above"


def test_commands_of_an_installation_without_a_package_say_what_helps(tmp_path: Path) -> None:
    done = without("lark", "check", str(tmp_path / "q.spaseq"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0].startswith("error[installation]: ")
    assert "lark" in done.stderr.splitlines()[0]
    assert done.stderr.splitlines()[1:] == ["help: scepter doctor says what is missing, and what to do"]


@pytest.mark.parametrize(
    ("version", "wanted", "inside"),
    [
        ("4.3.0", ">=4.3,<4.4", True),
        ("4.4.0", ">=4.3,<4.4", False),
        ("4.3.0.dev1", ">=4.3,<4.4", True),
        ("6.0.3", ">=6,<7", True),
    ],
)
def test_ranges(version: str, wanted: str, inside: bool) -> None:
    assert in_range(version, wanted) is inside


def test_a_spark_home_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert (spark().state, spark().advice) == (State.LIMITED, "unset SPARK_HOME")


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert writable(tmp_path / "new" / "folder")
    assert not writable(tmp_path / "file" / "in")
    assert not writable(Path("/proc/none"))
