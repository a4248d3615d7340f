"""The words that every format of `explain` uses for the same thing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import assert_never

from scepter.algebra.query import Selection
from scepter.algebra.timed import SPELLING
from scepter.physical.distribution.partitioning import FIRST_EVENT, Partitioning, PartitionKind
from scepter.physical.explain.automaton import Absence, Alternative, Transition, TransitionKind
from scepter.physical.nodes.nodes import listed

SELECTIONS: Mapping[Selection, str] = {
    Selection.STRICT: "strict contiguity",
    Selection.NEXT: "skip-till-next",
    Selection.ANY: "skip-till-any",
    Selection.BEFORE: "every later one",
}
"""The papers' names."""


def title(language: str, number: int, count: int) -> str:
    """The heading of a query."""
    return f"{language} query" + (f" {number} of {count}" if count > 1 else "")


def division(partition: Partitioning) -> str:
    """How the work is divided, and why."""
    match partition.kind:
        case PartitionKind.KEY:
            return f"by {listed(partition.variables)}: {partition.why}"
        case PartitionKind.TUMBLING:
            return f"by window: {partition.why}"
        case PartitionKind.SLICES:
            live = _grid(partition) if partition.variables else "not at all"
            return f"by slices of time over history, {live} on a live stream: {partition.why}"
        case PartitionKind.GRID:
            return f"{_grid(partition)}: {partition.why}"
        case PartitionKind.ONE:
            return f"none, all in one partition: {partition.why}"
        case _:
            assert_never(partition.kind)


def _grid(partition: Partitioning) -> str:
    if partition.variables == (FIRST_EVENT,):
        return "in buckets by the first event of matches (the others go to each)"
    return f"in a grid by {listed(partition.variables)}"


_TIME = re.compile(rf"(?:_:)?({'|'.join(SPELLING)})\b")
_GENERATED = re.compile(r"\??_:[\w.]+")


def readable(text: str) -> str:
    """A node's line in the user's words: time functions as they are written, generated names as a dot.

    >>> readable("Extend _:GETDURATION() AS ?took by ?_:row0")
    'Extend getDURATION() AS ?took by ·'
    """
    return _GENERATED.sub("·", _TIME.sub(lambda found: SPELLING[found[1]], text))


def conditions(transition: Transition) -> list[str]:
    """What it takes to go along a transition, line by line: first how, then what, then what must be absent."""
    lines = [_how(transition)]
    several = len(transition.alternatives) > 1
    for number, alternative in enumerate(transition.alternatives):
        lines += _alternative(alternative, ("either " if number == 0 else "or ") if several else "")
    return lines + [_absence(a) for a in transition.absences]


def _how(transition: Transition) -> str:
    joins = f", joined on {listed(transition.joins)}" if transition.joins else ""
    match transition.kind:
        case TransitionKind.BEGIN:
            return "begins a match"
        case TransitionKind.FOLLOW:
            bound = f", {transition.bound}" if transition.bound else ""
            return f"{_selected(transition)}{bound}{joins}"
        case TransitionKind.REPEAT:
            anew = f"; {listed(transition.anew)} bound anew" if transition.anew else ""
            return f"again, {_selected(transition)}{joins}{anew}"
        case TransitionKind.COMPLETE:
            return "completes the match" + (" when the window closes" if transition.absences else "")
        case _:
            assert_never(transition.kind)


def _selected(transition: Transition) -> str:
    assert transition.selection is not None  # only the first step of a sequence has none
    return SELECTIONS[transition.selection]


def _alternative(alternative: Alternative, lead: str) -> list[str]:
    head, indent = ([f"{lead}{' & '.join(alternative.parts)}"], "  ") if lead else ([], "")
    stateful = [f"{indent}with the match so far: {f}" for f in alternative.stateful]
    return [*head, *(f"{indent}where {f}" for f in alternative.filters), *stateful]


def _absence(negated: Absence) -> str:
    joins = f", joined on {listed(negated.joins)}" if negated.joins else ""
    filters = f", with {' and '.join(negated.filters)}" if negated.filters else ""
    return f"unless {negated.label} comes {negated.where}{joins}{filters}"
