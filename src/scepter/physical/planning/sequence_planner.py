"""From the algebra of a query to its physical plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from scepter.algebra.expressions import Exists, Expression, IterationAggregate, Previous
from scepter.algebra.patterns import (
    Pattern,
)
from scepter.algebra.query import (
    Atom,
    Conjunction,
    Disjunction,
    Gap,
    Iteration,
    Negation,
    Optional,
    Query,
    Resume,
    Scan,
    Selection,
    Step,
)
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.walk import find
from scepter.errors import query_error
from scepter.physical.nodes.nodes import Node as Operators
from scepter.physical.planning.event_graph import event_tree
from scepter.physical.planning.predicates import sequence_predicates
from scepter.physical.planning.window_contents import NotPlanned
from scepter.physical.sequence_plan import (
    AtomPlan,
    Branch,
    Chain,
    GapPlan,
    IterationPlan,
    Mark,
    NegationPlan,
    QueryPlan,
    ScanPlan,
    StatefulFilter,
    StepPlan,
)


def plan_query(query: Query, *, indexed: bool = True) -> QueryPlan:
    """The physical plan of one query; raises QueryError for what only planning can see. Where runs are not `indexed`, they look
    at every row of the next step's table instead of those of their key."""
    return _Planner(query, indexed).plan()


@dataclass(slots=True)
class _Planner:
    """One query's planning: the tables that grow while its steps are visited in the order of the text."""

    query: Query
    indexed: bool = True
    slots: dict[str, int] = field(default_factory=dict)
    scans: list[ScanPlan] = field(default_factory=list)
    atoms: list[AtomPlan] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    _numbers: dict[ScanPlan, int] = field(default_factory=dict)
    """Of each scan its place: looked up, since a query may have thousands."""

    def plan(self) -> QueryPlan:
        for scan in find(self.query.pattern, Scan):
            for name in sorted(_visible(scan.pattern)):
                self.slots.setdefault(name, len(self.slots))
        self._check_partition()
        positions = self._plan_atoms()
        chains = tuple(self._plan_chain(choice) for choice in _alternatives(self.query.pattern.steps, positions))
        skip = self.query.skip
        if skip is not None and skip.label is not None:
            self._mark(Mark(skip.label, skip.resume is Resume.FIRST))
        return QueryPlan(
            result=self.query.result,
            streams=self.query.streams,
            variables=tuple(self.slots),
            scans=tuple(self.scans),
            atoms=tuple(self.atoms),
            chains=chains,
            window=self.query.window,
            partition=tuple(self.slots[v.name] for v in self.query.partition),
            aggregated=self._aggregated(),
            solutions=self.query.solutions,
            predicates=sequence_predicates(self.query),
            gaps=tuple(gap.duration for gap in self.gaps),
            marks=tuple(self.marks),
            skip=skip,
            timeouts=self.query.timeouts,
            merged=self.query.merged,
        )

    def _check_partition(self) -> None:
        for variable, scan in itertools.product(self.query.partition, find(self.query.pattern, Scan)):
            if variable.name not in certain(scan.pattern):
                raise query_error(
                    "partition-variable",
                    f"PARTITION BY ?{variable.name}, but GPM {scan.label} does not always bind ?{variable.name}",
                    variable.span,
                    help=f"bind ?{variable.name} outside OPTIONAL and UNION in GPM {scan.label}, or partition otherwise",
                )

    def _plan_atoms(self) -> list[int]:
        """Plan each step's atom once, with the variables of the steps before it in the text as `earlier`."""
        earlier: set[str] = set()
        positions = []
        for step in self.query.pattern.steps:
            planned = tuple(self._plan_branch(scans, earlier) for scans in branches(step.atom))
            bound = [frozenset().union(*(self.scans[s].slots for s in b.scans)) for b in planned]
            sure = [frozenset().union(*(self.scans[s].certain for s in b.scans)) for b in planned]
            self.atoms.append(
                AtomPlan(planned, tuple(sorted(frozenset().union(*bound))), frozenset.intersection(*sure)),
            )
            positions.append(len(self.atoms) - 1)
            if not isinstance(step.atom, Negation):
                for scan in find(step.atom, Scan):
                    earlier |= _visible(scan.pattern)
        return positions

    def _plan_branch(self, scans: tuple[Scan, ...], earlier: AbstractSet[str]) -> Branch:
        numbers: list[int] = []
        joint: list[tuple[Expression, int]] = []
        stateful: list[StatefulFilter] = []
        beside: set[str] = set()
        for position, scan in enumerate(scans):
            sure = certain(scan.pattern)
            local = []
            for condition in scan.filters:
                uses = mentioned_variables(condition)
                previous = any(True for _ in find(condition, Previous))
                if previous or find_any(condition, IterationAggregate) or (uses & earlier) - sure:
                    stateful.append(StatefulFilter(condition, position, previous))
                elif (uses & beside) - sure:
                    joint.append((condition, position))
                else:
                    local.append(condition)
            numbers.append(self._plan_scan(scan, tuple(local)))
            beside |= _visible(scan.pattern)
        return Branch(tuple(numbers), tuple(e for e, _ in joint), tuple(p for _, p in joint), tuple(stateful))

    def _plan_scan(self, scan: Scan, local: tuple[Expression, ...]) -> int:
        stream = 0 if self.query.merged else next(i for i, s in enumerate(self.query.streams) if s.iri == scan.stream)
        names = sorted(_visible(scan.pattern), key=self.slots.__getitem__)
        tree, why = _tree_of(scan, stream)
        plan = ScanPlan(
            label=scan.label,
            stream=stream,
            pattern=scan.pattern,
            local=local,
            tree=tree,
            why=why,
            slots=tuple(self.slots[n] for n in names),
            certain=frozenset(self.slots[n] for n in certain(scan.pattern) if n in self.slots),
        )
        if plan not in self._numbers:
            self._numbers[plan] = len(self.scans)
            self.scans.append(plan)
        return self._numbers[plan]

    def _plan_chain(self, choice: tuple[_Choice, ...]) -> Chain:
        steps: list[StepPlan] = []
        leading: tuple[NegationPlan, ...] = ()
        negated: list[int] = []
        bound: set[int] = set()
        sure: set[int] = set()
        for item in choice:
            if item.negated:
                negated.append(item.atom)
                continue
            atom = self.atoms[item.atom]
            shared = tuple(sorted(bound & set(atom.slots)))
            key = self._key(shared, sure & atom.certain)
            if steps:
                negations = tuple(self._negation(n, bound, sure) for n in negated)
            else:
                leading = tuple(self._negation(n, set(atom.slots), set(atom.certain)) for n in negated)
                negations = ()
            iteration = self._iteration(item, atom)
            selection = item.selection if steps else None
            steps.append(StepPlan(item.atom, selection, negations, key, shared, iteration, self._bound(item.bound)))
            negated.clear()
            bound |= set(atom.slots)
            sure |= atom.certain
        trailing = tuple(self._negation(n, bound, sure) for n in negated)
        return Chain(tuple(steps), leading, trailing)

    def _negation(self, atom: int, bound: set[int], sure: set[int]) -> NegationPlan:
        shared = tuple(sorted(bound & set(self.atoms[atom].slots)))
        return NegationPlan(atom, self._key(shared, sure & self.atoms[atom].certain), shared)

    def _key(self, shared: tuple[int, ...], certain: AbstractSet[int]) -> tuple[int, ...]:
        """The slots by which rows are found: those that are shared and surely bound on both sides. The others are compared.
        Those of PARTITION BY are more than an index: contiguity looks at the events of the partition only (rule 14)."""
        partition = {self.slots[variable.name] for variable in self.query.partition}
        return tuple(s for s in shared if s in certain and (self.indexed or s in partition))

    def _iteration(self, item: _Choice, atom: AtomPlan) -> IterationPlan | None:
        if item.iteration is None:
            return None
        # an iteration stays in its partition (rule 14), whatever else it binds anew
        partition = {v.name for v in self.query.partition}
        local = frozenset(self.slots[v] for v in item.iteration.local if v in self.slots and v not in partition)
        shared = tuple(s for s in atom.slots if s not in local)
        # a run that waits for the next iteration has been through one, so what the atom always binds is bound
        return IterationPlan(
            item.iteration.selection, local, self._key(shared, atom.certain), shared,
            item.iteration.least, item.iteration.most, item.iteration.preference,
        )  # fmt: skip

    def _bound(self, gap: Gap | None) -> GapPlan | None:
        if gap is None:
            return None
        if gap not in self.gaps:
            self.gaps.append(gap)
        return GapPlan(self.gaps.index(gap), self._mark(Mark(gap.label)))

    def _mark(self, mark: Mark) -> int:
        if mark not in self.marks:
            self.marks.append(mark)
        return self.marks.index(mark)

    def _aggregated(self) -> tuple[tuple[str, int], ...]:
        asked = {(node.part, self.slots[node.variable.name]) for node in find(self.query, IterationAggregate)}
        return tuple(sorted(asked))


