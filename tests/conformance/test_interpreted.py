"""Kernels that Python interprets, as a small first run has them, give the answers of compiled ones: all cases and examples.

It is a check of the kernels too: an index out of bounds, which compiled code would follow, is an error here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_case_interpreted() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scepter", "test", "cases", "examples", "--engine", "local"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed")]
    assert (done.returncode, failed) == (0, []), done.stderr[-2000:]
    assert int(done.stdout.splitlines()[-1].split()[0]) > 200
