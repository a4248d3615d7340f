"""From the algebra of a query to its physical plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from scepter.algebra.expressions import Constant, Exists, Expression, IterationAggregate, Previous, Variable
from scepter.algebra.patterns import (
    BGP,
    Graph,
    Join,
    Node,
    Pattern,
    TriplePattern,
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
from scepter.physical.predicates import sequence_predicates
from scepter.physical.sequence_plan import (
    AtomPlan,
    Branch,
    Chain,
    GapPlan,
    IterationPlan,
    Mark,
    NegationPlan,
    QueryPlan,
    Road,
    ScanPlan,
    Shape,
    StatefulFilter,
    StepPlan,
)
from scepter.rdf.terms import IRI


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
        triples, graphs, why = _columnar_parts(scan)
        shape: Shape | None = None
        columns: tuple[int, ...] = ()
        if triples is not None:
            shape, graphs, numbering = _shape(stream, triples, graphs)
            columns = tuple(numbering[name] for name in names)
        plan = ScanPlan(
            label=scan.label,
            stream=stream,
            pattern=scan.pattern,
            local=local,
            road=Road.GENERAL if shape is None else Road.COLUMNAR,
            why=why,
            slots=tuple(self.slots[n] for n in names),
            certain=frozenset(self.slots[n] for n in certain(scan.pattern) if n in self.slots),
            shape=shape,
            shape_columns=columns,
            graphs=graphs,
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


Graphs = tuple[tuple[IRI, tuple[TriplePattern, ...]], ...]


def _columnar_parts(scan: Scan) -> tuple[tuple[TriplePattern, ...] | None, Graphs, str]:
    """The triples and background parts of a pattern the columnar road takes, or None and the reason.

    Background triples are ordered so that each has as many bound places as can be when it is looked up.
    """
    triples: list[TriplePattern] = []
    graphs: list[tuple[IRI, tuple[TriplePattern, ...]]] = []
    for part in _joined(scan.pattern):
        match part:
            case BGP(more):
                triples += more
            case Graph(Constant(IRI() as name), BGP(more)):
                graphs.append((name, more))
            case _:
                return None, (), f"{_spoken(part)} needs the exact evaluator"
    if any(find_any(condition, Exists) for condition in scan.filters):
        return None, (), "EXISTS needs the exact evaluator"
    if not triples:
        return None, (), "no triple pattern looks at the event itself"
    bound = {n.name for t in triples for n in _places(t) if isinstance(n, Variable)}
    ordered = tuple((name, _connected(more, bound)) for name, more in graphs)
    return tuple(triples), ordered, "a basic graph pattern"


def _places(triple: TriplePattern) -> tuple[Node, Node, Node]:
    return triple.subject, triple.predicate, triple.object


def _connected(triples: tuple[TriplePattern, ...], bound: set[str]) -> tuple[TriplePattern, ...]:
    """Order triples so that each has as many bound places as possible when its turn comes; `bound` grows."""
    left, ordered = list(triples), []
    while left:
        best = max(left, key=lambda t: sum(not isinstance(n, Variable) or n.name in bound for n in _places(t)))
        left.remove(best)
        ordered.append(best)
        bound |= {n.name for n in _places(best) if isinstance(n, Variable)}
    return tuple(ordered)


def _joined(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Join):
        yield from _joined(pattern.left)
        yield from _joined(pattern.right)
    else:
        yield pattern


_SPOKEN = {
    "LeftJoin": "OPTIONAL",
    "Union": "UNION",
    "Minus": "MINUS",
    "Extend": "BIND",
    "Values": "VALUES",
    "PathPattern": "a property path",
    "Graph": "GRAPH",
    "Filter": "a FILTER in a nested group",
    "Project": "a sub-SELECT",
    "Distinct": "a sub-SELECT",
    "Slice": "a sub-SELECT",
    "OrderBy": "a sub-SELECT",
    "Group": "a sub-SELECT",
}


def _spoken(pattern: Pattern) -> str:
    return _SPOKEN.get(type(pattern).__name__, "this pattern")


def _shape(stream: int, triples: tuple[TriplePattern, ...], graphs: Graphs) -> tuple[Shape, Graphs, dict[str, int]]:
    """Number the variables in order of appearance, those that only GRAPH parts bind last."""
    numbering: dict[str, int] = {}
    for triple in itertools.chain(triples, *(more for _, more in graphs)):
        for node in _places(triple):
            if isinstance(node, Variable):
                numbering.setdefault(node.name, len(numbering))
    width = len({n.name for t in triples for n in _places(t) if isinstance(n, Variable)})
    renamed = tuple((name, tuple(_renumbered(t, numbering) for t in more)) for name, more in graphs)
    return Shape(stream, tuple(_renumbered(t, numbering) for t in triples), width), renamed, numbering


def _renumbered(triple: TriplePattern, numbering: dict[str, int]) -> TriplePattern:
    subject, predicate, object_ = (_renamed(n, numbering) for n in _places(triple))
    return TriplePattern(subject, predicate, object_)


def _renamed(node: Node, numbering: dict[str, int]) -> Node:
    return Variable(str(numbering[node.name])) if isinstance(node, Variable) else Constant(node.term)
