"""What a run did, operator by operator and stage by stage: the plan in a page, and a page of its own."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from scepter.physical.explain.description import Description
from scepter.physical.metrics import Metrics, Skew, StageRun
from scepter.runtime.analysis import Analysis

_HEADS = ("rows in", "rows out", "kept at most", "memory, kB", "CPU, ms")
_SKEW_HEADS = ("places", "rows, times the mean", "CPU, times the mean")


def analysis_page(analysis: Analysis) -> str:
    """The page of `explain --analyze --format html`."""
    query = analysis.query
    lines = [*page_head(query.name, query.language), *plan_section(analysis)]
    lines += [f"<section><h2>Query</h2><pre>{escape(query.text)}</pre></section>", "</main></body></html>"]
    return "\n".join(lines)


def page_head(name: str, language: str, style: str = "") -> Iterator[str]:
    """The beginning of a page about a run, up to its heading."""
    name = escape(name)
    yield f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{name} · Scepter</title>"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    yield f"<style>{page_data('report.css')}{style}</style></head><body><main>"
    yield f"<header><h1>{name}</h1><p>{escape(language)} query, run by Scepter</p></header>"


def page_data(name: str) -> str:
    """A file that stands inside pages."""
    return files("scepter.io.report").joinpath("data", name).read_text(encoding="utf-8")


def plan_section(analysis: Analysis) -> Iterator[str]:
    """The plan that ran, and tables of what it did."""
    # as an image, so that the picture's style stays its own
    encoded = base64.b64encode(analysis.text("svg").encode()).decode()
    image = f"<img alt='the plan of the query' src='data:image/svg+xml;base64,{encoded}'>"
    yield f"<section><h2>Plan</h2><div class='sc-plan'>{image}</div>"
    facts = analysis.facts()
    yield from _operators(facts)
    if facts.stages:
        yield from _stages(facts)
    yield "</section>"


def _operators(facts: Description) -> Iterator[str]:
    spark, several = bool(facts.stages), len(facts.units) > 1
    worked = [(unit, each, each.work) for unit in facts.units for each in unit.operators if each.work is not None]
    if not worked:  # without an event nothing has run
        return
    yield _table("operator", *_HEADS, *(_SKEW_HEADS if spark else ()))
    for unit, each, work in worked:
        text = f"#{each.id} {each.text}"
        yield _row(f"{unit.title}: {text}" if several else text, _counts(work) + (_skewed(each.skew) if spark else ""))
    yield "</table></div>"
    yield "<p class='sc-note'>Scans are given events, the others rows. What is one kernel is counted at its last operator."
    yield ("On Spark rows and CPU are those of all tasks, what was kept that of one.</p>" if spark else "</p>")


def _stages(facts: Description) -> Iterator[str]:
    yield "<h3>Stages</h3>" + _table("stage", *_HEADS, *_SKEW_HEADS)
    for stage in facts.stages:
        yield _row(stage.name, _counts(stage.total) + _skewed(stage.skew))
    yield "</table></div>"
    for stage in (stage for stage in facts.stages if stage.skew.places > 1):
        yield from _tasks(stage)


def _tasks(stage: StageRun) -> Iterator[str]:
    yield f"<details><summary>{escape(stage.name)}: {len(stage.tasks)} of {stage.skew.places} places had work</summary>"
    yield _table("place", *_HEADS)
    for task in stage.tasks:
        yield _row(str(task.place), _counts(task.work))
    yield "</table></div></details>"


def _table(*heads: str) -> str:
    return f"<div class='sc-scroll'><table class='sc-work'><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"


def _row(name: str, cells: str) -> str:
    return f"<tr><td>{escape(name)}</td>{cells}</tr>"


def _counts(work: Metrics) -> str:
    counts = "".join(f"<td>{count:,}</td>" for count in (work.rows_in, work.rows_out, work.kept_most))
    return f"{counts}<td>{work.memory / 1e3:,.1f}</td><td>{work.cpu / 1e6:,.1f}</td>"


def _skewed(skew: Skew | None) -> str:
    if skew is None:
        return "<td></td>" * 3
    return f"<td>{skew.places}</td><td>{skew.rows:.1f}</td><td>{skew.cpu:.1f}</td>"
