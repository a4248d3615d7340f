"""The engine in this process; what it finds is counted, or written as JSON lines."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import AUTOMATON, GPM, LOAD, SCAN, Point
from scepter.io.results import Shape
from scepter.io.sources import open_source
from scepter.io.writers import open_writer
from scepter.physical.nodes.nodes import nodes
from scepter.rdf.batch import EventBatch
from scepter.rdf.source import EventSource
from scepter.runtime.engine import LocalEngine
from scepter.runtime.local import Progress, run_in_parts
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import one_query, parse

COSTS: Final = "costs"
"""The option of a point whose runs tell what their operators cost; counting takes some time itself."""
UNINDEXED: Final = "unindexed"
"""The option of a point whose runs look for their next step without an index."""
BETWEEN: Final = "\n# ---- and at the same time\n"
"""What stands between the queries of a point that runs several."""
BYTES: Final = "written, bytes"
"""What writing runs tell."""
_LOOKS: Final = 16
"""How often the engine counts its state in a run: counting takes time."""


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return partial(run, take=lambda matches: None) if name == "local" else written


def written(point: Point) -> Outcome:
    """From text to rows in a file."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "rows.jsonl").open("w", encoding="utf-8") as out:
        query = parse(point.query, point.language)
        writer = open_writer("jsonl", out, Shape(tuple(query.variables), query.constructs, query.asks, queries=query.answers))
        outcome = run(point, writer.write_all, named=False)  # rows show no events
        writer.close()
        size = Path(out.name).stat().st_size
    return replace(outcome, extra={**outcome.extra, BYTES: float(size)})


@dataclass(slots=True)
class Timed:
    """A source that takes the CPU seconds of reading."""

    source: EventSource
    scanned: float = 0.0
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.source.name

    def lasting(self) -> Timed:
        """Itself: no workload reads a pipe."""
        return self

    def batches(self, *given: Any, **named: Any) -> Iterator[EventBatch]:
        """The events."""
        batches = self.source.batches(*given, **named)
        while True:
            began = time.process_time()
            batch = next(batches, None)
            self.scanned += time.process_time() - began
            if batch is None:
                return
            yield batch


def run(point: Point, take: Callable[[Sequence[Match]], object], *, named: bool = True) -> Outcome:
    """From text to matches, which `take` is given. State is looked at now and then; bytes of texts are none of its rows.
    `named`: whether it may ask for names of events."""
    state = looks = 0
    engines: list[LocalEngine] = []
    load: float | None = None

    def look(progress: Progress) -> None:
        nonlocal state, looks, load
        if progress.triples and load is None:
            load = time.process_time() - began - spent()
        if progress.triples and _LOOKS * progress.done >= looks * progress.total:
            looks += 1
            state = max(state, sum(rows for kind, rows in progress.state().items() if kind != "texts"))

    def spent() -> float:
        return sum(stream.scanned for stream in streams.values())

    began = time.process_time()
    streams = {iri: Timed(open_source(path)) for iri, path in point.streams.items()}
    queries = [parse(text, point.language) for text in point.query.split(BETWEEN)]
    parts = run_in_parts(
        queries[0] if len(queries) == 1 else one_query(queries),
        streams,
        background={graph or None: path for graph, path in point.background.items()} or None,
        ontology=None if point.ontology is None else [point.ontology],
        options=replace(
            RunOptions.of(policy=_text(point, "policy"), time_unit=_text(point, "time_unit") or "ms"),
            indexed=not point.options.get(UNINDEXED),
        ),
        progress=look,
        counting=engines.append if point.options.get(COSTS) else None,
        named=named,
    )
    found = 0
    for matches in parts:
        take(matches)
        found += len(matches)
    return Outcome(found, state, {LOAD: load or 0.0, SCAN: spent(), **(_costs(engines[0]) if engines else {})})


def _costs(engine: LocalEngine) -> dict[str, float]:
    """What leaves cost, which match events one by one, and what the operators above them do."""
    found = {GPM: 0.0, AUTOMATON: 0.0}
    for unit, work in zip(engine.plan.units, engine.work, strict=True):
        for node, metrics in zip(nodes(unit.root), work, strict=True):
            found[AUTOMATON if node.inputs else GPM] += metrics.cpu / 1e9
    return found


def _text(point: Point, option: str) -> str | None:
    given = point.options.get(option)
    return None if given is None else str(given)
