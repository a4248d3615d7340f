"""A Kafka broker of one's own, on loopback: for tests, measurements and the demonstration.

Apache Kafka in KRaft mode, one process, from the artifacts that Maven fetches once into a cache folder. It needs Java and, the
first time, Maven. It ends with the process that started it: a broker that outlives its test would be found by the next one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

VERSION: Final = "4.3.0"
_POM: Final = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>scepter</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version></dependency>
  </dependencies>
</project>
"""
_PROPERTIES: Final = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.ms=-1
"""
_FETCH_SECONDS: Final = 600
_START_SECONDS: Final = 120
_END_SECONDS: Final = 30
_LOOK: Final = 0.1


class NoBroker(Exception):
    """Why no broker can be had here."""


def artifacts() -> Path:
    """The folder with Kafka's jars, fetched if it is not there; NoBroker if they cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("SCEPTER_CACHE") or cache / "scepter") / "kafka" / VERSION
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise NoBroker("Kafka's artifacts are not in the cache, and there is no Maven (mvn) to fetch them")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as draft:
        pom = Path(draft) / "pom.xml"
        pom.write_text(_POM.format(version=VERSION), encoding="utf-8")
        jars = Path(draft) / "jars"
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime"]
        try:
            subprocess.run([*command, f"-DoutputDirectory={jars}"], check=True, capture_output=True, timeout=_FETCH_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            raise NoBroker(f"Maven could not fetch Kafka {VERSION}: {error}") from None
        with suppress(OSError):  # somebody else was faster
            jars.rename(folder)
    return folder


class Broker:
    """A broker with its data in a folder; it can be stopped, killed and started again on them, at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, controller = _free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self._java = shutil.which("java")
        if self._java is None:
            raise NoBroker("there is no Java on the PATH")
        self._jars = artifacts()
        self._process: subprocess.Popen[bytes] | None = None
        self._data = folder / "data"
        self._data.mkdir(parents=True)
        self._properties = folder / "server.properties"
        text = _PROPERTIES.format(port=self.port, controller=controller, folder=self._data)
        self._properties.write_text(text, encoding="utf-8")
        # what the tool `kafka-storage format` would write
        told = {"version": 1, "cluster.id": _identifier(), "node.id": 1, "directory.id": _identifier()}
        lines = "".join(f"{name}={value}\n" for name, value in told.items())
        (self._data / "meta.properties").write_text(lines, encoding="utf-8")

    def start(self) -> None:
        """Starts it and waits until it answers."""
        command = [str(self._java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{self._jars}/*"]
        with (self.folder / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _GUARD, *command, "kafka.Kafka", str(self._properties)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self.folder,
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise NoBroker(f"the broker does not start: {self.log()}")
            time.sleep(_LOOK)

    def stop(self) -> None:
        """Ends it in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it at once."""
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        # the guard hands the signal on and ends with the broker
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(b"kill\n" if number == signal.SIGKILL else b"stop\n")
            process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log(self) -> str:
        """The end of what it said."""
        path = self.folder / "broker.log"
        return path.read_text(encoding="utf-8", errors="replace")[-2000:] if path.exists() else ""

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False


_GUARD: Final = """
import subprocess, sys, threading
broker = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def wait():
    # the pipe is closed when the process at its other end is gone, however it ended
    told = sys.stdin.buffer.readline()
    broker.terminate() if told == b"stop\\n" else broker.kill()
threading.Thread(target=wait, daemon=True).start()
sys.exit(broker.wait())
"""


@contextmanager
def broker(topics: Sequence[str] = (), partitions: int = 1) -> Iterator[Broker]:
    """A broker with some topics, for as long as the block runs; NoBroker if none can be had."""
    with tempfile.TemporaryDirectory(prefix="scepter-kafka-", ignore_cleanup_errors=True) as folder:
        found = Broker(Path(folder) / "broker")
        found.start()
        try:
            create_topics(found.address, dict.fromkeys(topics, partitions))
            yield found
        finally:
            found.stop()


def create_topics(address: str, topics: dict[str, int]) -> None:
    """Makes topics with so many partitions each."""
    from confluent_kafka.admin import AdminClient, NewTopic

    if not topics:
        return
    admin = AdminClient({"bootstrap.servers": address})
    made = admin.create_topics([NewTopic(name, count, 1) for name, count in topics.items()])
    for future in made.values():
        future.result(_START_SECONDS)


def _identifier() -> str:
    return urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def send(address: str, topic: str, messages: Iterable[tuple[bytes, int, int]]) -> None:
    """Messages with their partitions and times, in milliseconds, all of them before it returns."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": address, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for value, partition, time_of in messages:
        producer.produce(topic, value, partition=partition, timestamp=time_of)
        producer.poll(0)
    producer.flush()
