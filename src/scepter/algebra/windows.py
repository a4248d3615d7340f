"""Queries over windows of streams (spec/30-rsep-ql): at each evaluation instant a graph pattern over the windows' content,
joined with the mappings of event patterns over their items.

`WINDOW w { P }` is a `Graph` whose name is `window_graph(w)`: a window is an element of the dataset, as a named graph is (paper
003, Definition 4). `MATCH { E }` is a `patterns.Match` that names an event pattern of the query by its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never

from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Construct, Result, Stream
from scepter.errors import Span
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Duration, TimeKind


@dataclass(frozen=True, slots=True)
class Landmark:
    """The items from an instant on: of a kind where the query writes a dateTime, else a count of time units."""

    instant: int
    kind: TimeKind
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The items of the last `width`, moved on every `step` (None: one time unit)."""

    width: Duration
    step: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Version:
    """The last item alone: a graph that varies in time (paper 003, Definition 2) is the stream of its versions, each the whole
    graph from its time on. Items of one instant are one version."""

    default: bool = False
    """Whether it is part of the default graph too (FROM)."""


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `count` items, or triples, moved on every `step` of them; what comes at one instant comes and goes together."""

    count: int
    step: int = 1
    triples: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A named window over a stream."""

    name: IRI
    stream: IRI
    extent: Landmark | TimeWindow | CountWindow | Version


def version_streams(unit: object) -> Iterator[IRI]:
    """The streams of a unit that are the versions of a graph."""
    if isinstance(unit, WindowedQuery):
        yield from (window.stream for window in unit.windows if isinstance(window.extent, Version))


def window_graph(name: IRI) -> IRI:
    """The name of a window's content in the dataset; no graph that a user names is called so.

    >>> window_graph(IRI("http://example/w")).value
    'window:http://example/w'
    """
    return IRI(f"window:{name.value}")


def is_window_graph(name: Term) -> bool:
    """Whether a graph's name is that of a window's content."""
    return isinstance(name, IRI) and name.value.startswith("window:")


def hidden_names(match: int) -> tuple[str, str, str]:
    """The variables that the n-th Match binds besides those of its events: which mapping it is, its start and its end.

    MATCH drops the times for joining (rule 10), yet a result row shows them. No user can write these names; projections let
    them pass, and where rows are put together (GROUP BY, DISTINCT) the hull of their times goes on.

    >>> hidden_names(0)
    ('_:match0', '_:match0.start', '_:match0.end')
    """
    return f"_:match{match}", f"_:match{match}.start", f"_:match{match}.end"


class Policy(Enum):
    """Which event mappings a SEQ selects."""

    UNRESTRICTED = "unrestricted"
    CHRONOLOGICAL = "chronological"
    RECENT = "recent"
    NAIVE = "naive"

    @property
    def consumes(self) -> bool:
        """Whether later evaluations do not see the items it selected (rule 9)."""
        return self in (Policy.CHRONOLOGICAL, Policy.RECENT)


@dataclass(frozen=True, slots=True)
class ItemScan:
    """`EVENT ON w { P } AS E`: P on each item of the window on its own."""

    label: str
    window: IRI
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Earliest:
    """`FIRST E`."""

    operand: EventPattern


@dataclass(frozen=True, slots=True)
class Latest:
    """`LAST E`."""

    operand: EventPattern


@dataclass(frozen=True, slots=True)
class Followed:
    """`E SEQ E`; without a policy of its own it takes the run's."""

    left: EventPattern
    right: EventPattern
    policy: Policy | None = None


EventPattern: TypeAlias = ItemScan | Earliest | Latest | Followed


def scans(pattern: EventPattern) -> Iterator[ItemScan]:
    """The scans of an event pattern, from left to right."""
    match pattern:
        case ItemScan():
            yield pattern
        case Earliest(operand) | Latest(operand):
            yield from scans(operand)
        case Followed(left, right):
            yield from scans(left)
            yield from scans(right)
        case _:
            assert_never(pattern)


def consumed_windows(pattern: EventPattern, policy: Policy, *, under: bool = False) -> frozenset[IRI]:
    """The windows in which a pattern consumes what it selects (spec/30-rsep-ql rule 9); `policy` is that of SEQ without its
    own, `under` says whether it stands under one that consumes.

    >>> from scepter.algebra.patterns import BGP
    >>> a, b = (ItemScan(label, IRI(f"http://e/{label}"), BGP(())) for label in "ab")
    >>> sorted(window.value for window in consumed_windows(Followed(a, b, Policy.RECENT), Policy.UNRESTRICTED))
    ['http://e/a', 'http://e/b']
    >>> consumed_windows(Followed(a, b), Policy.UNRESTRICTED)
    frozenset()
    """
    match pattern:
        case ItemScan(window=window):
            return frozenset({window}) if under else frozenset()
        case Earliest(operand) | Latest(operand):
            return consumed_windows(operand, policy, under=under)
        case Followed(left, right, stated):
            own = under or (stated or policy).consumes
            return consumed_windows(left, policy, under=own) | consumed_windows(right, policy, under=own)
        case _:
            assert_never(pattern)


def consumers(pattern: EventPattern, patterns: Sequence[EventPattern], policy: Policy) -> tuple[EventPattern, ...]:
    """Those of some patterns, without this one, whose consumption decides what it sees: they consume in a window that it reads,
    or that one of them reads."""
    concerned = {scan.window for scan in scans(pattern)}
    found: list[EventPattern] = []
    while more := [each for each in patterns if each not in (pattern, *found) and consumed_windows(each, policy) & concerned]:
        found += dict.fromkeys(more)
        concerned |= {scan.window for each in more for scan in scans(each)}
    return tuple(found)


class Report(Enum):
    """When a query is evaluated, unless the instants are given."""

    CONTENT_CHANGE = "content change"
    """At every instant at which some stream of the query has an item."""
    WINDOW_CLOSE = "window close"
    """At every multiple of the smallest step, from the first item on."""


class RelationToStream(Enum):
    """What of an answer goes to the output."""

    ISTREAM = "istream"
    """What is new since the previous evaluation."""
    RSTREAM = "rstream"
    """All."""
    DSTREAM = "dstream"
    """What has gone."""


@dataclass(frozen=True, slots=True)
class WindowedQuery:
    """A graph pattern over windows, event patterns and background, evaluated again and again.

    `pattern` is the whole WHERE clause with the SELECT's projection and modifiers on top of it.
    """

    result: Result
    windows: tuple[StreamWindow, ...]
    pattern: Pattern
    events: tuple[EventPattern, ...] = ()
    """What `patterns.Match(n, …)` stands for, by n."""
    output: RelationToStream = RelationToStream.ISTREAM
    report: Report = Report.CONTENT_CHANGE
    default_graphs: tuple[IRI, ...] = ()
    """The background graphs that are part of the default graph (FROM)."""
    named_graphs: tuple[IRI, ...] = ()
    """The background graphs that GRAPH ranges over (FROM NAMED); none means all that are given."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams of its windows, each once."""
        return tuple(Stream(iri) for iri in dict.fromkeys(window.stream for window in self.windows))

    @property
    def into(self) -> IRI | None:
        """The stream it constructs."""
        return self.result.into if isinstance(self.result, Construct) else None
