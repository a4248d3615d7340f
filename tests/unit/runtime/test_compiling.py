"""Who is told that kernels are compiled: a person who waits, once."""

from __future__ import annotations

import sys

import pytest
from numba import njit

from scepter.runtime import compiling


@pytest.fixture(autouse=True)
def nothing_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_spoken", [])
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)


def compile_two() -> None:
    for _ in range(2):
        with compiling.told_once():
            assert njit(lambda x: x + 1)(1) == 2


def test_a_person_at_a_prompt_is_told_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    compile_two()
    assert capsys.readouterr().err.splitlines() == ["scepter compiles its kernels, once for this installation: some 12 seconds"]


def test_a_program_is_told_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    compile_two()
    assert capsys.readouterr().err == ""


def test_the_log_of_a_first_run_tells_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    for _ in range(2):
        with compiling.told_once(first=True):
            assert njit(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err.splitlines() == ["scepter compiles its kernels, once for this installation: some 12 seconds"]


def test_nothing_is_said_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with compiling.told_once():
        pass
    assert capsys.readouterr().err == ""
