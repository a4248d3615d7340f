"""`scepter run` on Spark as a person calls it: from the command to its end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """The number of lines of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        query = Path(folder) / "query.txt"
        query.write_text(point.query, encoding="utf-8")
        command = [sys.executable, "-m", "scepter", "run", str(query), "--language", point.language, "--format", "jsonl"]
        command += ["--engine", "spark"]
        for iri, path in point.streams.items():
            command += ["--stream", f"{iri}={path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Outcome(done.stdout.count("\n"))
