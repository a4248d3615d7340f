"""`scepter run --follow` in this process: answers while the writer is still writing."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

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
    rest, told = run.communicate(timeout=PATIENCE)
    assert [(row["start"], row["end"]) for row in map(json.loads, rest.splitlines())] == [(1, 3), (2, 3)]
    assert run.returncode == 0 and "1 line or event could not be used" in told
    assert "engine: local" in told


def test_an_error_ends_a_run_whose_standard_input_is_open(tmp_path: Path) -> None:
    with start(tmp_path, "--stream", "http://e/s=-", "--assign-time", "arrival") as run:
        assert run.stdin is not None and run.stderr is not None
        run.stdin.write(value(1))
        run.stdin.flush()
        # the thread that waits for bytes must not hold what the interpreter needs to end
        told = run.stderr.read()
        assert run.wait(timeout=PATIENCE) == 2 and "error[time-kind]" in told and "Fatal" not in told


def test_groups_of_triples_are_events_when_their_blank_line_comes(tmp_path: Path) -> None:
    run = start(tmp_path, "--stream", "http://e/s=-", "--assign-time", "sequence", "--event-per", "group")
    assert run.stdin is not None and run.stdout is not None
    for number in (1, 2, 3):
        run.stdin.write(value(number) + "<http://e/a> <http://e/w> <http://e/b> .\n\n")
        run.stdin.flush()
        found = [json.loads(run.stdout.readline()) for _ in range(1, number)]
        assert [row["end"] for row in found] == [number] * (number - 1)
    rest, told = run.communicate(timeout=PATIENCE)
    assert rest == "" and "could not be used" not in told and run.returncode == 0, told


def test_it_stops_while_standard_input_is_open(tmp_path: Path) -> None:
    with start(tmp_path, "--stream", "http://e/s=-", "--assign-time", "sequence") as run:
        assert run.stdin is not None and run.stdout is not None and run.stderr is not None
        run.stdin.write(value(1) + value(2))
        run.stdin.flush()
        assert json.loads(run.stdout.readline())["end"] == 2
        run.send_signal(signal.SIGTERM)
        assert run.wait(timeout=PATIENCE) == 0 and "1 match" in run.stderr.read()


def test_it_stops_when_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    run = start(tmp_path, "--stream", "http://e/s=in", "--assign-time", "sequence", "--output", "out.jsonl")
    (tmp_path / "new.nt").write_text(value(1) + value(2))
    (tmp_path / "new.nt").rename(tmp_path / "in" / "a.nt")
    while not (tmp_path / "out.jsonl").exists() or not (tmp_path / "out.jsonl").read_text():
        assert run.poll() is None
    run.send_signal(signal.SIGTERM)
    _, told = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0 and "stopping" in told and "1 match" in told


ROADS = """PREFIX : <http://e/>
SELECT ?x ?y FROM NAMED :s WIN [RANGE 100] AS :w WHERE { WINDOW :w { ?x :on ?y } GRAPH :roads { ?y :is :open } }"""


def on(agent: str, road: str, time: int) -> str:
    return f'<http://e/{agent}> <http://e/on> <http://e/{road}> "{time}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


def follow_roads(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    (folder / "roads.rsepql").write_text(ROADS)
    command = [sys.executable, "-m", "scepter", "run", "roads.rsepql", "--follow", "--format", "jsonl"]
    command += ["--stream", "http://e/s=-", "--dead-letter", "dead.jsonl", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def replaced(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def test_a_background_file_is_read_again_and_a_broken_one_is_not(tmp_path: Path) -> None:
    graph, dead = tmp_path / "roads.ttl", tmp_path / "dead.jsonl"
    graph.write_text("<http://e/r1> <http://e/is> <http://e/open> .")
    run = follow_roads(tmp_path, "--background", "roads=roads.ttl", "--reload-background")
    assert run.stdin is not None and run.stdout is not None
    run.stdin.write(on("a", "r1", 1) + on("b", "r2", 2))
    run.stdin.flush()
    assert json.loads(run.stdout.readline())["bindings"]["x"]["value"] == "http://e/a"
    replaced(graph, "<http://e/r2> <http://e/is> <http://e/open> .")
    for time in range(3, 5):
        run.stdin.write(on("c", "r3", time))
        run.stdin.flush()
    assert json.loads(run.stdout.readline())["bindings"]["y"]["value"] == "http://e/r2"
    replaced(graph, "<http://e/r3> <http://e/is")
    while not dead.read_text():
        assert run.poll() is None
    run.stdin.write(on("d", "r2", 9) + on("d", "r3", 10))
    rest, told = run.communicate(timeout=PATIENCE)
    assert [json.loads(row)["bindings"]["y"]["value"] for row in rest.splitlines()] == ["http://e/r2"], told
    assert "its last version stays" in dead.read_text() and run.returncode == 0


def test_versions_are_followed_and_time_does_not_wait_for_them(tmp_path: Path) -> None:
    def version(name: str, road: str, time: int) -> str:
        stamp = "<http://www.w3.org/ns/prov#generatedAtTime>"
        return (
            f'<urn:{name}> {stamp} "{time}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
            f"<http://e/{road}> <http://e/is> <http://e/open> <urn:{name}> .\n"
        )

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.nq").write_text(version("v1", "r1", 1) + version("v2", "r2", 5))
    run = follow_roads(tmp_path, "--versions", "roads=in")
    assert run.stdin is not None and run.stdout is not None
    run.stdin.write(on("a", "r1", 2) + on("b", "r2", 6) + on("b", "r2", 7))
    run.stdin.flush()
    found = [json.loads(run.stdout.readline()) for _ in range(2)]
    assert [(row["end"], row["bindings"]["y"]["value"]) for row in found] == [(2, "http://e/r1"), (6, "http://e/r2")]
    rest, told = run.communicate(timeout=PATIENCE)
    assert rest == "" and run.returncode == 0, told


def test_a_version_with_bad_lines_is_left_out_while_they_are_followed(tmp_path: Path) -> None:
    def version(name: str, road: str, time: int, bad: str = "") -> str:
        stamp = "<http://www.w3.org/ns/prov#generatedAtTime>"
        return (
            f'<urn:{name}> {stamp} "{time}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
            f"{bad}<http://e/{road}> <http://e/is> <http://e/open> <urn:{name}> .\n"
        )

    (tmp_path / "in").mkdir()
    bad = '<http://e/r> <http://e/is> "open\n' * 5_000
    (tmp_path / "in" / "1.nq").write_text(version("v1", "r1", 1) + version("v2", "r2", 5, bad) + version("v3", "r3", 9))
    run = follow_roads(tmp_path, "--versions", "roads=in")
    rest, told = run.communicate(on("a", "r1", 6) + on("b", "r2", 7) + on("b", "r3", 10), timeout=PATIENCE)
    found = [json.loads(line) for line in rest.splitlines()]
    assert [(row["end"], row["bindings"]["y"]["value"]) for row in found] == [(6, "http://e/r1"), (10, "http://e/r3")]
    assert run.returncode == 0 and "5001 lines or events could not be used" in told


def test_a_socket_that_closes_in_the_middle_of_a_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = f"http://e/s=tcp://127.0.0.1:{server.getsockname()[1]}"
        run = start(tmp_path, "--stream", source, "--assign-time", "sequence", "--dead-letter", "dead.jsonl")
        peer, _ = server.accept()
        peer.sendall((value(1) + value(2) + '<http://e/a> <http://e/v> "3"^^<http://www.w3').encode())
        peer.close()
        rest, told = run.communicate(timeout=PATIENCE)
    assert [(row["start"], row["end"]) for row in map(json.loads, rest.splitlines())] == [(1, 2)]
    assert run.returncode == 0 and "1 line or event could not be used" in told
    letter = (tmp_path / "dead.jsonl").read_text()
    assert '<http://e/a> <http://e/v> \\"3\\"' in letter and "the input ends in the middle of this line" in letter
