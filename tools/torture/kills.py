"""Live runs that are killed: driver and workers, by SIGKILL, anywhere. Every match and every dead letter once.

The files of a stream are given one by one, the next when the one before is done, so that the micro-batches of a disturbed run
hold what those of an undisturbed one hold. What lies in the past of a run is compared as a bag of lines.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from torture.programs import STREAM, program, stream

PATIENCE: Final = 900.0
"""Seconds to wait for anything: a machine may be busy, and nothing is concluded from time but that it never ends."""
DISORDER: Final = 4
_LOOK: Final = 0.05


class Stuck(AssertionError):
    """A run that does not come to its end."""


@dataclass(slots=True)
class Run:
    """A followed run in a folder of its own."""

    folder: Path
    language: str
    seed: int
    texts: list[str]
    kills: Counter[str] = field(default_factory=Counter)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        (self.folder / "in").mkdir(parents=True)
        (self.folder / "query").write_text(program(self.language, self.seed))

    def start(self) -> None:
        """The driver, in a session of its own, so that its JVM and its workers are found and killed with it."""
        place = self.folder
        command = [
            sys.executable, "-m", "scepter", "run", str(place / "query"), "--language", self.language,
            "--stream", f"{STREAM}={place / 'in'}", "--follow", "--checkpoint", str(place / "checkpoint"),
            "--output", str(place / "out.jsonl"), "--dead-letter", str(place / "dead.jsonl"), "--format", "jsonl",
            "--max-delay", str(DISORDER), "--master", "local[2]",
        ]  # fmt: skip
        small = {"SPARK_CONF_DIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
        with (place / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env={**os.environ, **small}, stdin=subprocess.DEVNULL
            )

    def put(self, number: int) -> None:
        """The next file, complete when it appears, and younger than those before."""
        draft = self.folder / f"draft-{number}"
        draft.write_text(self.texts[number])
        os.utime(draft, (1_000_000 + number, 1_000_000 + number))
        draft.replace(self.folder / "in" / f"{number:04}.nq")

    def done(self) -> int:
        """How many files have been read, and their micro-batches written."""
        offsets = self.folder / "checkpoint" / "spark" / "offsets"
        commits = self.folder / "checkpoint" / "spark" / "commits"
        if not commits.is_dir():
            return 0
        committed = [int(path.name) for path in commits.iterdir() if path.name.isdigit()]
        if not committed or not (offsets / str(max(committed))).exists():
            return 0
        return (offsets / str(max(committed))).read_text(errors="replace").count('.nq"')

    def wait(self, files: int) -> None:
        """Until so many files are done."""
        deadline = time.monotonic() + PATIENCE
        while self.done() < files:
            if self.process is None or self.process.poll() is not None:
                raise Stuck(f"the run has ended by itself\n{self.log()}")
            if time.monotonic() > deadline:
                raise Stuck(f"{files} files are not done\n{self.log()}")
            time.sleep(_LOOK)

    def kill(self, draw: random.Random) -> None:
        """Kill the driver with all it has started, or one of its workers, which Spark replaces."""
        assert self.process is not None
        workers = _workers(self.process.pid)
        if workers and draw.random() < 0.4:
            self.kills["worker"] += 1
            _end(draw.choice(workers))
            return
        self.kills["driver"] += 1
        for pid in [self.process.pid, *_session(self.process.pid)]:
            _end(pid)
        self.process.wait()
        self.start()

    def stop(self) -> None:
        """Ask it to end, as a service manager does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        finally:
            for pid in _session(self.process.pid):
                _end(pid)

    def written(self) -> tuple[Counter[str], Counter[str]]:
        """The lines of matches and of dead letters; paths are told apart from the folder they stand in."""
        found = []
        for name in ("out.jsonl", "dead.jsonl"):
            path = self.folder / name
            text = path.read_text() if path.exists() else ""
            found.append(Counter(text.replace(str(self.folder), "").splitlines()))
        return found[0], found[1]

    def log(self) -> str:
        """The end of what it said."""
        return (self.folder / "log").read_text(errors="replace")[-4_000:]


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    """The processes of a session, from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and int(entry.name) != leader:
                found.append(int(entry.name))
    return found


def _workers(leader: int) -> list[int]:
    found = []
    for pid in _session(leader):
        try:
            command = (Path("/proc") / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue
        if b"daemon" in command and b"python" in command.split(b"\0")[0]:
            found.append(pid)
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a disturbed run."""

    matches: int
    letters: int
    kills: int
    differences: tuple[str, ...]


def compare(folder: Path, language: str, seed: int, kills: int, *, files: int = 4, events: int = 40) -> Outcome:
    """Run a program undisturbed and disturbed over the same input, and tell what differs."""
    texts = stream(seed, files, events, DISORDER)
    calm = Run(folder / "calm", language, seed, texts)
    calm.start()
    for number in range(len(texts)):
        calm.put(number)
        calm.wait(number + 1)
    calm.stop()
    disturbed = Run(folder / "disturbed", language, seed, texts)
    _disturb(disturbed, kills, random.Random(f"kills {seed}"))
    differences = []
    for name, wanted, got in zip(("match", "letter"), calm.written(), disturbed.written(), strict=True):
        differences += [f"{name} lost: {line}" for line in (wanted - got).elements()]
        differences += [f"{name} doubled or new: {line}" for line in (got - wanted).elements()]
    differences += [f"traceback in {run.folder}" for run in (calm, disturbed) if "error[internal]" in run.log()]
    matches, letters = calm.written()
    return Outcome(matches.total(), letters.total(), disturbed.kills.total(), tuple(differences))


def _disturb(run: Run, kills: int, draw: random.Random) -> None:
    run.start()
    points = Counter(draw.randrange(len(run.texts)) for _ in range(kills))
    for number in range(len(run.texts)):
        run.put(number)
        for _ in range(points[number]):
            time.sleep(draw.uniform(0, 6))  # anywhere: while it starts, reads, writes, or is done
            run.kill(draw)
        run.wait(number + 1)
    run.stop()
