"""A standalone cluster of the pip package on the loopback interface, as docs/guide/cluster.md says."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from batches import at_time, integer, quad
from patience import PATIENCE, awaited
from scepter.runtime.spark.java import java_home
from scepter.runtime.spark.session import BRIEF_JVM
from spark.disturbed import Disturbed

HOME = Path(pyspark.__file__).parent
QUERY = """\
PREFIX : <http://e/>
SELECT ?x WITHIN 10 FROM STREAM S <http://e/s>
WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x :v ?a } DEFINE GPM B ON S { ?x :v ?b FILTER(?b > ?a) } }
"""
DEPLOY = "org.apache.spark.deploy"
DRIVER = "from scepter.cli.main import main\n\nmain()\n"

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    # a dozen JVMs, none of which lives long
    quick = {"JDK_JAVA_OPTIONS": " ".join((*BRIEF_JVM, "-XX:-UsePerfData"))}
    return {**kept, **quick, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(java_home()), **more}


def started(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.log").open("wb") as log:
        command = [str(HOME / "bin" / "spark-class"), *arguments]
        # a session of its own: what a worker has started can be killed with it
        return subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=environment(), start_new_session=True
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a machine dies: the process and all it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def await_lines(log: Path, words: str, count: int) -> None:
    awaited(
        lambda: log.exists() and log.read_text(errors="replace").count(words) >= count,
        lambda: f"{log} never said {words!r}: {log.read_text(errors='replace')}",
    )


class Cluster:
    """A master and workers of one core each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        place = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
        self._master = started(folder, "master", f"{DEPLOY}.master.Master", *place, "--port", str(port))
        self.workers: list[subprocess.Popen[bytes]] = []
        await_lines(folder / "master.log", "Starting Spark master", 1)

    def start_worker(self) -> None:
        number = len(self.workers)
        size = ("-c", "1", "-m", "700m", "-d", str(self._folder / f"work{number}"))
        place = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
        self.workers.append(started(self._folder, f"worker{number}", f"{DEPLOY}.worker.Worker", *size, *place, self.url))
        await_lines(self._folder / "master.log", "Registering worker", number + 1)

    def stop(self) -> None:
        for process in (*self.workers, self._master):
            if process.poll() is None:
                stop(process)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    with ExitStack() as running:
        running.callback(found.stop)
        for _ in range(2):
            found.start_worker()
        yield found


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
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scepter_run_and_spark_submit_with_a_packed_environment(cluster: Cluster, folder: Path) -> None:
    master = cluster.url
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


def test_matches_are_the_same_when_workers_die(cluster: Cluster, spark: SparkSession, tmp_path: Path) -> None:
    run = Disturbed(tmp_path, "ep-sparql", cluster.url)
    driver = run.start(environment())
    try:
        for goal in run.points(2):
            run.await_batches(goal, driver)
            kill(next(worker for worker in cluster.workers if worker.poll() is None))
            cluster.start_worker()  # as whoever supervises workers would
        run.give_all()
        assert driver.wait(PATIENCE) == 0, run.log()
    finally:
        if driver.poll() is None:
            kill(driver)
    run.check(spark)
