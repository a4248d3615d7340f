"""`scepter run` over bounded input: its matches to a file or to stdout, then what is to be told about the run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scepter.cli.execute import Job, matches, shape
from scepter.cli.insight import Watch
from scepter.cli.progress import RunProgress, tell_counts
from scepter.io.dead_letters import DeadLetterSink
from scepter.io.results import open_writer, replacing
from scepter.runtime.work import check_matches, watched


def run_bounded(
    job: Job, format: str, output: Path | None, dead_letter: Path | None, events: bool, *, diagnose: bool, report: Path | None
) -> None:
    """Read the input of a job to its end and write the matches."""
    watch = Watch(job, diagnose=diagnose, report=report)
    found = 0
    to_terminal = output is None and sys.stdout.isatty()
    work = job.options.work
    with DeadLetterSink(dead_letter) as letters, RunProgress() as progress, _opened(output) as out, watched(work):
        writer = open_writer(
            format, out, shape(job.query, job.options), events=events, prefixes=dict(job.query.lowered.prefixes)
        )
        for some in matches(job, letters, progress, watch.log, watch.shown):
            if to_terminal and some:
                progress.hide()
            writer.write_all(some)
            watch.matched(some)
            found += len(some)
            check_matches(found, work)
            progress.matched(found)
        writer.close()
    tell_counts(found, letters.count, dead_letter, letters.reasons.most_common(1))
    watch.tell(letters.count)


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with replacing(output) as out:
        yield out
