"""`scepter run --follow` in this process: answers while the writer is still writing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

PAIRS = """PREFIX : <http://e/>
SELECT ?x ?y WHERE { { :a :v ?x } SEQ { :a :v ?y } FILTER (?y > ?x && getDURATION() < 10) }"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    (folder / "q.epsparql").write_text(PAIRS)
    command = [sys.executable, "-m", "scepter", "run", "q.epsparql", "--follow", "--format", "jsonl", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=os.environ | {"COLUMNS": "99"}
    )


def value(number: int) -> str:
    return f'<http://e/a> <http://e/v> "{number}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


def test_standard_input_answers_as_it_comes(tmp_path: Path) -> None:
    run = start(tmp_path, "--stream", "http://e/s=-", "--assign-time", "sequence")
    assert run.stdin is not None and run.stdout is not None
    for number in (1, 2):
        run.stdin.write(value(number))
        run.stdin.flush()
    first = json.loads(run.stdout.readline())  # the writer has not closed it
    assert (first["start"], first["end"]) == (1, 2)
    run.stdin.write(value(3) + "<http://e/a> <http://e")
    rest, told = run.communicate(timeout=120)
    assert [(row["start"], row["end"]) for row in map(json.loads, rest.splitlines())] == [(1, 3), (2, 3)]
    assert run.returncode == 0 and "1 line or event could not be used" in told
    assert "engine: local" in told


def test_it_stops_when_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    run = start(tmp_path, "--stream", "http://e/s=in", "--assign-time", "sequence", "--output", "out.jsonl")
    (tmp_path / "new.nt").write_text(value(1) + value(2))
    (tmp_path / "new.nt").rename(tmp_path / "in" / "a.nt")
    while not (tmp_path / "out.jsonl").exists() or not (tmp_path / "out.jsonl").read_text():
        assert run.poll() is None
    run.send_signal(signal.SIGTERM)
    _, told = run.communicate(timeout=120)
    assert run.returncode == 0 and "stopping" in told and "1 match" in told
