"""When kernels are interpreted: small files, nothing compiled yet, nobody has decided otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scepter import Event, compiled, parse
from scepter.cli import kernels
from scepter.io.given import given_streams
from scepter.runtime import local

QUERY = """PREFIX : <http://example/>
SELECT ?c ?x FROM STREAM <http://example/s> WHERE { { ?c :price ?x } SEQ { ?c :price ?y } FILTER (?y < ?x) }
"""
STREAM = """<http://example/a> <http://example/price> 5 <http://example/e1> .
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(compiled.INTERPRETED, raising=False)
    (tmp_path / "q.epsparql").write_text(QUERY)
    (tmp_path / "s.nq").write_text(STREAM)
    (tmp_path / "large.nq").write_text(STREAM * 2000)
    (tmp_path / "s.parquet").write_text("few bytes may be many rows")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "many").mkdir()
    for number in range(3):
        (tmp_path / "many" / f"{number}.nq").write_text(STREAM * 600)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "small"),
    [
        ("run q.epsparql --stream s=s.nq", True),
        ("run q.epsparql --stream=http://example/s=s.nq", True),
        ("run q.epsparql --stream s=*.nq", False),
        ("run q.epsparql --stream s=large.nq", False),
        ("run q.epsparql --stream s=s.nq --background large.nq", False),
        ("run q.epsparql --stream s=many", False),
        ("run q.epsparql --stream s=s.parquet", False),
        ("run q.epsparql --stream s=pipe", False),
        ("run q.epsparql --stream s=-", False),
        ("run q.epsparql --stream s=s.nq --engine spark", False),
        ("run q.epsparql --stream s=s.nq --follow", False),
        ("run nothing.epsparql --stream s=nothing.nq", False),
        ("compare q.epsparql q.epsparql --stream s=s.nq", True),
        ("compare q.epsparql --stream s=s.nq --engine both", False),
        ("test q.epsparql", False),
        ("test q.epsparql --engine local", True),
        ("doctor --run", False),
        ("bench q.epsparql", False),
        ("", False),
    ],
)
def test_which_commands_are_small(folder: Path, command: str, small: bool) -> None:
    assert kernels.is_small(command.split()) is small


def chosen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str | None:
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    kernels.choose_kernels(["run", "q.epsparql", "--stream", "s=s.nq"])
    return os.environ.pop(compiled.INTERPRETED, None)


def test_until_a_run_has_compiled_what_it_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    assert chosen(folder, monkeypatch) == "1"
    kept = folder / "kept" / "rdf_0"
    kept.mkdir(parents=True)
    (kept / f"hashing.hash_bytes-9.py{sys.version_info.major}{sys.version_info.minor}.nbi").write_text("")
    assert chosen(folder, monkeypatch) == "1"  # of a run that was stopped while it compiled: most kernels are missing
    compiled.remember()
    assert chosen(folder, monkeypatch) is None
    (stamp,) = (folder / "kept").glob("scepter.*")
    stamp.write_text("of another version")
    assert chosen(folder, monkeypatch) == "1"


@pytest.mark.parametrize("all_of_it", [True, False])
def test_only_a_run_that_ends_counts(folder: Path, monkeypatch: pytest.MonkeyPatch, all_of_it: bool) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    query = parse(QUERY)
    events = [Event("http://example/s", f":a :price {9 - at} .", at, prefixes={"": "http://example/"}) for at in range(4)]
    matches = local.run_local(query, given_streams(query, events))
    assert next(matches)
    if all_of_it:
        assert len(list(matches)) == 5
    assert compiled.are_kept() is all_of_it


def test_an_interpreted_run_compiles_nothing_for_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    monkeypatch.setenv(compiled.INTERPRETED, "1")
    compiled.remember()
    assert not compiled.are_kept()


def test_a_place_that_cannot_be_written_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "s.nq"))
    compiled.remember()
    assert not compiled.are_kept()


def test_what_the_user_decided_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    monkeypatch.setenv(compiled.INTERPRETED, "0")
    assert chosen(folder, monkeypatch) == "0"


def test_not_when_kernels_are_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "kept"))
    kernels.choose_kernels(["run", "q.epsparql", "--stream", "s=s.nq"])
    assert "numba" not in sys.modules or compiled.INTERPRETED not in os.environ


def test_a_first_run_compiles_nothing(folder: Path) -> None:
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    lines = [
        f'<http://example/a> <http://example/price> "{5 - time}"^^{integer} <http://example/e{time}> .\n'
        f'<http://example/e{time}> <http://www.w3.org/ns/prov#generatedAtTime> "{time}"^^{integer} .\n'
        for time in (1, 2)
    ]
    (folder / "s.nq").write_text("".join(lines))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")}
    environment.pop(compiled.INTERPRETED, None)
    done = subprocess.run(
        [sys.executable, "-m", "scepter", "run", "q.epsparql", "--stream", "http://example/s=s.nq"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), done.stderr
    assert not list((folder / "kept").rglob("*.nbi"))