@dataclass(frozen=True, slots=True)
class _Choice:
    """One atom of one alternative."""

    atom: int
    selection: Selection | None
    negated: bool
    iteration: Iteration | None
    bound: Gap | None = None


def _alternatives(steps: tuple[Step, ...], positions: list[int]) -> Iterator[tuple[_Choice, ...]]:
    """Every way to take the optional atoms: present, or as a negation (SPAseq rule 9)."""
    ways = []
    for step, position in zip(steps, positions, strict=True):
        iteration = step.atom if isinstance(step.atom, Iteration) else None
        present = _Choice(position, step.selection, False, iteration, step.bound)
        absent = _Choice(position, step.selection, True, None)
        match step.atom:
            case Optional():
                ways.append([present, absent])
            case Negation():
                ways.append([absent])
            case _:
                ways.append([present])
    for choice in itertools.product(*ways):
        if not all(item.negated for item in choice):
            yield choice


def branches(atom: Atom) -> list[tuple[Scan, ...]]:
    """Disjunctive normal form: a list of conjunctions of scans, as the branches of the atom's plan."""
    match atom:
        case Scan():
            return [(atom,)]
        case Conjunction(left, right):
            return [a + b for a in branches(left) for b in branches(right)]
        case Disjunction(left, right):
            return branches(left) + branches(right)
        case Iteration(scan=scan) | Negation(scan) | Optional(scan):
            return [(scan,)]


def _visible(pattern: Pattern) -> frozenset[str]:
    return frozenset(name for name in in_scope(pattern) if not name.startswith("_:"))


def find_any(node: Expression, kind: type) -> bool:
    """Whether a node of the kind stands anywhere in the expression."""
    return any(True for _ in find(node, kind))


def _tree_of(scan: Scan, stream: int) -> tuple[Operators | None, str]:
    """The operators of a scan's pattern, or None and why the exact evaluator matches it."""
    if any(find_any(condition, Exists) for condition in scan.filters):
        return None, "EXISTS needs the exact evaluator"
    try:
        return event_tree(scan.pattern, stream), ""
    except NotPlanned as reason:
        return None, str(reason)
