"""CPU time and memory of a process and its descendants."""

from __future__ import annotations

import subprocess
import sys
import time

from scepter.bench.processes import cpu_seconds, peak_bytes

BUSY = "import time\nwhile time.process_time() < {}: pass\n"


def test_children_that_ended_count() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BUSY.format(0.3)], check=True)
    assert cpu_seconds() - before >= 0.28


def test_descendants_that_live_count_and_are_not_forgotten() -> None:
    # a grandchild, which nobody has waited for yet
    script = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY.format(0.3)!r}])\nprint(1, flush=True)\ninput()"
    )
    before, memory = cpu_seconds(), peak_bytes()
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert cpu_seconds() - before >= 0.28
        assert peak_bytes() > memory
        child.communicate(b"\n")
    assert cpu_seconds() - before >= 0.28


def test_own_time_counts() -> None:
    before, began = cpu_seconds(), time.process_time()
    while time.process_time() - began < 0.05:
        pass
    assert 0.05 <= cpu_seconds() - before < 5
