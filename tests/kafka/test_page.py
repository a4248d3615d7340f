"""What the page about alerts shows, with a broker: its files, its command, the alerts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from docs.markdown import commands
from kafka.conftest import Topics
from patience import PATIENCE

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs/how-to/alerts.md"


def test_alerts(topics: Topics, tmp_path: Path) -> None:
    (setup, _), (block, expected) = commands(PAGE.read_text("utf-8"), ("sh", "sh kafka"))
    subprocess.run(["bash", "-eu", "-c", setup.text.rpartition("scepter run")[0]], cwd=tmp_path, check=True, timeout=PATIENCE)
    readings, alerts = topics.new(), topics.new()
    topics.fill(readings, (tmp_path / "readings.jsonl").read_text().splitlines())
    command = block.text.replace("localhost:9092", topics.broker.address)
    command = command.replace("/readings ", f"/{readings} ").replace("/alerts?", f"/{alerts}?")
    command = command.replace("scepter run", f"{sys.executable} -m scepter run")
    done = subprocess.run(
        ["bash", "-eu", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert expected is not None
    assert (done.returncode, done.stdout + done.stderr) == (0, expected.text)
    (message,) = topics.read(alerts)
    assert message.key() == b"http://example/f1"
    assert json.loads(message.value())["bindings"]["after"]["value"] == "-12"
