"""A live run that is disturbed: the events it reads, how far it is, and what it must give all the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from buckets import triples
from patience import awaited
from scepter.rdf.terms import Literal
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind
from spark.live_run import QUERIES, WHOLE
from spark_answers import write_events

SCRIPT = Path(__file__).with_name("live_run.py")
BATCHES = 6


def at(time: int, text: str) -> TimelineEvent:
    return TimelineEvent("e", time, time, TimeKind.INTEGER, tuple(triples(text)), 0)


class Disturbed:
    """A run over a folder of micro-batches."""

    def __init__(self, folder: Path, language: str, master: str) -> None:
        self.folder = folder
        self.language = language
        self.master = master
        self.partitions = 1
        self.checkpoint = folder / "checkpoint"
        self.parts = _parts(seed=4)
        # elsewhere than in continuous integration other points each time; the log tells which
        self._draw = random.Random(seed := 4 if os.environ.get("CI") else random.SystemRandom().randrange(1_000))
        (folder / "log").write_text(f"seed {seed}\n")
        (folder / "events").mkdir()
        (folder / "staged").mkdir()
        for number, part in enumerate(self.parts):
            path = folder / "staged" / f"{number:04}.parquet"
            write_events(path, part)
            os.utime(path, (1_000_000 + number, 1_000_000 + number))

    def give(self, parts: int) -> None:
        """Let it have the first so many parts."""
        for path in sorted((self.folder / "staged").iterdir()):
            if int(path.stem) < parts:
                path.replace(self.folder / "events" / path.name)

    def give_all(self) -> None:
        """Let it have the rest, and say that this is all."""
        self.give(len(self.parts))
        (self.folder / WHOLE).touch()

    def start(self, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """The driver, in a session of its own: its JVM and its workers can be killed with it."""
        places = [str(self.folder / name) for name in ("events", "checkpoint", "output")]
        command = [sys.executable, str(SCRIPT), self.language, self.master, str(self.partitions), *places]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=env)

    def points(self, count: int) -> list[int]:
        """Micro-batches after which to disturb it."""
        return sorted(self._draw.sample(range(1, BATCHES), count))

    def await_batches(self, goal: int, process: subprocess.Popen[bytes]) -> None:
        """Until so many micro-batches are done, and then somewhere within the next. It has two parts more to go on with, and
        cannot come to its end however long that takes."""
        self.give(goal + 2)
        awaited(lambda: self.committed() >= goal or process.poll() is not None, self.log)
        time.sleep(self._draw.uniform(0, 0.3))
        assert process.poll() is None, self.log()
        assert goal <= self.committed(), self.log()

    def committed(self) -> int:
        commits = self.checkpoint / "commits"
        return sum(path.name.isdigit() for path in commits.iterdir()) if commits.is_dir() else 0

    def log(self) -> str:
        text = (self.folder / "log").read_text(errors="replace")
        return f"{text.splitlines()[0]}\n{text[-3000:]}"

    def check(self, spark: SparkSession) -> None:
        """Its rows are those of a run that nobody disturbed."""
        rows = spark.read.parquet(str(self.folder / "output")).collect()
        wanted = self._undisturbed()
        assert len(wanted) > 30
        assert Counter(tuple(row) for row in rows) == wanted, self.log()

    def _undisturbed(self) -> Counter[object]:
        query = parse(QUERIES[self.language], self.language)
        engine = Engine(query)
        found = engine.push_all(Event("http://example/s", e.triples, e.start, e.end) for part in self.parts for e in part)
        shown = ({k: t.lexical if isinstance(t, Literal) else t.value for k, t in m.bindings.items()} for m in found)  # type: ignore[union-attr]
        names = query.variables
        return Counter((m.start, m.end, *(row[n] for n in names)) for m, row in zip(found, shown, strict=True))


def _parts(seed: int) -> list[list[TimelineEvent]]:
    draw = random.Random(seed)
    texts = [f":s{draw.randrange(4)} :{draw.choice('abbbc')} {draw.randrange(9)} ." for _ in range(BATCHES * 45)]
    events = [at(2 + number // 3, text) for number, text in enumerate(texts)]
    parts = [events[i : i + 45] for i in range(0, len(events), 45)]
    return [*parts, [at(90_000, ":far :away true .")], [at(90_001, ":far :away true .")]]
