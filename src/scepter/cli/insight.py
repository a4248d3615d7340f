"""What a bounded run tells besides its matches: warnings, a diagnosis, a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import typer

from scepter.cli.execute import Job
from scepter.cli.inputs import tell_warnings
from scepter.cli.insight_options import Insight
from scepter.errors import Diagnostic
from scepter.io.replacing import replacing
from scepter.io.report.log import RunLog
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.seen import EventName

if TYPE_CHECKING:
    from scepter.insight.diagnosis.model import Findings


class _Given(TypedDict):
    background: BackgroundGiven
    ontology: OntologyGiven
    options: RunOptions


class Watch:
    """Hears what a run reads and finds, and speaks when it is over."""

    def __init__(self, job: Job, insight: Insight) -> None:
        self._job = job
        self._insight = insight
        self.log = RunLog(events=insight.report is not None)
        self.shown = None if insight.report is None else EventName.of
        self._engines: list[LocalEngine] = []
        self.counting = None if insight.report is None else self._engines.append

    def matched(self, matches: Sequence[Match]) -> None:
        """Matches that are found."""
        self.log.matched(matches)

    def tell(self, unused: int) -> None:
        """The warnings and the diagnosis, on stderr; the report, to its file."""
        job, log = self._job, self.log
        given: _Given = {"background": job.background, "ontology": job.ontology, "options": job.options}
        warnings = self._warnings(given) if job.engine == "local" else []
        findings = self._findings(given) if self._insight.diagnose else None
        if self._insight.report is not None:
            from scepter.io.report.page import Report, report_page
            from scepter.runtime.analysis import Analysis

            ran = Analysis.of(job.query, self._engines[0])
            page = report_page(Report(job.query, log, job.sources, ran, unused, warnings, findings))
            with replacing(self._insight.report) as out:
                out.write(page)

    def _warnings(self, given: _Given) -> list[Diagnostic]:
        from scepter.insight.hints.run_hints import run_warnings  # a run has no need of these until it is over

        job = self._job
        warnings = run_warnings(job.query, job.streams, self.log.surveys, self.log.found, **given)
        tell_warnings(warnings, job.query.lowered.source)
        return warnings

    def _findings(self, given: _Given) -> Findings:
        from scepter.insight.diagnosis.diagnose import diagnose
        from scepter.insight.diagnosis.focus import Asked
        from scepter.insight.diagnosis.text import diagnosis_text

        job = self._job
        asked = Asked.of(job.query, self._insight.event, self._insight.key)
        findings = diagnose(job.query, job.streams, asked=asked, **given)
        typer.echo(diagnosis_text(findings), err=True)
        return findings
