"""The page: counts, timeline, matches, diagnosis, plan and query, with style and script inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from scepter.algebra.notation import Notation
from scepter.errors import Diagnostic, render
from scepter.insight.diagnosis.model import Diagnosis, Findings, Step
from scepter.insight.diagnosis.text import events_told, matches_told
from scepter.io.report.log import MOST_EVENTS, MOST_MATCHES, RunLog
from scepter.io.report.work import page_data, page_head, plan_section
from scepter.pictures.html_tables import MatchRow, matches_table, name_text, summary, triples_text
from scepter.pictures.lanes import STYLE, Bar, Lane, Mark, draw_timeline
from scepter.runtime.analysis import Analysis
from scepter.runtime.matches import Match
from scepter.runtime.queries import Query
from scepter.runtime.seen import EventName
from scepter.timeline import TimeKind, format_instant


@dataclass(frozen=True, slots=True)
class Report:
    """All that a page tells."""

    query: Query
    log: RunLog
    sources: Mapping[str, str]
    """What each stream was read from."""
    analysis: Analysis
    """The plan that ran, and what its operators did."""
    unused: int = 0
    """Lines and events that could not be used."""
    warnings: Sequence[Diagnostic] = ()
    findings: Findings | None = None


def report_page(report: Report) -> str:
    """The page as HTML."""
    return "\n".join(_Page(report).lines()) + "\n"


class _Page:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._query = report.query
        self._log = report.log
        self._notation = Notation(dict(report.query.lowered.prefixes))
        self._rows = [self._row(number, match) for number, match in enumerate(report.log.matches, 1)]
        self._numbers, self._streams, self._starts, self._ends = report.log.events

    def _row(self, number: int, match: Match) -> MatchRow:
        events = {part: [self._shown(event) for event in selected] for part, selected in match.events.items()}
        return MatchRow(number, match, events)

    def _shown(self, event: object) -> tuple[int | None, str]:
        number = event.number if isinstance(event, EventName) else None
        return number, name_text(str(event), self._notation)

    def lines(self) -> Iterator[str]:
        yield from page_head(self._query.name, self._query.language, STYLE)
        yield from self._counts()
        yield from self._warnings()
        yield from self._timeline()
        yield from self._matches()
        if self._report.findings is not None:
            yield from _diagnosis(self._report.findings)
        yield from plan_section(self._report.analysis)
        yield f"<section><h2>Query</h2><pre>{escape(self._query.text)}</pre></section>"
        yield f"</main><script>{page_data('report.js')}</script></body></html>"

    # ---- counts

    @property
    def _kind(self) -> TimeKind:
        return next((s.kind for s in self._log.surveys.values() if s.kind is not None), TimeKind.INTEGER)

    def _counts(self) -> Iterator[str]:
        yield "<div class='sc-counts'>"
        yield _count(self._log.found, "match" if self._log.found == 1 else "matches")
        yield _count(len(self._numbers), "events")
        for number, iri in enumerate(self._log.surveys if len(self._log.surveys) > 1 else ()):
            yield _count(int(np.count_nonzero(self._streams == number)), f"on {self._stream(iri)}")
        if self._report.unused:
            yield _count(self._report.unused, "lines or events not used")
        if len(self._numbers):
            first, last = (str(format_instant(int(i), self._kind)) for i in (self._starts.min(), self._ends.max()))
            yield f"<div><b>{escape(first)}</b><span>to {escape(last)}</span></div>"
        yield "</div>"

    def _stream(self, iri: str) -> str:
        alias = next((s.alias for s in self._query.lowered.streams if s.iri.value == iri), None)
        return alias or self._notation.term(next(s.iri for s in self._query.lowered.streams if s.iri.value == iri))

    def _warnings(self) -> Iterator[str]:
        if self._report.warnings:
            texts = "\n\n".join(render(warning, self._query.lowered.source) for warning in self._report.warnings)
            yield f"<section class='sc-warn'><h2>Warnings</h2><pre>{escape(texts)}</pre></section>"

    # ---- timeline

    def _timeline(self) -> Iterator[str]:
        matched = {n for row in self._rows for events in row.events.values() for n, _ in events if n is not None}
        single = len(self._numbers) <= MOST_EVENTS
        lanes = [self._lane(number, iri, matched, single) for number, iri in enumerate(self._log.surveys)]
        bars = [self._bar(row) for row in self._rows]
        drawn = draw_timeline(lanes, bars, self._kind)
        yield f"<section><h2>Timeline</h2>{drawn.svg}"
        yield "<p class='sc-note'>Point at a match, here or in the table, and its events show; click to keep it.</p>"
        if not single:
            total = len(self._numbers)
            yield f"<p class='sc-note'>{total:,} events are too many to be drawn one by one: columns count them, and the "
            yield "events of the matches listed below are drawn.</p>"
        if drawn.left_out:
            yield f"<p class='sc-note'>{drawn.left_out:,} matches overlap too many others for their bars to have room.</p>"
        yield "</section>"

    def _lane(self, stream: int, iri: str, matched: set[int], single: bool) -> Lane:
        here = np.flatnonzero(self._streams == stream)
        drawn = here if single else here[np.isin(self._numbers[here], list(matched))]
        marks = []
        for at in drawn.tolist():
            number, start, end = (int(column[at]) for column in (self._numbers, self._starts, self._ends))
            marks.append(Mark(number, start, end, self._title(number, start, end), number in matched))
        counted = np.empty(0, np.int64) if single else self._ends[here]
        source = self._report.sources.get(iri)
        return Lane(self._stream(iri) + (f" · {source}" if source and len(source) < 8 else ""), marks, counted)

    def _title(self, number: int, start: int, end: int) -> str:
        name = self._log.names.get(number)
        times = " to ".join(dict.fromkeys(str(format_instant(i, self._kind)) for i in (start, end)))
        lines = [f"{name_text(name, self._notation) if name else f'event {number + 1}'} at {times}"]
        triples = self._log.triples.get(number)
        return "\n".join([*lines, triples_text(triples, self._notation)] if triples else lines)

    def _bar(self, row: MatchRow) -> Bar:
        events = [number for selected in row.events.values() for number, _ in selected if number is not None]
        title = f"match {row.number}: {summary(row.match, self._notation)}"
        return Bar(row.number, row.match.start, row.match.end, events, title)

    # ---- matches

    def _matches(self) -> Iterator[str]:
        yield "<section><h2>Matches</h2>"
        if not self._rows:
            yield "<p class='sc-note'>None. <code>scepter run --diagnose</code> tells which condition stops them.</p></section>"
            return
        if self._log.found > len(self._rows):
            yield f"<p class='sc-note'>The first {MOST_MATCHES:,} of {self._log.found:,}.</p>"
        if len(self._rows) > 10:
            yield "<input type='search' placeholder='filter' aria-label='filter the matches'>"
        yield f"<div class='sc-scroll'>{matches_table(self._rows, self._query.variables, self._notation)}</div></section>"


def _count(number: int, what: str) -> str:
    return f"<div><b>{number:,}</b><span>{escape(what)}</span></div>"


# ---- the diagnosis


def _diagnosis(findings: Findings) -> Iterator[str]:
    yield f"<section><h2>Diagnosis</h2><p class='sc-note'>Of {escape(events_told(findings))}.</p>"
    for diagnosis in findings.diagnoses:
        title = f"{diagnosis.title}: {matches_told(diagnosis, findings)}"
        yield f"<table class='sc-steps'><caption class='sc-note'>{escape(title)}</caption>"
        most = max((stage.count for step in diagnosis.steps for stage in step.stages), default=1) or 1
        for step in diagnosis.steps:
            yield from _step(step, most)
        yield "</table>"
        yield from _stopped(diagnosis)
    yield "</section>"


def _step(step: Step, most: int) -> Iterator[str]:
    yield f"<tr class='sc-title'><td colspan='3'>{escape(step.title)}</td></tr>"
    for stage in step.stages:
        kind = " class='sc-zero'" if stage is step.stopper else ""
        text = stage.condition or step.counted
        if stage.example is not None:
            text += f"\n{stage.example}"
        bar = f"<i style='width:{100 * stage.count / most:.1f}%'></i>"
        yield f"<tr{kind}><td>{escape(text)}</td><td>{stage.count:,}</td><td>{bar}</td></tr>"


def _stopped(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.stopped:
        return
    reached = f", {diagnosis.reached}" if diagnosis.reached else ""
    title = (
        "Nearest misses" if diagnosis.focused is not None else f"{diagnosis.partial:,} partial matches came farthest{reached}"
    )
    yield f"<p class='sc-note'>{escape(title)}:</p><ul class='sc-stopped'>"
    for stopped in diagnosis.stopped:
        held = escape("; ".join(stopped.selected))
        yield f"<li>{held}<br>{escape(stopped.bindings)}<br><b>stopped</b> {escape(stopped.reason)}</li>"
    yield "</ul>"
