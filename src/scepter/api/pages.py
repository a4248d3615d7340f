"""The report of a run, as Python programs get it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from scepter.api.local import diagnose
from scepter.errors import a_type, option_error
from scepter.insight.diagnosis.focus import KeyGiven
from scepter.insight.hints.run_hints import run_warnings
from scepter.io.given import Given, given_run
from scepter.io.replacing import replacing
from scepter.io.report.log import RunLog
from scepter.io.report.page import Report, report_page
from scepter.runtime import local, queries
from scepter.runtime.analysis import Analysis
from scepter.runtime.engine import LocalEngine
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import one_query
from scepter.runtime.seen import EventName


class Page(str):
    """An HTML page: text that a notebook shows in a frame of its own."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        style = "width:100%;height:640px;border:1px solid #8886"
        return f"<iframe srcdoc='{escape(self, quote=True)}' sandbox='allow-scripts' style='{style}'></iframe>"

    def __repr__(self) -> str:
        return f"<page of {len(self):,} characters; print it, or give report() a path>"


def report(
    query: queries.QueriesGiven,
    streams: Given,
    path: str | Path | None = None,
    *,
    diagnosis: bool = True,
    background: Any = None,
    ontology: Any = None,
    versions: Any = None,
    map: Any = None,
    context: Any = None,
    event: str | int | None = None,
    key: KeyGiven | None = None,
    **options: Any,
) -> Page:
    """A page about a run over bounded streams (`Query.report`)."""
    query = one_query(query)
    if not (path is None or isinstance(path, (str, Path))):
        raise option_error("path", f"a page is written to a file's path, not to {a_type(path)}", help="'run.html'")
    chosen = RunOptions.of(**options)
    query, sources = given_run(query, streams, versions, map, context, chosen.times)
    log = RunLog(events=True)
    unused: list[object] = []
    engines: list[LocalEngine] = []
    found = local.run_in_parts(
        query, sources, background=background, ontology=ontology, options=chosen,
        dead_letter=unused.append, observer=log, shown=EventName.of, counting=engines.append,
    )  # fmt: skip
    for matches in found:
        log.matched(matches)
    warnings = run_warnings(query, sources, log.surveys, log.found, background=background, ontology=ontology, options=chosen)
    findings = None
    if diagnosis:
        findings = diagnose(query, sources, background=background, ontology=ontology, event=event, key=key, **options)
    names = {iri: source.name for iri, source in sources.items()}
    page = Page(report_page(Report(query, log, names, Analysis.of(query, engines[0]), len(unused), warnings, findings)))
    if path is not None:
        with replacing(Path(path)) as out:
            out.write(page)
    return page
