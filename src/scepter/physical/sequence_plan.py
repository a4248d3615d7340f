"""The physical plan of a sequence: scans, atoms and chains as tables of numbers the kernel can follow.

A query's `Sequence` becomes a union of *chains* (one per way to take its optional atoms, SPAseq rule 9). A chain is a list of
*steps*; a step's *atom* is a disjunction of conjunctions of scans. Variables are numbered: a `slot` is a variable's place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Exists, Expression
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import AfterMatch, Ask, Counting, Preference, Result, Select, Selection, Stream, Window
from scepter.algebra.walk import find
from scepter.physical.nodes.event_core import Core, Graphs
from scepter.physical.nodes.nodes import Node, nodes
from scepter.rdf.terms import IRI
from scepter.timeline import Duration


@dataclass(frozen=True)
class ScanPlan:
    """One GPM: which events it looks at and how."""

    label: str
    stream: int
    pattern: Pattern
    """The whole body without its outermost filters."""
    local: tuple[Expression, ...]
    """The outermost filters that the event's own mapping decides."""
    tree: Node | None
    """The operators of the pattern, which read `Core`; None: the exact evaluator, event by event."""
    why: str
    """Why the exact evaluator, in a user's words."""
    slots: tuple[int, ...]
    """The slots the scan binds, in the order of its solutions' columns."""
    certain: frozenset[int]
    """Those bound in every solution."""

    @cached_property
    def cores(self) -> tuple[Core, ...]:
        """What of the pattern is matched in events."""
        return () if self.tree is None else tuple(node for node in nodes(self.tree) if isinstance(node, Core))

    @property
    def graphs(self) -> Graphs:
        """The `GRAPH iri { … }` parts that are looked up."""
        return tuple(graph for core in self.cores for graph in core.graphs)


@dataclass(frozen=True, slots=True)
class StatefulFilter:
    """A filter that needs the match so far; `scan` is the position in its branch of the scan that wrote it."""

    expression: Expression
    scan: int
    previous: bool
    """Uses PREV: true in the first iteration."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A conjunction of scans at one time."""

    scans: tuple[int, ...]
    joint: tuple[Expression, ...]
    """Filters that need several of the branch's scans, but nothing earlier; with the position of the scan that wrote each."""
    joint_scans: tuple[int, ...]
    stateful: tuple[StatefulFilter, ...]


@dataclass(frozen=True, slots=True)
class AtomPlan:
    """A disjunction of branches; `slots` is the union of what they bind."""

    branches: tuple[Branch, ...]
    slots: tuple[int, ...]
    certain: frozenset[int]


@dataclass(frozen=True, slots=True)
class IterationPlan:
    """How `B+` goes on."""

    selection: Selection
    local: frozenset[int]
    """Slots bound anew by each iteration."""
    key: tuple[int, ...]
    """Slots every run and every solution bind: the join key of the next iteration."""
    shared: tuple[int, ...]
    """All slots that must be compatible."""
    least: int = 1
    most: int | None = None
    preference: Preference = Preference.EVERY


@dataclass(frozen=True, slots=True)
class GapPlan:
    """How long after another part's event a step's events may come: places in `QueryPlan.gaps` and `QueryPlan.marks`."""

    gap: int
    mark: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A time that runs carry: of the first or the last event that a part has selected."""

    label: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class NegationPlan:
    """A negated scan beside a step."""

    atom: int
    key: tuple[int, ...]
    shared: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One positive atom of a chain and how it follows the one before."""

    atom: int
    selection: Selection | None
    negations: tuple[NegationPlan, ...]
    key: tuple[int, ...]
    shared: tuple[int, ...]
    iteration: IterationPlan | None
    bound: GapPlan | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A sequence without optional atoms."""

    steps: tuple[StepPlan, ...]
    leading: tuple[NegationPlan, ...]
    trailing: tuple[NegationPlan, ...]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One query, ready to run."""

    result: Result
    streams: tuple[Stream, ...]
    variables: tuple[str, ...]
    """Slot -> variable name."""
    scans: tuple[ScanPlan, ...]
    atoms: tuple[AtomPlan, ...]
    chains: tuple[Chain, ...]
    window: Window | None
    partition: tuple[int, ...]
    aggregated: tuple[tuple[str, int], ...]
    """(part, slot) pairs whose values over the iterations are asked for."""
    solutions: bool
    """Whether a match is a mapping and an interval, whatever events it came from."""
    predicates: frozenset[IRI] | None
    """The predicates any scan can use; None when one can use all."""
    gaps: tuple[Duration, ...] = ()
    """The longest times of gap bounds."""
    marks: tuple[Mark, ...] = ()
    """The times that runs carry for gap bounds and for where the search goes on."""
    skip: AfterMatch | None = None
    timeouts: bool = False
    """Whether partial matches that ran out of time are the result."""
    merged: bool = False
    """Whether its streams are one; without any, all that are given."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The parts of a match, in the order of the query."""
        return tuple(dict.fromkeys(scan.label for scan in self.scans))

    @property
    def shown(self) -> tuple[str, ...]:
        """The variables of its answers."""
        match self.result:
            case Select(columns):
                return tuple(variable.name for variable, _ in columns)
            case Ask():
                return ()
            case _:
                return self.variables

    @property
    def ticked(self) -> bool:
        """Whether it looks at every event, matched or not: by contiguity, or in a window that counts them."""
        return isinstance(self.window, Counting) or any(
            Selection.STRICT in (step.selection, step.iteration.selection if step.iteration else None)
            for chain in self.chains
            for step in chain.steps
        )

    @property
    def at_once(self) -> bool:
        """Whether no event at the very time of a match can take it away: in a window that counts events it could, by beginning
        earlier (skip), by going on (timeouts), by going before (greedy, reluctant)."""
        iterations = [step.iteration for chain in self.chains for step in chain.steps if step.iteration is not None]
        prefers = any(iteration.preference is not Preference.EVERY for iteration in iterations)
        return not (isinstance(self.window, Counting) or self.skip is not None or self.timeouts or prefers)

    @property
    def in_parts(self) -> bool:
        """Whether events of one time take no notice of each other: no step looks at what else happens then, by contiguity,
        conjunction or negation; and a match is one by its events, or by its solution."""
        (chain, *others), result = self.chains, self.result
        negations = (*chain.leading, *chain.trailing, *(negation for step in chain.steps for negation in step.negations))
        alone = all(len(branch.scans) == 1 for atom in self.atoms for branch in atom.branches)
        once = isinstance(result, Select) and result.distinct
        return self.at_once and alone and not (others or negations or self.ticked or once)

    @property
    def looks_at_graphs(self) -> bool:
        """Whether a filter that several events decide asks for what is in an event's graph."""
        branches = [branch for atom in self.atoms for branch in atom.branches]
        conditions = [f.expression for b in branches for f in b.stateful] + [e for b in branches for e in b.joint]
        return any(True for condition in conditions for _ in find(condition, Exists))
