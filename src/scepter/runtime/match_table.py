"""Matches as an Arrow table: when, and a column per variable with native values. A term that many rows have is decoded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from scepter.rdf.terms import Term, Triple
from scepter.runtime.matches import Match, MatchBatch
from scepter.runtime.native import NOTHING, TermColumn, plain_text
from scepter.timeline import TimeKind

_OWN: Final = frozenset({"query", "start", "end", "graph", "boolean", "event", "individual", "why"})
_TRIPLES: Final = pa.list_(pa.struct([(name, pa.string()) for name in ("s", "p", "o")]))


def match_table(
    matches: Sequence[Match],
    variables: Sequence[str] | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
    events: bool = False,
    queries: Sequence[str | int] = (),
) -> Any:
    """Matches as a table. `variables` are the columns (None: those that matches bind); `prefixes` shorten IRIs; `events` adds
    the names of the events of each part, as `events.A`; `queries` are the names of several queries, by their numbers."""
    if variables is None:
        variables = list(dict.fromkeys(name for match in matches for name in match.bindings))
    columns: dict[str, Any] = {}
    if queries:
        named = any(isinstance(name, str) for name in queries)
        told = [str(queries[match.query]) if named else queries[match.query] for match in matches]
        columns["query"] = pa.array(told, pa.string() if named else pa.int64())
    columns |= {"start": _times(matches, lambda m: m.start), "end": _times(matches, lambda m: m.end)}
    shown = partial(plain_text, prefixes=prefixes)
    for name, column in zip(variables, _term_columns(matches, variables), strict=True):
        columns[f"?{name}" if name in _OWN else name] = column.native(shown)
    columns |= _other_forms(matches, shown)
    if events:
        columns |= _events(matches)
    return pa.table(columns)


def _times(matches: Sequence[Match], instant: Callable[[Match], int]) -> Any:
    values = pa.array([instant(match) for match in matches], pa.int64())
    dated = bool(matches) and matches[0].kind is TimeKind.DATETIME
    return values.cast(pa.timestamp("us", tz="UTC")) if dated else values


def _term_columns(matches: Sequence[Match], variables: Sequence[str]) -> list[TermColumn]:
    numbers: list[dict[Term, int]] = [{} for _ in variables]
    parts: list[list[NDArray[np.int64]]] = [[] for _ in variables]
    for batch, rows in _stretches(matches):
        if isinstance(batch, MatchBatch) and batch.in_columns:
            _from_columns(batch, rows, variables, numbers, parts)
        else:
            _one_by_one(batch, rows, variables, numbers, parts)
    empty = np.empty(0, np.int64)
    return [TermColumn(list(n), np.concatenate([empty, *p])) for n, p in zip(numbers, parts, strict=True)]


def _stretches(matches: Sequence[Match]) -> Iterator[tuple[Any, list[int]]]:
    """Matches of one batch that stand side by side."""
    for _, group in groupby(matches, key=lambda match: id(match._batch)):
        stretch = list(group)
        yield stretch[0]._batch, [match._row for match in stretch]


def _from_columns(
    batch: MatchBatch,
    rows: list[int],
    variables: Sequence[str],
    numbers: list[dict[Term, int]],
    parts: list[list[NDArray[np.int64]]],
) -> None:
    at = np.array(rows, np.int64)
    for name, known, found in zip(variables, numbers, parts, strict=True):
        if name not in batch.names:
            found.append(np.full(len(rows), NOTHING, np.int64))
            continue
        column = batch.names.index(name)
        different, first, place = np.unique(batch.ids[at, column], return_index=True, return_inverse=True)
        refs = batch.refs[at, column][first].tolist()
        terms = [batch.texts.term(ref, id) for ref, id in zip(refs, different.tolist(), strict=True)]
        codes = np.array([known.setdefault(term, len(known)) for term in terms], np.int64)
        found.append(codes[place])


def _one_by_one(
    batch: Any,
    rows: list[int],
    variables: Sequence[str],
    numbers: list[dict[Term, int]],
    parts: list[list[NDArray[np.int64]]],
) -> None:
    bound = [Match(batch, row).bindings for row in rows]
    for name, known, found in zip(variables, numbers, parts, strict=True):
        terms = (each.get(name) for each in bound)
        codes = [NOTHING if term is None else known.setdefault(term, len(known)) for term in terms]
        found.append(np.array(codes, np.int64))


def _other_forms(matches: Sequence[Match], shown: Callable[[Term], str]) -> dict[str, Any]:
    """What answers other than rows of bindings have: graphs, ASK's yes, occurrences."""
    columns: dict[str, Any] = {}
    occurrences = [match.occurrence for match in matches]
    if any(occurrences):
        for at, name in enumerate(("event", "individual")):
            columns[name] = pa.array([None if each is None else shown(each[at]) for each in occurrences], pa.string())
    graphs = [_graph(match.graph) for match in matches]
    if any(graph is not None for graph in graphs):
        columns["graph"] = pa.array(graphs, _TRIPLES)
    if any(match.boolean is not None for match in matches):
        columns["boolean"] = pa.array([match.boolean for match in matches], pa.bool_())
    return columns


def _graph(triples: Sequence[Triple] | None) -> list[dict[str, str]] | None:
    return None if triples is None else [{"s": str(s), "p": str(p), "o": str(o)} for s, p, o in triples]


def _events(matches: Sequence[Match]) -> dict[str, Any]:
    selected = [match.events for match in matches]
    parts = list(dict.fromkeys(part for each in selected for part in each))
    names = pa.list_(pa.string())
    return {
        f"events.{part}": pa.array([[event_name(e) for e in each[part]] if part in each else None for each in selected], names)
        for part in parts
    }


def event_name(event: object) -> str:
    """What an event is called: its name, or what it is."""
    name = getattr(event, "name", None)
    return str(event) if name is None else str(name)
