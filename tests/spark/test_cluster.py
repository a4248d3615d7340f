"""A standalone cluster of the pip package on the loopback interface, as docs/guide/cluster.md says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pyspark
import pytest

from batches import at_time, integer, quad
from scepter.runtime.spark.session import java_home

HOME = Path(pyspark.__file__).parent
QUERY = """\
PREFIX : <http://e/>
SELECT ?x WITHIN 10 FROM STREAM S <http://e/s>
WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x :v ?a } DEFINE GPM B ON S { ?x :v ?b FILTER(?b > ?a) } }
"""
DRIVER = "from scepter.cli.main import main\n\nmain()\n"

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**kept, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(java_home()), **more}


def started(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.log").open("wb") as log:
        command = [str(HOME / "bin" / "spark-class"), *arguments]
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=environment())


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(60)


def await_lines(log: Path, words: str, count: int) -> None:
    for _ in range(1_800):
        if log.exists() and log.read_text(errors="replace").count(words) >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"{log} never said {words!r}: {log.read_text(errors='replace')}")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master and two workers of one core each."""
    folder = tmp_path_factory.mktemp("cluster")
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as running:
        place = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
        running.callback(stop, started(folder, "master", f"{deploy}.master.Master", *place, "--port", str(port)))
        await_lines(folder / "master.log", "Starting Spark master", 1)
        for number in range(2):
            size = ("-c", "1", "-m", "700m", "-d", str(folder / f"work{number}"))
            place = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
            running.callback(stop, started(folder, f"worker{number}", f"{deploy}.worker.Worker", *size, *place, url))
        await_lines(folder / "master.log", "Registering worker", 2)
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.spaseq").write_text(QUERY)
    text = "".join(
        at_time(f"e{i}", i) + quad(f"e{i}", f"<http://e/x{i % 3}>", "<http://e/v>", integer(i * 37 % 11)) for i in range(200)
    )
    (tmp_path / "s.nq").write_text(text)
    (tmp_path / "driver.py").write_text(DRIVER)
    return tmp_path


def packed_environment(folder: Path) -> Path:
    """A venv as an archive. Its packages are those of the one that runs the tests, by reference instead of by copy."""
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    [packages] = venv.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("".join(f"{path}\n" for path in sys.path if path and Path(path).is_dir()))
    archive = folder / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(venv, arcname=".")
    return archive


def finished(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scepter_run_and_spark_submit_with_a_packed_environment(master: str, folder: Path) -> None:
    run = ["run", "q.spaseq", "--stream", "S=s.nq"]
    expected = finished([sys.executable, "-m", "scepter", *run, "--engine", "local"], folder, environment())
    assert expected
    small = ["--conf", "spark.executor.memory=512m"]
    # the environment that is on every machine already
    env = environment(PYSPARK_SUBMIT_ARGS=" ".join([*small, "pyspark-shell"]))
    assert finished([sys.executable, "-m", "scepter", *run, "--master", master], folder, env) == expected
    # the environment that is sent along
    archive = f"{packed_environment(folder)}#environment"
    env = environment(PYSPARK_PYTHON="./environment/bin/python", PYSPARK_DRIVER_PYTHON=sys.executable)
    submit = [str(HOME / "bin" / "spark-submit"), "--master", master, "--archives", archive, *small]
    loopback = ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"]
    finished([*submit, *loopback, "driver.py", *run, "--output", "out.jsonl"], folder, env)
    assert (folder / "out.jsonl").read_text() == expected
