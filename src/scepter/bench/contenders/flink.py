"""Yardstick: SQL for Flink, run by the Python that SCEPTER_FLINK_PYTHON names, else by this one, if it has apache-flink."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point

_JOB: Final = Path(__file__).with_name("flink_job.py")


def _python() -> str:
    return os.environ.get("SCEPTER_FLINK_PYTHON", sys.executable)


def absent() -> str | None:
    """Why Flink cannot run here."""
    asked = [_python(), "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('pyflink') is None)"]
    if subprocess.run(asked, check=False).returncode:
        return "apache-flink is not installed (SCEPTER_FLINK_PYTHON names an environment that has it)"
    return None if os.environ.get("JAVA_HOME") or shutil.which("java") else "there is no JVM"


def prepared(name: str) -> Work:
    """A process that keeps Flink's JVM for every run of the point."""
    running = subprocess.Popen([_python(), str(_JOB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(running.kill)

    def run(point: Point) -> Outcome:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(json.dumps(point.yardsticks["flink"].format(*point.streams.values())) + "\n")
        running.stdin.flush()
        for line in running.stdout:
            if line.startswith("answers "):
                return Outcome(int(line.split()[1]))
        raise RuntimeError(f"Flink ended with {running.wait()}")

    return run
