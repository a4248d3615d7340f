"""What a diagnosis says."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Stage:
    """A condition, and how many passed it and all conditions before it."""

    condition: str
    """Empty where the step's title says it."""
    count: int
    example: str | None = None
    """Where it stops everything: with which values it did so."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the pattern with its conditions, in the order in which they are tried."""

    title: str
    counted: str
    """What the stages count: `events`, `solutions`, …"""
    stages: tuple[Stage, ...]
    depth: int = 0

    @property
    def stopper(self) -> Stage | None:
        """The first condition that nothing passes."""
        return next((stage for stage in self.stages if not stage.count), None)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A partial match and the first condition that stopped it."""

    selected: tuple[str, ...]
    """The events it holds, as `A = e1 at 10`."""
    bindings: str
    reason: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The steps of one query of a file."""

    title: str
    matches: int
    """Of the query, in the events looked at."""
    steps: tuple[Step, ...]
    partial: int = 0
    """How many partial matches came farthest."""
    reached: str = ""
    """How far they came."""
    stopped: tuple[Stopped, ...] = ()
    """Some of them."""
    focused: int | None = None
    """How many of the matches hold what was asked about; the steps then count that alone, and what is stopped are the nearest
    misses."""
    timeouts: int | None = None
    """Where the query asks for partial matches that ran out of time (ON TIMEOUT): how many did. `matches` then are those that
    were completed, and the steps say how far events come."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The diagnoses of a file's queries, and of which events they speak."""

    diagnoses: tuple[Diagnosis, ...]
    events: int
    """So many events were looked at."""
    total: int
    """So many there are."""
    until: str | None
    """The time up to which events were looked at, where that is not all of them."""
    why: str = ""
    """Why not all of them."""
    focus: str = ""
    """What was asked about: an event, a key."""
    since: str | None = None
    """The time from which on they were looked at, where that is not all of them."""

    def __str__(self) -> str:
        from scepter.insight.diagnosis.text import diagnosis_text  # which knows this module

        return diagnosis_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
