"""Facts that plans of every kind have: the streams they read, and the operators of units that are no sequences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """A stream the query reads; `constructed_by` is the number of the query of the file that makes it."""

    iri: str
    alias: str | None
    constructed_by: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """An operator: what it is called, what there is to say about it, and the operators whose solutions it takes."""

    label: str
    details: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """A unit of a file that is no sequence over graph events, as a tree of operators."""

    number: int
    kind: str
    """`timed`, `events`, `windowed`, `continuous` or `periodic`; of a unit without an outline of its own, its type."""
    title: str
    streams: tuple[StreamFacts, ...]
    """None: it reads every stream given."""
    tree: Node
    notes: tuple[str, ...]
    """Which kernel takes it, when it is evaluated, which policy holds, how it is divided: `subject: sentence`."""
