"""`scepter run --follow`: matches as they become certain, until SIGTERM or Ctrl-C; from a checkpoint, nothing lost or twice."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

import typer

from scepter.cli.execute import Job, shape
from scepter.cli.progress import tell_counts
from scepter.cli.spark import check_followed, live_table
from scepter.cli.target import Target, kafka_output, lasting_name
from scepter.errors import option_error
from scepter.io.dead_letters import DeadLetterSink
from scepter.io.kafka_output import BatchOutput
from scepter.io.results import ResultWriter, open_writer
from scepter.runtime.matches import Match
from scepter.runtime.notices import Notices, received
from scepter.runtime.queries import check_endless
from scepter.runtime.spark.answers import kind_of
from scepter.runtime.spark.follow import Standing, follow
from scepter.runtime.spark.letters import drained
from scepter.timeline import TimeKind, format_instant, parse_datetime

_RECORD = "output.json"


@dataclass(frozen=True, slots=True)
class Written:
    """How far an output is: the last micro-batch in it, and its bytes up to there."""

    batch: int = -1
    bytes: int = 0


class FollowedOutput:
    """Writes micro-batches, each once: what a crash left half-written is cut off, what is there already is not repeated.

    Without a checkpoint, or to standard output, it just writes.
    """

    def __init__(self, output: Path | None, checkpoint: Path | None, open_on: Callable[[TextIO], ResultWriter]) -> None:
        self._record = None if checkpoint is None or output is None else checkpoint / _RECORD
        self._open_on = open_on
        self._written = _recorded(self._record)
        self._out: TextIO = sys.stdout
        self._file: io.BufferedRandom | None = None
        if output is not None:
            self._file = _opened(output, self._written)
            self._out = io.TextIOWrapper(self._file, encoding="utf-8", newline="", write_through=True)
        self._writer = self._begun()

    def _begun(self) -> ResultWriter:
        writer = self._open_on(self._out)
        if self._file is not None and self._written.batch >= 0:
            self._cut()  # takes away the heading that a file already has
        return writer

    def take(self, batch: int, matches: Sequence[Match]) -> int:
        """Write the matches of a micro-batch; how many were."""
        if batch <= self._written.batch:
            return 0
        for match in matches:
            self._writer.write(match)
        self._writer.close()
        self._keep(batch)
        return len(matches)

    def _keep(self, batch: int) -> None:
        self._out.flush()
        if self._file is None or self._record is None:
            return
        os.fsync(self._file.fileno())
        self._written = Written(batch, self._file.tell())
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps({"batch": self._written.batch, "bytes": self._written.bytes}), encoding="utf-8")
        draft.replace(self._record)

    def _cut(self) -> None:
        assert self._file is not None
        self._out.flush()
        self._file.truncate(self._written.bytes)
        self._file.seek(self._written.bytes)

    def close(self) -> None:
        """Hand everything on."""
        self._out.flush()
        if self._file is not None:
            self._out.close()


def _recorded(record: Path | None) -> Written:
    if record is None or not record.exists():
        return Written()
    return Written(**json.loads(record.read_text(encoding="utf-8")))


def _opened(output: Path, written: Written) -> io.BufferedRandom:
    size = output.stat().st_size if output.exists() else 0
    if size < written.bytes:
        raise option_error(
            "output-changed",
            f"{output} has {size} bytes, and the run that goes on had written {written.bytes}",
            help="give back the file, or start anew with another --checkpoint",
        )
    file = output.open("r+b" if written.bytes else "w+b")
    file.truncate(written.bytes)
    file.seek(written.bytes)
    return file


def check_follow(job: Job, format: str, output: Path | None = None) -> None:
    """Refuse what a run that goes on cannot do, before Spark is started."""
    check_followed(job.sources)
    check_endless(job.query)
    if format == "trig" and job.checkpoint is not None:
        raise option_error(
            "option-not-for-format",
            "--checkpoint cannot go on with TriG: its matches are named by number, from 1 in every run",
            help="take --format jsonl",
        )
    if format == "table" and output is not None:
        raise option_error(
            "option-not-for-format",
            "--follow writes no table into a file: it would never end",
            help="take --format jsonl or csv",
        )


def run_following(job: Job, format: str, target: Target, dead_letter: Path | None, events: bool) -> None:
    """Follow the sources of a job until it is told to stop, and write the matches."""
    check_follow(job, format, target.path)
    with (
        _stopping() as stop,
        _places(job.checkpoint) as (checkpoint, letters),
        DeadLetterSink(dead_letter, append=job.checkpoint is not None) as sink,
    ):
        found = live_table(job, letters, stop, say)
        out = _followed_output(job, format, target, checkpoint, events)
        count = 0
        notices = Notices()

        def take(batch: int, matches: Sequence[Match]) -> None:
            nonlocal count
            count += out.take(batch, matches)
            for letter in received(drained(letters), notices):
                sink(letter)

        if found is not None:
            follow(
                found,
                job.query,
                take,
                checkpoint=str(checkpoint / "spark"),
                stop=stop,
                every=job.trigger,
                tell=lambda at: say(standing_line(at, count, watermark(at, kind_of(found), job.options.time_unit))),
            )
        out.close()
    tell_counts(count, sink.count, dead_letter)


def _followed_output(job: Job, format: str, target: Target, checkpoint: Path, events: bool) -> FollowedOutput | BatchOutput:
    if target.topic is not None:
        return BatchOutput(kafka_output(job, target.topic, lasting_name(checkpoint), events), target.topic.topic)
    prefixes = dict(job.query.lowered.prefixes)
    return FollowedOutput(
        target.path,
        job.checkpoint,
        lambda text: open_writer(format, text, shape(job.query, job.options), events=events, prefixes=prefixes),
    )


def standing_line(at: Standing, matches: int, watermark: int | str | None) -> str:
    """How a run is doing, in one line.

    >>> standing_line(Standing(1200, 400.0, None, 3, 2_500_000, 4), 7, 55)
    '1,200 events  400/s  watermark 55  state 2.5 MB  4 late  7 matches'
    """
    shown = "" if watermark is None else f"  watermark {watermark}"
    state = f"  state {at.state_bytes / 1e6:.1f} MB" if at.state_rows else ""
    late = f"  {at.late:,} late" if at.late else ""
    return f"{at.events:,} events  {at.per_second:,.0f}/s{shown}{state}{late}  {matches:,} matches"


def watermark(at: Standing, kind: TimeKind, time_unit: str) -> int | str | None:
    """The watermark as the run's times are written; None before the first one.

    >>> watermark(Standing(1, 1.0, "1970-01-01T00:00:00.055Z", 0, 0), TimeKind.INTEGER, "s")
    55
    """
    if at.watermark is None:
        return None
    instant = parse_datetime(at.watermark)
    if instant <= 0:
        return None
    if kind is TimeKind.DATETIME:
        return format_instant(instant, kind)
    return instant if time_unit == "us" else instant // 1000  # as `streaming.ticks_per_millisecond` tells Spark


def say(text: str) -> None:
    """A line for the person, on stderr."""
    typer.echo(text, err=True)


@contextmanager
def _places(checkpoint: Path | None) -> Iterator[tuple[Path, Path]]:
    """Where Spark keeps its place, and where tasks put their dead letters."""
    if checkpoint is not None:
        checkpoint.mkdir(parents=True, exist_ok=True)
        letters = checkpoint / "dead-letters"
        letters.mkdir(exist_ok=True)
        yield checkpoint, letters
        return
    with tempfile.TemporaryDirectory(prefix="scepter-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "dead-letters").mkdir()
        yield Path(folder), Path(folder) / "dead-letters"


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Set once SIGTERM or SIGINT comes; a second one ends the run at once."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        say("stopping behind the current micro-batch")
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
