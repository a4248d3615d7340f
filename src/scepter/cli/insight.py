"""What a bounded run tells besides its matches: warnings, a diagnosis, a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import typer

from scepter.cli.execute import Job
from scepter.cli.inputs import tell_warnings
from scepter.io.report.log import RunLog
from scepter.io.results import replacing
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.seen import EventName


class _Given(TypedDict):
    background: BackgroundGiven
    ontology: OntologyGiven
    options: RunOptions


class Watch:
    """Hears what a run reads and finds, and speaks when it is over."""

    def __init__(self, job: Job, *, diagnose: bool, report: Path | None) -> None:
        self._job = job
        self._diagnose = diagnose
        self._report = report
        self.log = RunLog(events=report is not None)
        self.shown = None if report is None else EventName.of

    def matched(self, matches: Sequence[Match]) -> None:
        """Matches that are found."""
        self.log.matched(matches)

    def tell(self, unused: int) -> None:
        """The warnings and the diagnosis, on stderr; the report, to its file."""
        if self._job.engine != "local":
            return
        from scepter.runtime.hints.run import run_warnings  # a run has no need of these until it is over

        job, log = self._job, self.log
        given: _Given = {"background": job.background, "ontology": job.ontology, "options": job.options}
        warnings = run_warnings(job.query, job.streams, log.surveys, log.found, **given)
        tell_warnings(warnings, job.query.lowered.source)
        findings = None
        if self._diagnose:
            from scepter.runtime.diagnosis.diagnose import diagnose
            from scepter.runtime.diagnosis.text import diagnosis_text

            findings = diagnose(job.query, job.streams, **given)
            typer.echo(diagnosis_text(findings), err=True)
        if self._report is not None:
            from scepter.io.report.page import Report, report_page

            plan = job.query.explain("svg", job.ontology or None)
            page = report_page(Report(job.query, log, job.sources, plan, unused, warnings, findings))
            with replacing(self._report) as out:
                out.write(page)
