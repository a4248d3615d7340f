"""Live runs that are disturbed: killed (driver and workers, by SIGKILL, anywhere), left without a place on the disk, given a
broken checkpoint or files whose times jump. Every match and every dead letter once.

The files of a stream are given one by one, the next when the one before is done, so that the micro-batches of a disturbed run
hold what those of an undisturbed one hold. What lies in the past of a run is compared as a bag of lines. The answers of the
last instants are certain only behind the last file. They come in a micro-batch without data, which Spark takes or not: a run
that was killed takes none before there is data again. So such answers may be there or not, but once.

A full disk and a broken checkpoint may end a run, with an error that is no fault of scepter; what was written stays as it
was, and the run goes on when the disk has room and the checkpoint is whole again.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from torture.programs import STREAM, far_times, program, stream

PATIENCE: Final = 900.0
"""Seconds to wait for anything: a machine may be busy, and nothing is concluded from time but that it never ends."""
DISORDER: Final = 4
ADVANCE: Final = 2_000
"""By how much one event alone may move time on, in the runs that say so."""
WORKERS: Final = 0.5
"""The share of kills that end a worker. Of a run that starts they wait for one: most of its time it has none."""
AT_WORK: Final = 0.1
"""How long workers are left at work before one is killed, as a share of the time that a run takes to its first answers."""
ALONE: Final = 0.3
"""The share of killed drivers whose JVM is left to find out by itself, while the next driver starts."""
_MARK: Final = "SPARK_CONF_DIR"
_LOOK: Final = 0.05
_DAY: Final = 86_400


class Stuck(AssertionError):
    """A run that does not come to its end."""


@dataclass(slots=True)
class Run:
    """A followed run in a folder of its own."""

    folder: Path
    language: str
    seed: int
    texts: list[str]
    options: tuple[str, ...] = ()
    """Of the command line, besides those that every run has."""
    kills: Counter[str] = field(default_factory=Counter)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        (self.folder / "in").mkdir(parents=True)
        self.kept.mkdir()
        (self.folder / "query").write_text(program(self.language, self.seed).text)

    @property
    def kept(self) -> Path:
        """Where the checkpoint is, and what is written."""
        return self.folder / "kept"

    def start(self) -> None:
        """The driver; its environment tells whose it is, so that its JVM and its workers are found and killed with it."""
        place = self.folder
        command = [
            sys.executable, "-m", "scepter", "run", str(place / "query"), "--language", self.language,
            "--stream", f"{STREAM}={place / 'in'}", "--follow", "--checkpoint", str(self.kept / "checkpoint"),
            "--output", str(self.kept / "out.jsonl"), "--dead-letter", str(self.kept / "dead.jsonl"), "--format", "jsonl",
            "--max-delay", str(DISORDER), "--master", "local[2]", *program(self.language, self.seed).options, *self.options,
        ]  # fmt: skip
        small = {_MARK: str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
        with (place / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env={**os.environ, **small}, stdin=subprocess.DEVNULL
            )

    def put(self, number: int, jump: int = 0) -> None:
        """The next file, complete when it appears; its time is one behind the last one's, unless the clock jumps."""
        draft = self.folder / f"draft-{number}"
        draft.write_text(self.texts[number])
        os.utime(draft, (1_000_000 + number + jump, 1_000_000 + number + jump))
        draft.replace(self.folder / "in" / f"{number:04}.nq")

    def done(self) -> int:
        """How many files have been read, and their micro-batches written."""
        offsets = self.kept / "checkpoint" / "spark" / "offsets"
        commits = self.kept / "checkpoint" / "spark" / "commits"
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

    def kill(self, draw: random.Random, span: float) -> None:
        """Kill the driver within `span` seconds, mostly with all it started, or one of its workers, which Spark replaces."""
        assert self.process is not None
        if draw.random() < WORKERS:
            self.workers()
            time.sleep(draw.uniform(0, AT_WORK * span))
            self.kills["worker"] += 1
            _end(draw.choice(self.workers()))
            return
        time.sleep(draw.uniform(0, span))  # anywhere: while it starts, reads, writes, or is done
        self.kills["driver"] += 1
        if draw.random() < ALONE:
            _end(self.process.pid)
            self.process.wait()
        else:
            self.end_all()
        self.start()

    def workers(self) -> list[int]:
        """The processes that run Python for Spark, as soon as there are some."""
        assert self.process is not None
        deadline = time.monotonic() + PATIENCE
        while not (found := _workers(self.folder)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Stuck(f"the run has no workers\n{self.log()}")
            time.sleep(_LOOK)
        return found

    def end_all(self) -> None:
        """Kill the driver with all it has started."""
        assert self.process is not None
        for pid in _started(self.folder):
            _end(pid)
        self.process.wait()

    def ends_or_does(self, files: int) -> bool:
        """Whether the run ends by itself before so many files are done; one that has done them goes on."""
        deadline = time.monotonic() + PATIENCE
        while self.done() < files:
            assert self.process is not None
            if self.process.poll() is not None:
                for pid in _started(self.folder):
                    _end(pid)
                return True
            if time.monotonic() > deadline:
                raise Stuck(f"{files} files are not done, and the run does not end\n{self.log()}")
            time.sleep(_LOOK)
        return False

    def break_checkpoint(self, draw: random.Random, files: int) -> None:
        """Kill the driver and damage a file of its checkpoint. The run is refused and writes nothing, or goes on as if nothing
        had happened; refused, it goes on from the whole checkpoint. What it has not needed so far a later start may need: it is
        given back too."""
        self.end_all()
        self.kills["checkpoint"] += 1
        whole = self.folder / "whole"
        shutil.copytree(self.kept, whole)
        victims = sorted(path for path in (self.kept / "checkpoint").rglob("*") if path.is_file())
        victim = draw.choice(victims) if victims else None
        if victim is not None:
            _damage(victim, draw)
        damaged = _bytes(victim)
        before = self.written()
        self.start()
        if self.ends_or_does(files):
            if self.written() != before:
                raise Stuck(f"a run that was refused has written\n{self.log()}")
            shutil.rmtree(self.kept / "checkpoint")
            shutil.copytree(whole / "checkpoint", self.kept / "checkpoint")
            self.start()
        elif victim is not None and victim.parent.is_dir() and _bytes(victim) == damaged:
            shutil.copy2(whole / victim.relative_to(self.kept), victim)
        shutil.rmtree(whole, ignore_errors=True)

    def fill_disk(self, files: int) -> None:
        """Leave no room on the disk of the checkpoint and the output until the run ends, or has found a way."""
        self.kills["disk"] += 1
        filler = self.kept / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 12))
        ended = self.ends_or_does(files)
        filler.unlink()
        if ended:
            self.start()

    def stop(self) -> None:
        """Ask it to end, as a service manager does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        finally:
            for pid in _started(self.folder):
                _end(pid)

    def written(self) -> tuple[Counter[str], Counter[str]]:
        """The lines of matches and of dead letters; paths are told apart from the folder they stand in."""
        found = []
        for name in ("out.jsonl", "dead.jsonl"):
            path = self.kept / name
            text = path.read_text() if path.exists() else ""
            found.append(Counter(text.replace(str(self.folder), "").splitlines()))
        return found[0], found[1]

    def log(self) -> str:
        """The end of what it said."""
        return (self.folder / "log").read_text(errors="replace")[-4_000:]


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _started(folder: Path) -> list[int]:
    """The processes of a run, from /proc: the driver, its JVM, which has a session of its own, and the JVM's Python workers.
    They are told by what their environment says, which they keep when the one who started them is gone."""
    mark = f"{_MARK}={folder}\0".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _bytes(path: Path | None) -> bytes | None:
    return path.read_bytes() if path is not None and path.exists() else None


def _damage(path: Path, draw: random.Random) -> None:
    """Truncate a file, flip a bit of it, or take it away."""
    data = bytearray(path.read_bytes())
    match draw.randrange(3) if data else 2:
        case 0:
            path.write_bytes(data[: draw.randrange(len(data))])
        case 1:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            path.write_bytes(data)
        case _:
            path.unlink()


@contextlib.contextmanager
def small_disk(place: Path, size: str = "4m") -> Iterator[bool]:
    """A disk of its own for a folder, where the machine lets us have one (Linux, root); tells whether there is one."""
    mounted = shutil.which("mount") is not None and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "torture", str(place)], check=False, capture_output=True
    ).returncode  # fmt: skip
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=False)


def _workers(folder: Path) -> list[int]:
    found = []
    for pid in _started(folder):
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
    kills: Counter[str]
    """What was done to it, and how often."""
    differences: tuple[str, ...]


def compare(folder: Path, language: str, seed: int, kills: int, *, files: int = 4, events: int = 40, worse: int = 0) -> Outcome:
    """Run a program undisturbed and disturbed over the same input, and tell what differs. `worse` is how many disturbances
    there are besides the kills: broken checkpoints, a full disk, a clock that jumps."""
    leaps = seed % 2 == 1
    texts = stream(seed, files, events, DISORDER, leaps=leaps)
    options = ("--max-advance", str(ADVANCE)) if leaps else ()
    calm = Run(folder / "calm", language, seed, texts, options)
    started, pace = time.monotonic(), 0.0
    calm.start()
    for number in range(len(texts)):
        calm.put(number)
        calm.wait(number + 1)
        if not number:
            pace = time.monotonic() - started
    calm.stop()
    disturbed = Run(folder / "disturbed", language, seed, texts, options)
    with small_disk(disturbed.kept) if worse else contextlib.nullcontext(False) as small:
        try:
            _disturb(disturbed, kills, random.Random(f"kills {seed}"), worse, small, 1.2 * pace)
            got = disturbed.written()
        finally:
            disturbed.end_all()
    *_, certain, _ = far_times(files, events, leaps=leaps)
    wanted = calm.written()
    differences = differing("match", *(without_last(each[0], certain - DISORDER) for each in (wanted, got)))
    differences += differing("letter", wanted[1], got[1])
    differences += [f"traceback in {run.folder}" for run in (calm, disturbed) if "error[internal]" in run.log()]
    matches, letters = wanted
    return Outcome(matches.total(), letters.total(), disturbed.kills, tuple(differences))


def without_last(matches: Counter[str], certain: int) -> Counter[str]:
    """The lines of matches, apart from the first of each that ends at such a time or later."""
    return Counter({line: count - (json.loads(line)["end"] >= certain) for line, count in matches.items()})


def differing(name: str, wanted: Counter[str], found: Counter[str]) -> list[str]:
    """What was lost, and what came more than once."""
    lost = [f"{name} lost: {line}" for line in (wanted - found).elements()]
    return lost + [f"{name} doubled or new: {line}" for line in (found - wanted).elements()]


def _disturb(run: Run, kills: int, draw: random.Random, worse: int, small: bool, span: float) -> None:
    """Disturb a run anywhere; `span` seconds are a little more than it takes to start and to write its first answers."""
    run.start()
    points = Counter(draw.randrange(len(run.texts)) for _ in range(kills))
    others = Counter((draw.randrange(1, len(run.texts)), draw.choice(["checkpoint", "disk", "clock"])) for _ in range(worse))
    for number in range(len(run.texts)):
        jump = draw.randrange(-3 * _DAY, 3 * _DAY) if others[number, "clock"] else 0
        run.kills["clock"] += others[number, "clock"]
        run.put(number, jump)
        if small and others[number, "disk"]:
            run.fill_disk(number + 1)
        for _ in range(points[number]):
            run.kill(draw, span)
        if others[number, "checkpoint"]:
            time.sleep(draw.uniform(0, span))
            run.break_checkpoint(draw, number + 1)
        run.wait(number + 1)
    run.stop()
