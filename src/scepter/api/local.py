"""`scepter.run_local`: a query over bounded streams in this process, and what can be asked about such a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from scepter.errors import Diagnostic
from scepter.insight.diagnosis.diagnose import diagnose as diagnose_run
from scepter.insight.diagnosis.focus import Asked, KeyGiven
from scepter.insight.diagnosis.model import Findings
from scepter.io.given import Given, given_run
from scepter.io.report.work import analysis_page
from scepter.rdf.batch import DeadLetter
from scepter.runtime import local, queries
from scepter.runtime.analysis import Analysis
from scepter.runtime.analysis import analyze as analyze_run
from scepter.runtime.compiling import told_once
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.maps import ContextGiven, MapGiven
from scepter.runtime.notebook import Matches
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import one_query
from scepter.runtime.seen import EventName, SeenEvents
from scepter.runtime.work import watched

MOST_LETTERS = 1_000
"""So many dead letters are kept; all are counted."""


def run_local(
    query: queries.QueriesGiven,
    streams: Given,
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    versions: Mapping[str, Given] | None = None,
    policy: str | None = None,
    time_unit: str = "ms",
    start: int | str | datetime | None = None,
    evaluate_at: Sequence[int | str | datetime] | None = None,
    max_delay: int | str | timedelta | None = None,
    max_derivations: int | None = None,
    why: bool = False,
    time_property: str | Sequence[str] | None = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    max_advance: int | str | timedelta | None = None,
    limits: Mapping[str, int | str] | None = None,
    max_seconds: float | None = None,
    max_memory: int | str | None = None,
    max_matches: int | None = None,
    max_runs: int | None = None,
    assign_time: str | None = None,
    event_per: str | None = None,
) -> Matches:
    """The matches of a query over bounded streams, in this process, in order of end, start and bindings.

    `streams` gives each stream by its IRI or its name in the query: a file, glob or folder; events, as a list (or any
    iterable) of `scepter.Event`; or a table (pandas, polars, Arrow) with columns `start, end, graph`. A query of one stream
    takes its source alone, and so does one that names none. Several queries, as a list or as a dictionary by their names, run
    together: rows say which they answer (the column `query`; `Match.query` is its number, from 0). The options are those of
    `scepter run`; `map` makes events of other tables, lists of dictionaries, CSV, JSON and Parquet: a mapping in YARRRML or
    RML (its file or its text), or a dictionary of them by stream. `context` makes events of JSON and dictionaries: a JSON-LD
    context (its file, its text, or a dictionary). `versions` gives the background graphs that vary, from each to the source of
    its versions: each event is the whole graph from its time on.

    >>> from scepter import Event, parse
    >>> query = parse('''PREFIX : <http://example/>
    ... SELECT ?company ?before ?after WITHIN 10 SLIDING FROM STREAM Prices <http://example/prices>
    ... WHERE { SEQ (A : B) DEFINE GPM A ON Prices { ?company :price ?before }
    ...   DEFINE GPM B ON Prices { ?company :price ?after FILTER (?after < 0.7 * ?before) } }''')
    >>> prices = [(1, 100), (8, 65), (12, 60)]
    >>> events = [Event("http://example/prices", f":ACME :price {price} .", t, prefixes={"": "http://example/"})
    ...           for t, price in prices]
    >>> matches = run_local(query, events)
    >>> matches
    start  end  ?company  ?before  ?after
    1      8    :ACME     100      65
    1 match
    >>> matches.to_pandas(short=True).to_dict("records")
    [{'start': 1, 'end': 8, 'company': ':ACME', 'before': 100, 'after': 65}]
    """
    query = one_query(query)
    options = RunOptions.of(
        policy=policy, time_unit=time_unit, start=start, evaluate_at=evaluate_at, max_delay=max_delay,
        max_derivations=max_derivations, why=why, time_property=time_property, max_advance=max_advance, limits=limits,
        max_seconds=max_seconds, max_memory=max_memory, max_matches=max_matches, max_runs=max_runs,
        assign_time=assign_time, event_per=event_per,
    )  # fmt: skip
    query, sources = given_run(query, streams, versions, map, context, options.times)
    found = Matches(query=query)
    warnings: list[Diagnostic] = list(query.warnings)

    def unusable(letter: DeadLetter) -> None:
        found.unused += letter.count
        if len(found.dead_letters) < MOST_LETTERS:
            found.dead_letters.append(letter)

    found.seen = SeenEvents()
    with watched(options.work.with_room()), told_once():
        found.extend(
            local.run_local(
                query, sources,
                background=background, ontology=ontology, options=options, dead_letter=unusable, observer=found.seen,
                shown=EventName.of, warn=warnings.append,
            )
        )  # fmt: skip
    found.warnings = tuple(warnings)
    return found


def analyze(
    query: queries.QueriesGiven,
    streams: Given,
    format: str = "text",
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    versions: Mapping[str, Given] | None = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    **options: Any,
) -> str:
    """The plan of a run, and what its operators did (`Query.explain` with `analyze`)."""
    query = one_query(query)
    chosen = RunOptions.of(**options)
    query, sources = given_run(query, streams, versions, map, context, chosen.times)
    return shown(analyze_run(query, sources, background=background, ontology=ontology, options=chosen), format)


def shown(analysis: Analysis, format: str) -> str:
    """An analysis in a format of `explain`, or as a page."""
    return analysis_page(analysis) if format == "html" else analysis.text(format)


def diagnose(
    query: queries.QueriesGiven,
    streams: Given,
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    versions: Mapping[str, Given] | None = None,
    map: MapGiven = None,
    context: ContextGiven = None,
    event: str | int | None = None,
    key: KeyGiven | None = None,
    **options: Any,
) -> Findings:
    """Why did nothing match, or so little; or this event, or this key? (`Query.diagnose`)"""
    query = one_query(query)
    asked = Asked.of(query, event, key)
    chosen = RunOptions.of(**options)
    query, sources = given_run(query, streams, versions, map, context, chosen.times)
    return diagnose_run(query, sources, background=background, ontology=ontology, options=chosen, asked=asked)
