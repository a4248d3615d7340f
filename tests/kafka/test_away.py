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
from scepter.kafka.address import parse_address
from scepter.kafka.messages import Span, read_span

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
