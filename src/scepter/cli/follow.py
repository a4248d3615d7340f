"""`scepter run --follow`: matches as they become certain, until SIGTERM or Ctrl-C; from a checkpoint, nothing lost or twice."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TextIO

from scepter.cli.checkpoint import SPARK, opened
from scepter.cli.execute import Job, shape
from scepter.cli.journal import LETTERS, OUTPUT, RECORD, Journal
from scepter.cli.progress import tell_counts
from scepter.cli.spark import check_followed, live_table
from scepter.cli.stopping import say, stopping
from scepter.cli.target import Target, kafka_output, lasting_name
from scepter.errors import option_error
from scepter.io.kafka_output import BatchOutput
from scepter.io.results import ResultWriter
from scepter.io.writers import open_writer
from scepter.rdf.batch import DeadLetter
from scepter.runtime.matches import Match
from scepter.runtime.notices import LIMIT, Notices, received
from scepter.runtime.queries import check_endless
from scepter.runtime.spark.advance import ADVANCE
from scepter.runtime.spark.answers import kind_of
from scepter.runtime.spark.follow import Standing, follow
from scepter.runtime.spark.letters import drained
from scepter.runtime.spark.live_skew import SKEWED
from scepter.runtime.spark.telling import Record
from scepter.runtime.work import PerInstant
from scepter.timeline import TimeKind, format_instant, parse_datetime


class FollowedOutput:
    """Writes micro-batches, each once, with its dead letters: what a crash left half-written is cut off, what is there already
    is not repeated.

    Without a checkpoint, or to standard output, it just writes. `open_on` is told how many matches the output has already.
    """

    def __init__(
        self,
        output: Path | None,
        checkpoint: Path | None,
        open_on: Callable[[TextIO, int], ResultWriter],
        dead_letter: Path | None = None,
    ) -> None:
        files = {name: path for name, path in ((OUTPUT, output), (LETTERS, dead_letter)) if path is not None}
        self._journal = Journal(None if checkpoint is None or not files else checkpoint / RECORD, files)
        if output is None:
            self._writer = open_on(sys.stdout, 0)
        else:
            self._writer = open_on(self._journal.text(OUTPUT), self._journal.matches)
        if output is not None:
            self._journal.without_heading(OUTPUT)
        self._letters = None if dead_letter is None else self._journal.text(LETTERS)
        self.matches = 0
        """Written by this run."""
        self.letters = 0
        self.reasons: Counter[str] = Counter()

    def take(self, batch: int, matches: Sequence[Match], letters: Iterable[DeadLetter] = ()) -> int:
        """Write the matches and the dead letters of a micro-batch; how many matches were."""
        if batch <= self._journal.batch:
            return 0
        for match in matches:
            self._writer.write(match)
        self._writer.close()
        for letter in letters:
            self.letters += letter.count
            self.reasons[letter.reason] += letter.count
            if self._letters is not None:
                self._letters.write(json.dumps(letter.fields(), ensure_ascii=False) + "\n")
        self._journal.keep(batch, len(matches))
        self.matches += len(matches)
        return len(matches)

    def close(self) -> None:
        """Hand everything on."""
        self._journal.close()


class TopicOutput(FollowedOutput):
    """Micro-batches to a topic, each once; their dead letters as beside a file."""

    def __init__(
        self,
        topic: BatchOutput,
        checkpoint: Path | None,
        open_on: Callable[[TextIO, int], ResultWriter],
        dead_letter: Path | None = None,
    ) -> None:
        super().__init__(None, checkpoint, open_on, dead_letter)
        self._topic = topic

    def take(self, batch: int, matches: Sequence[Match], letters: Iterable[DeadLetter] = ()) -> int:
        """Write the matches and the dead letters of a micro-batch; how many matches were."""
        written = self._topic.take(batch, matches)
        super().take(batch, (), letters)
        self.matches += written
        return written

    def close(self) -> None:
        """Leave the broker."""
        super().close()
        self._topic.close()


def check_follow(job: Job, format: str, output: Path | None = None) -> None:
    """Refuse what a run that goes on cannot do, before Spark is started."""
    check_followed(job.sources)
    check_endless(job.query, instants=job.options.evaluate_at is not None)
    if format == "trig" and job.checkpoint is not None and output is None:
        raise option_error(
            "option-not-for-format",
            "--checkpoint cannot go on with TriG on standard output: its matches are named by number, from 1 in every run",
            help="name a file with --output, or take --format jsonl",
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
    recorded = target.path is not None or dead_letter is not None
    with (
        stopping("stopping behind the current micro-batch") as stop,
        opened(job.checkpoint, recorded=recorded, replaces=job.options.warm_up is not None) as kept,
        places(job.checkpoint) as (checkpoint, letters),
    ):
        output = partial(_followed_output, job, format, target, dead_letter, events)
        early = None if kept.may_be_replaced else output()  # what is wrong with it is told before anybody waits for events
        found = live_table(job, letters, stop, say, kept.claim)
        out = early or output()
        notices, subjects = Notices(), [SKEWED, *([ADVANCE] if job.options.max_advance is not None else [])]
        records = {subject.name: Record(subject, job.checkpoint) for subject in subjects}
        over: list[str] = []
        within = PerInstant(job.options.work, over.append, job.checkpoint)

        def take(batch: int, matches: Sequence[Match]) -> None:
            given = within(matches, batch)
            with drained(letters) as unused:
                mine = received(unused, notices, lambda subject, text: records[subject].take(batch, text))
                out.take(batch, given, chain(mine, (DeadLetter(LIMIT, None, over.pop(0)) for _ in range(len(over)))))
                for _ in mine:  # who writes nothing, since it is written already, is told nevertheless
                    pass

        if found is not None:
            follow(
                found,
                job.query,
                take,
                checkpoint=str(checkpoint / SPARK),
                stop=stop,
                every=job.trigger,
                told=[*records.values()],
                tell=lambda at: say(
                    standing_line(at, out.matches, watermark(at, kind_of(found), job.options.time_unit), out.letters)
                ),
            )
        out.close()
    tell_counts(out.matches, out.letters, dead_letter, out.reasons.most_common(1))


def _followed_output(job: Job, format: str, target: Target, dead_letter: Path | None, events: bool) -> FollowedOutput:
    prefixes = dict(job.query.lowered.prefixes)

    def open_on(text: TextIO, written: int) -> ResultWriter:
        shown = shape(job.query, job.options)
        return open_writer(format, text, shown, events=events, prefixes=prefixes, written=written)

    if target.topic is None:
        return FollowedOutput(target.path, job.checkpoint, open_on, dead_letter)
    if job.checkpoint is not None:
        job.checkpoint.mkdir(parents=True, exist_ok=True)
    topic = BatchOutput(kafka_output(job, target.topic, lasting_name(job.checkpoint), events), target.topic.topic)
    return TopicOutput(topic, job.checkpoint, open_on, dead_letter)


def standing_line(at: Standing, matches: int, watermark: int | str | None, letters: int = 0) -> str:
    """How a run is doing, in one line.

    >>> standing_line(Standing(1200, 400.0, None, 3, 2_500_000, 4), 7, 55)
    '1,200 events  400/s  watermark 55  state 2.5 MB  4 late  7 matches'
    """
    shown = "" if watermark is None else f"  watermark {watermark}"
    state = f"  state {at.state_bytes / 1e6:.1f} MB" if at.state_rows else ""
    late = f"  {at.late:,} late" if at.late else ""
    unused = f"  {letters:,} not used" if letters else ""
    return f"{at.events:,} events  {at.per_second:,.0f}/s{shown}{state}{late}{unused}  {matches:,} matches"


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


@contextmanager
def places(checkpoint: Path | None) -> Iterator[tuple[Path, Path]]:
    """Where Spark keeps its place, and where tasks put their dead letters: a folder of this run's own. What a run before it has
    left belongs to a micro-batch that comes again, with its letters; and its workers may still be writing."""
    with ExitStack() as held:
        place = checkpoint
        if place is None:  # else a run that is killed would leave an empty folder behind
            folder = tempfile.TemporaryDirectory(prefix="scepter-", ignore_cleanup_errors=True)
            place = Path(held.enter_context(folder))
        shared = place / "dead-letters"
        shared.mkdir(parents=True, exist_ok=True)
        for left in shared.iterdir():
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
        letters = Path(tempfile.mkdtemp(dir=shared, prefix="run-"))
        try:
            yield place, letters
        finally:
            shutil.rmtree(letters, ignore_errors=True)
