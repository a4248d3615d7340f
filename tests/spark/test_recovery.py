"""A driver that is killed in mid-stream and started again gives every match once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from buckets import triples
from scepter.rdf.terms import Literal
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind
from spark.live_run import QUERY
from spark_answers import write_events

SCRIPT = Path(__file__).with_name("live_run.py")
BATCHES = 8
PATIENCE = 600
"""Seconds; a machine may be busy."""


def at(time: int, text: str) -> TimelineEvent:
    return TimelineEvent("e", time, time, TimeKind.INTEGER, tuple(triples(text)), 0)


def events(seed: int) -> list[TimelineEvent]:
    draw = random.Random(seed)
    texts = (f":s{draw.randrange(4)} :{draw.choice('abbbc')} {draw.randrange(9)} ." for _ in range(BATCHES * 45))
    found = [at(2 + number // 3, text) for number, text in enumerate(texts)]
    return [*found, at(90_000, ":far :away true ."), at(90_001, ":far :away true .")]


def undisturbed(stream: list[TimelineEvent]) -> Counter[object]:
    engine = Engine(parse(QUERY, "spaseq"))
    found = engine.push_all(Event("http://example/s", e.triples, e.start, e.end) for e in stream)
    shown = ({k: t.lexical if isinstance(t, Literal) else t.value for k, t in m.bindings.items()} for m in found)  # type: ignore[union-attr]
    return Counter((m.start, m.end, row["s"], row["v"], row["w"], row["n"]) for m, row in zip(found, shown, strict=True))


def committed(checkpoint: Path) -> int:
    """How many micro-batches are done."""
    commits = checkpoint / "commits"
    return sum(path.name.isdigit() for path in commits.iterdir()) if commits.is_dir() else 0


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(SCRIPT), *(str(folder / name) for name in ("events", "checkpoint", "output"))]
    with (folder / "log").open("ab") as log:
        # a session of its own: the JVM and the workers are killed with the driver
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_matches_after_kills_are_those_of_an_undisturbed_run(spark: SparkSession, tmp_path: Path) -> None:
    stream = events(seed=4)
    folder = tmp_path / "events"
    folder.mkdir()
    size = len(stream) // BATCHES
    parts = [stream[i : i + size] for i in range(0, len(stream) - 2, size)] + [[stream[-2]], [stream[-1]]]
    for number, part in enumerate(parts):
        write_events(folder / f"{number:04}.parquet", part)
        os.utime(folder / f"{number:04}.parquet", (1_000_000 + number, 1_000_000 + number))
    draw = random.Random(5)
    deadline = time.monotonic() + PATIENCE
    for goal in (2, 5):
        process = start(tmp_path)
        while committed(tmp_path / "checkpoint") < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(draw.random() / 2)  # anywhere within a micro-batch
        assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
        kill(process)
        assert goal <= committed(tmp_path / "checkpoint") < len(parts)
    process = start(tmp_path)
    assert process.wait(PATIENCE) == 0, (tmp_path / "log").read_text()[-3000:]
    rows = spark.read.parquet(str(tmp_path / "output")).collect()
    wanted = undisturbed([e for part in parts for e in part])
    assert len(wanted) > 30
    assert Counter(tuple(row) for row in rows) == wanted
