"""A broker that goes away and comes back; and the demonstration."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka.conftest import Topics
from kafka.events import event
from scepter.bench.broker import NoBroker, broker
from scepter.kafka import transactions
from scepter.kafka.address import parse_address
from scepter.kafka.messages import Span, read_span
from scepter.kafka.transactions import Mark, Outgoing, Transactions

pytestmark = pytest.mark.slow
DEMO = Path(__file__).parents[2] / "examples" / "kafka-demo" / "run"


def test_reading_goes_on_when_the_broker_is_back(topics: Topics) -> None:
    with broker() as running:  # one that others do not need meanwhile
        mine = Topics(running)
        topic = mine.new()
        mine.fill(topic, [event(time) for time in range(10)])
        address = parse_address(mine.url(topic))
        running.kill()
        back = threading.Thread(target=running.start)
        back.start()
        read = [message.value() for hand in read_span(address, Span(0, 0, 10)) for message in hand]
        back.join()
        assert read == [event(time).encode() for time in range(10)]


def test_writing_goes_on_when_the_broker_is_back(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_STUCK", 5.0)  # librdkafka would wait for ever
    with broker() as running:
        mine = Topics(running)
        topic = mine.new()
        writing = Transactions(parse_address(mine.url(topic)), "run")
        assert writing.marks([(topic, 0)]) == {}
        writing.write([Outgoing("a", "a", "1")], [Mark(topic, 0, 1)])
        # a broker alone that is killed before it has marked its logs may lose the transaction that it has just told
        assert [message.value() for message in mine.read(topic)] == [b"1"]
        assert writing.marks([(topic, 0)]) == {(topic, 0): Mark(topic, 0, 1)}
        running.kill()
        running.start()
        writing.write([Outgoing("b", "b", "2")], [Mark(topic, 0, 2)])
        assert [message.value() for message in mine.read(topic)] == [b"1", b"2"]
        assert writing.marks([(topic, 0)]) == {(topic, 0): Mark(topic, 0, 2)}
        writing.close()


def test_the_demonstration(topics: Topics) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        [sys.executable, str(DEMO)], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False
    )
    assert found.returncode == 0, found.stderr
    assert "http://example/f1  2026-03-02T08:00:00Z to 2026-03-02T08:02:00Z" in found.stdout
    assert len(found.stdout.splitlines()) == 4


def test_why_there_is_no_broker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: "java" if name == "java" else None)
    with pytest.raises(NoBroker, match="there is no Maven"), broker():
        pass
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(NoBroker, match="there is no Java"), broker():
        pass
