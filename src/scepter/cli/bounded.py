"""`scepter run` over bounded input: its matches to a file or to stdout, then what is to be told about the run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scepter.cli.execute import Job, matches, shape
from scepter.cli.insight import Watch
from scepter.cli.insight_options import Insight
from scepter.cli.progress import RunProgress, tell_counts
from scepter.cli.target import Target, kafka_output, lasting_name
from scepter.errors import DataError, Diagnostic
from scepter.io.dead_letters import DeadLetterSink
from scepter.io.kafka_output import MessageWriter
from scepter.io.replacing import replacing
from scepter.io.results import ResultWriter
from scepter.io.writers import open_writer
from scepter.runtime.work import check_matches, watched


def run_bounded(job: Job, format: str, target: Target, dead_letter: Path | None, events: bool, insight: Insight) -> None:
    """Read the input of a job to its end and write the matches."""
    watch = Watch(job, insight)
    found = 0
    to_terminal = target == Target() and sys.stdout.isatty()
    work = job.options.work
    named = events or target.topic is not None or job.options.why or insight.report is not None
    with (
        DeadLetterSink(dead_letter) as letters,
        RunProgress() as progress,
        _opened_writer(job, format, target, events) as writer,
        watched(work if job.engine == "spark" else work.with_room()),
    ):
        for some in matches(job, letters, progress, watch.log, watch.shown, watch.counting, named=named):
            if to_terminal and some:
                progress.hide()
            writer.write_all(some)
            watch.matched(some)
            found += len(some)
            check_matches(found, work)
            progress.matched(found)
    tell_counts(found, letters.count, dead_letter, letters.reasons.most_common(1))
    if letters.count and not found and not _had_events(job, watch):
        raise DataError(
            Diagnostic("all-unusable", "nothing of the input could be used", help="see the reason above; scepter run --help")
        )
    watch.tell(letters.count)


def _had_events(job: Job, watch: Watch) -> bool:
    if job.engine == "spark":
        from scepter.cli.spark import has_events  # a local run starts without pyspark

        return has_events(job)
    return not watch.log.surveys or any(survey.events for survey in watch.log.surveys.values())


@contextmanager
def _opened_writer(job: Job, format: str, target: Target, events: bool) -> Iterator[ResultWriter]:
    if target.topic is not None:
        messages = MessageWriter(kafka_output(job, target.topic, lasting_name(None), events))
        yield messages
        messages.close()
        return
    with _opened(target.path) as out:
        writer = open_writer(
            format, out, shape(job.query, job.options), events=events, prefixes=dict(job.query.lowered.prefixes)
        )
        yield writer
        writer.close()


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with replacing(output) as out:
        yield out
