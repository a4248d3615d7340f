"""The engine in this process."""

from __future__ import annotations

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point
from scepter.io.sources import open_source
from scepter.runtime.local import Progress, run_local
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """From text to matches. State is looked at after each batch read; bytes of texts are none of its rows."""
    state = 0

    def look(progress: Progress) -> None:
        nonlocal state
        state = max(state, sum(rows for kind, rows in progress.state().items() if kind != "texts"))

    matches = run_local(
        parse(point.query, point.language),
        {iri: open_source(path) for iri, path in point.streams.items()},
        background={graph or None: path for graph, path in point.background.items()} or None,
        ontology=None if point.ontology is None else [point.ontology],
        options=RunOptions.of(policy=_text(point, "policy"), time_unit=_text(point, "time_unit") or "ms"),
        progress=look,
    )
    return Outcome(sum(1 for _ in matches), state)


def _text(point: Point, option: str) -> str | None:
    given = point.options.get(option)
    return None if given is None else str(given)
