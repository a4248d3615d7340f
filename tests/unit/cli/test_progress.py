"""The progress bar: for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from scepter.cli.progress import RunProgress


def shown(*, terminal: bool, hide: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    with RunProgress(console) as progress:
        if hide:
            progress.hide()
        progress.update(50, 100, 1_234_567)
        progress.matched(42)
    return out.getvalue()


def test_share_triples_and_matches_on_a_terminal() -> None:
    text = shown(terminal=True)
    assert "50%" in text
    assert "1,234,567 triples" in text
    assert "42 matches" in text


def test_silent_elsewhere() -> None:
    assert shown(terminal=False) == ""


def test_hidden_for_good() -> None:
    assert "triples" not in shown(terminal=True, hide=True).split("\n")[-1]
    assert "1,234,567" not in shown(terminal=True, hide=True)


def test_kernels_that_are_compiled_are_told() -> None:
    import numba

    def half(number: float) -> float:
        return number / 2

    def quarter(number: float) -> float:
        return float(inner(inner(number)))

    compile: Any = numba.njit
    inner, outer = compile(half), compile(quarter)
    out = io.StringIO()
    with RunProgress(Console(file=out, force_terminal=True, width=120, color_system=None)):
        assert outer(8.0) == 2.0
    assert "compiling kernels, once: 0 done, now quarter" in out.getvalue()
    assert "half" not in out.getvalue()


def test_on_a_narrow_terminal_they_take_the_place_of_the_bar() -> None:
    out = io.StringIO()
    with RunProgress(Console(file=out, force_terminal=True, width=60, color_system=None)) as progress:
        progress.update(5, 5, 5)
        begin = len(out.getvalue())
        progress.compiling(12, "_scan_grouped")
        during = len(out.getvalue())
        progress.compiling(13, "")
    assert "compiling kernels, once: 12 done, now scan_grouped" in out.getvalue()[begin:during]
    assert "%" not in out.getvalue()[begin:during]
    assert "100%" in out.getvalue()[during:]


def test_after_a_run_nobody_listens() -> None:
    import numba
    from numba.core import event

    before = list(event._registered["numba:compile"])
    with RunProgress(Console(file=io.StringIO(), force_terminal=True)) as progress:
        progress.compiling(3, "a")
        progress.hide()
        assert event._registered["numba:compile"] == before
    compile: Any = numba.njit
    assert compile(lambda: 1)() == 1
