"""Memory that is kept from one batch to the next."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
import numpy as np
from scepter.allocation import keep_memory
if sys.argv[1] == "kept":
    assert keep_memory()
def batch():
    [np.ones(1 << 20, np.uint8) for _ in range(64)]
batch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    batch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(how: str, **more: str) -> int:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True, env=plain | more)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told what to keep")
def test_the_next_batch_has_the_memory_of_the_last_one() -> None:
    assert 10 * _faults("kept") < _faults("plain")


def test_what_a_person_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from scepter.allocation import keep_memory

    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")
    assert not keep_memory()
