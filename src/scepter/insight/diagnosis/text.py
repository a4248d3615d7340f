"""A diagnosis as text, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from scepter.insight.diagnosis.model import Diagnosis, Findings, Stage, Step

_WIDTH = 60
"""Where the counts stand, at least."""
_WIDEST = 88


def diagnosis_text(findings: Findings) -> str:
    """What was found, as lines without a last line end."""
    return "\n".join(_lines(findings))


def _lines(findings: Findings) -> Iterator[str]:
    if not findings.diagnoses:
        yield f"diagnosis: none, {findings.why}"
        return
    steps = [step for diagnosis in findings.diagnoses for step in diagnosis.steps]
    widths = [len(_condition(step, stage)) + 2 for step in steps for stage in step.stages]
    column = min(_WIDEST, max([_WIDTH, *widths]))
    yield f"diagnosis: {events_told(findings)}"
    for diagnosis in findings.diagnoses:
        yield ""
        yield f"{diagnosis.title}: {matches_told(diagnosis, findings)}"
        for step in diagnosis.steps:
            yield from _step(step, column, "nothing passes" if diagnosis.focused is None else "stops here")
        yield from _stopped(diagnosis)


def events_told(findings: Findings) -> str:
    """Of which events the numbers speak."""
    if findings.focus:
        return f"{findings.focus}, among {_looked_at(findings)}"
    return _looked_at(findings)


def matches_told(diagnosis: Diagnosis, findings: Findings) -> str:
    """How many matches there are, and how many hold what was asked about."""
    found = _plural(diagnosis.matches, "match", "matches")
    if diagnosis.timeouts is not None:
        found = f"{_plural(diagnosis.timeouts, 'partial match', 'partial matches')} ran out of time, {found} completed"
    return found if diagnosis.focused is None else f"{found}, {diagnosis.focused or 'none'} with {findings.focus}"


def _looked_at(findings: Findings) -> str:
    if findings.since is not None:
        stretch = f"from {findings.since}" + (f" to {findings.until}" if findings.until is not None else "")
        return f"the {findings.events:,} of {findings.total:,} events {stretch} ({findings.why})"
    if findings.until is None:
        return f"all {findings.events:,} events" if findings.events != 1 else "the one event"
    return f"the first {findings.events:,} of {findings.total:,} events, up to {findings.until} ({findings.why})"


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _condition(step: Step, stage: Stage) -> str:
    indent = "  " * step.depth
    return f"{indent}    {stage.condition}" if stage.condition else f"{indent}  {step.title}"


def _step(step: Step, column: int, stopped: str) -> Iterator[str]:
    stopper = step.stopper
    if not step.stages or step.stages[0].condition:
        yield f"{'  ' * step.depth}  {step.title}"
    for stage in step.stages:
        mark = f"  ◀ {stopped}" if stage is stopper else ""
        yield f"{_condition(step, stage):{column}}{stage.count:>9,}{mark}"
        if stage.example is not None:
            yield f"{'  ' * step.depth}      {stage.example}"


def _stopped(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.stopped:
        return
    if diagnosis.focused is not None:
        yield "  nearest misses:"
    else:
        yield f"  {_farthest(diagnosis)}:"
    for stopped in diagnosis.stopped:
        yield f"    {'; '.join(stopped.selected)}"
        if stopped.bindings:
            yield f"      {stopped.bindings}"
        yield f"      stopped: {stopped.reason}"


def _farthest(diagnosis: Diagnosis) -> str:
    count = _plural(diagnosis.partial, "partial match", "partial matches")
    here = f"; {len(diagnosis.stopped)} of them" if len(diagnosis.stopped) < diagnosis.partial else ""
    reached = f", {diagnosis.reached}" if diagnosis.reached else ""
    return f"{count} came farthest{reached}{here}"
