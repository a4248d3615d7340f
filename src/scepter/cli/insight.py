"""What a bounded run tells besides its matches: warnings, a diagnosis, a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from scepter.cli.execute import Job
from scepter.cli.inputs import tell_warnings
from scepter.errors import option_error
from scepter.rdf.batch import EventBatch
from scepter.rdf.source import Survey


class Watch:
    """Hears what a run reads, and speaks when it is over."""

    def __init__(self, job: Job, *, diagnose: bool) -> None:
        self._job = job
        self._diagnose = diagnose
        self._surveys: Mapping[str, Survey] = {}

    def surveyed(self, surveys: Mapping[str, Survey]) -> None:
        """What the look ahead told."""
        self._surveys = surveys

    def taken(self, batch: EventBatch, wanted: NDArray[np.bool_], number: int) -> None:
        """A batch that is taken."""

    def tell(self, matches: int) -> None:
        """The warnings and the diagnosis, on stderr."""
        if not self._surveys:
            return
        from scepter.runtime.hints.run import run_warnings  # a run that is over has loaded most of this

        job = self._job
        given = {"background": job.background, "ontology": job.ontology, "options": job.options}
        tell_warnings(run_warnings(job.query, job.streams, self._surveys, matches, **given), job.query.lowered.source)  # type: ignore[arg-type]
        if self._diagnose:
            from scepter.io.diagnosis import diagnosis_text
            from scepter.runtime.diagnosis.diagnose import diagnose

            typer.echo(diagnosis_text(diagnose(job.query, job.streams, **given)), err=True)  # type: ignore[arg-type]


def check_insight(engine: str, *, diagnose: bool, report: Path | None) -> None:
    """Refuse a diagnosis or a report of a run elsewhere."""
    for option in [name for name, given in (("--diagnose", diagnose), ("--report", report is not None)) if given]:
        if engine != "local":
            raise option_error(
                "option-not-for-engine",
                f"{option} looks at a run over bounded input in this process",
                help=f"add --engine local, or leave out {option}",
            )
