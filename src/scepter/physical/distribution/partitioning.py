"""How a query's work may be divided without changing its answer: by key, by window, by slices of history, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Sequential
from dataclasses import dataclass, replace
from enum import Enum

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.patterns import Group
from scepter.algebra.query import Ask, Counting, Program, Query, Result, Select, Selection, Sliding, Tumbling, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.walk import walk
from scepter.algebra.windows import RelationToStream, WindowedQuery
from scepter.physical.distribution.horizon import horizon
from scepter.physical.distribution.stages import Stages, unit_stages
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import listed
from scepter.physical.nodes.sequence_nodes import Refused, Sequence
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.physical.sequence_plan import Chain, NegationPlan, QueryPlan
from scepter.rdf.terms import IRI


class PartitionKind(Enum):
    """What two parts of the work differ in."""

    KEY = "key"
    """The values of some variables: a match never crosses two of them."""
    TUMBLING = "tumbling"
    """The tumbling window: windows know nothing of each other."""
    SLICES = "slices"
    """Overlapping stretches of time, over history: a match is no longer than the sliding window."""
    GRID = "grid"
    """The values of some variables, each along its own dimension: rows that it does not divide are in every bucket along it."""
    ONE = "one"
    """Nothing: the work cannot be divided."""


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How to divide the work of a query, and why so."""

    kind: PartitionKind
    why: str
    """One sentence, in the words of the query."""
    slots: tuple[int, ...] = ()
    """For KEY: the slots whose values make the key."""
    variables: tuple[str, ...] = ()
    """For KEY: their names; for GRID, and for SLICES that are a grid live, those of its dimensions, or FIRST_EVENT."""
    look_back: bool = False
    """For SLICES: a leading negation also reads the window before a slice. (A match belongs to the slice of its start.)"""
    merges: bool = False
    """Rows of different parts may be one row of the answer (ASK; DISTINCT without the key): they have to meet once more."""


FIRST_EVENT = "the first event"
"""What matches without a key are divided by: those that begin with one event are found in one bucket, to which all the later
events go as well."""


def partitioning(plan: QueryPlan) -> Partitioning:
    """The best way to divide a query's work: by key, else by window, else by slices of history, else by the first event of its
    matches, else not at all."""
    if plan.partition:
        names = _listed(plan, plan.partition)
        why = f"PARTITION BY: the query runs for each value of {names} as if its events were all there is"
        return _by_key(plan, plan.partition, why)
    if plan.skip is not None:
        return _by_skip(plan)
    candidates = _bound_by_every_scan(plan)
    obstacles = list(_obstacles(plan, candidates))
    free = tuple(slot for slot in candidates if all(slot not in slots for slots, _ in obstacles))
    if free and not isinstance(plan.window, Counting):
        return _by_found_key(plan, free)
    return _by_time(plan, _no_key(plan, candidates, obstacles))


def sequence_division(plan: QueryPlan, *, live: bool) -> PartitionKind:
    """How a sequence's work is divided over buckets: as planned; live, where slices of history are none, by first events."""
    kind = partitioning(plan).kind
    return PartitionKind.GRID if live and kind is PartitionKind.SLICES else kind


def begins_only(plan: QueryPlan) -> frozenset[int]:
    """The scans whose rows begin matches and are looked at by nothing else: of matches that are divided by their first event,
    each goes to one bucket. (Of solutions, whose start decides, an event of a conjunction does not tell it.)"""
    first = {step.atom for chain in plan.chains for step in chain.steps[:1] if step.iteration is None}
    if plan.solutions:
        first = {atom for atom in first if all(len(branch.scans) == 1 for branch in plan.atoms[atom].branches)}
    later = {
        step.atom for chain in plan.chains for place, step in enumerate(chain.steps) if place or step.iteration is not None
    }
    later |= {negation.atom for chain in plan.chains for negation in _negations(chain)}
    return _scans(plan, first) - _scans(plan, later)


def _scans(plan: QueryPlan, atoms: Iterable[int]) -> frozenset[int]:
    return frozenset(scan for atom in atoms for branch in plan.atoms[atom].branches for scan in branch.scans)


def unit_partitioning(unit: UnitPlan, facts: Facts) -> Partitioning:
    """How the work of any unit is divided, and why so: by the key of its sequence or of its stages, else over history by slices
    of time, as long as what its answers can look back."""
    if isinstance(unit.root, Refused):
        return Partitioning(PartitionKind.ONE, "it is refused before it runs")
    if isinstance(unit.root, Sequence):
        if unit.root.flattened is None:
            return partitioning(unit.root.plan)
        why, grid = "what the ontology entails is found with all events at hand", None
    else:
        found = unit_stages(unit)
        if isinstance(found, Stages) and not found.why:
            why = f"all rows of an answer agree in {listed(found.variables)}"
            return Partitioning(PartitionKind.KEY, why, variables=found.variables, merges=found.merges)
        why = found.why
        grid = found if isinstance(found, Stages) and found.dimensions else None
    back = looks_back([unit], facts)
    if back is not None:
        return Partitioning(PartitionKind.SLICES, _cut(why), variables=() if grid is None else grid.variables)
    if grid is not None:
        return Partitioning(PartitionKind.GRID, why, variables=grid.variables, merges=grid.merges)
    return Partitioning(PartitionKind.ONE, why)


FEEDING = "queries that feed each other run together where the events of one have to be at hand"


def plan_partitioning(unit: UnitPlan, plan: PhysicalPlan) -> Partitioning:
    """How the work of a unit is divided in its program: as if it were alone; live, unless it is kept together with others."""
    found = unit_partitioning(unit, plan.facts)
    fed = found.kind is PartitionKind.SLICES and unit in [plan.units[number] for number in kept_together(plan)]
    return replace(found, variables=()) if fed else found


def _cut(why: str) -> str:
    return f"{why}, but how far an answer looks back is bounded: history can be cut into overlapping slices"


def feeding(plan: PhysicalPlan, streams: Sequential[IRI] = ()) -> tuple[int, ...]:
    """The units that make a stream which others read, and those that read one, by their places in the plan."""
    read = {stream.iri for unit in plan.units for stream in unit.unit.streams} | set(streams)
    made = {unit.unit.into for unit in plan.units if unit.unit.into is not None and unit.unit.into in read}
    if not made:
        return ()
    return tuple(
        number
        for number, unit in enumerate(plan.units)
        if unit.unit.into in made or not unit.unit.streams or any(stream.iri in made for stream in unit.unit.streams)
    )


def kept_together(plan: PhysicalPlan, streams: Sequential[IRI] = ()) -> tuple[int, ...]:
    """The units that feed each other and run live in one place: all of them, if one cannot be divided."""
    found = feeding(plan, streams)
    return () if all(_is_divided(plan.units[number]) for number in found) else found


def _is_divided(unit: UnitPlan) -> bool:
    """Whether what crosses to buckets are rows, not events."""
    if isinstance(unit.root, Sequence):
        return unit.root.flattened is None
    return isinstance(unit_stages(unit), Stages)


def looks_back(units: Sequential[UnitPlan], facts: Facts) -> int | None:
    """How far the answers of some units look back, in ticks, where history may be cut into slices that overlap by so much."""
    assert facts.kind is not None
    if not all(map(sliceable, units)):
        return None
    return horizon(Program(tuple(unit.unit for unit in units)), facts.kind, facts.time_unit, facts.policy)


def asks(unit: UnitPlan) -> bool:
    """Whether it answers with yes."""
    return any(isinstance(result, Ask) for result in results_of(unit.unit))


def results_of(unit: Unit) -> list[Result | None]:
    """What the queries of a unit answer with; None for occurrences of events."""
    match unit:
        case TimedProgram(queries=queries):
            return [query.result for query in queries]
        case EventQuery():
            return [None]
        case Query() | ContinuousQuery() | PeriodicQuery() | WindowedQuery():
            return [unit.result]
        case _:
            raise AssertionError(f"no results of {type(unit).__name__}")


def sliceable(unit: UnitPlan) -> bool:
    """Whether the answers of a stretch of time depend on events alone: not on the evaluation before (ISTREAM, DSTREAM), nor on
    whether there has been any event at all (an aggregate that counts empty windows)."""
    match unit.unit:
        case WindowedQuery(output=output) if output is not RelationToStream.RSTREAM:
            return False
        case WindowedQuery(pattern=pattern) | PeriodicQuery(pattern=pattern):
            return all(group.keys for group in walk(pattern) if isinstance(group, Group))
        case _:
            return True


def _by_key(plan: QueryPlan, slots: tuple[int, ...], why: str) -> Partitioning:
    names = tuple(plan.variables[s] for s in slots)
    return Partitioning(PartitionKind.KEY, why, slots, names, merges=_merges(plan, frozenset(names)))


def _by_skip(plan: QueryPlan) -> Partitioning:
    """Each match decides which later ones are kept, whatever their values; but none beyond its tumbling window."""
    why = "AFTER MATCH SKIP looks at all matches in their order"
    if isinstance(plan.window, Tumbling):
        why = f"{why}, but all events of a match lie in one window of {plan.window.duration}"
        return Partitioning(PartitionKind.TUMBLING, why, merges=isinstance(plan.result, Ask))
    return Partitioning(PartitionKind.ONE, why)


def _by_found_key(plan: QueryPlan, free: tuple[int, ...]) -> Partitioning:
    names = _listed(plan, free)
    joins = "it" if len(free) == 1 else "them"
    return _by_key(plan, free, f"each part binds {names} and every step joins on {joins}, so no match crosses two values")


def _by_time(plan: QueryPlan, no_key: str) -> Partitioning:
    asks = isinstance(plan.result, Ask)
    match plan.window:
        case Tumbling(duration):
            why = f"{no_key}, but all events of a match lie in one window of {duration}"
            return Partitioning(PartitionKind.TUMBLING, why, merges=asks)
        case Sliding(duration):
            why = f"{no_key}, but no match is longer than {duration}: history can be cut into overlapping slices"
            leading = any(chain.leading for chain in plan.chains)
            return Partitioning(PartitionKind.SLICES, why, variables=(FIRST_EVENT,), look_back=leading, merges=asks)
        case _:
            return Partitioning(PartitionKind.GRID, no_key, variables=(FIRST_EVENT,), merges=is_one_answer(plan))


def _bound_by_every_scan(plan: QueryPlan) -> tuple[int, ...]:
    """The slots that every selected event binds for certain; what negated scans bind is looked at in `_obstacles`."""
    selected = [
        plan.scans[scan].certain
        for chain in plan.chains
        for step in chain.steps
        for branch in plan.atoms[step.atom].branches
        for scan in branch.scans
    ]
    return tuple(sorted(frozenset.intersection(*selected)))


def _obstacles(plan: QueryPlan, candidates: tuple[int, ...]) -> Iterator[tuple[frozenset[int], str]]:
    """What keeps some of the candidate slots from being a key, each with the reason."""
    wanted = frozenset(candidates)
    for chain in plan.chains:
        for step in chain.steps:
            if step.iteration is not None and (local := step.iteration.local & wanted):
                label = _label(plan, step.atom)
                yield local, f"{label}+ binds {_listed(plan, sorted(local))} anew in each iteration"
        for negation in _negations(chain):
            if missing := wanted - frozenset(negation.key):
                label = _label(plan, negation.atom)
                yield missing, f"{label}! looks at events that do not bind {_listed(plan, sorted(missing))}"
    if wanted and _is_strict(plan):
        yield wanted, "',' looks at every event of the streamset"


def _negations(chain: Chain) -> Iterator[NegationPlan]:
    yield from chain.leading
    for step in chain.steps:
        yield from step.negations
    yield from chain.trailing


def _no_key(plan: QueryPlan, candidates: tuple[int, ...], obstacles: list[tuple[frozenset[int], str]]) -> str:
    """Why there is no key, as the beginning of a sentence."""
    if isinstance(plan.window, Counting):
        return f"WITHIN {plan.window.events} EVENTS counts the events of the whole streamset"
    if not candidates:
        return "no variable is bound by every GPM"
    reasons = list(dict.fromkeys(reason for _, reason in obstacles))
    return " and ".join(reasons[:2])


def _is_strict(plan: QueryPlan) -> bool:
    return any(
        step.selection is Selection.STRICT or (step.iteration is not None and step.iteration.selection is Selection.STRICT)
        for chain in plan.chains
        for step in chain.steps
    )


def _merges(plan: QueryPlan, key: frozenset[str]) -> bool:
    match plan.result:
        case Ask():
            return True
        case Select(columns, distinct):
            return distinct and not key <= {v.name for v, expression in columns if expression is None}
        case _:
            return False


def is_one_answer(plan: QueryPlan) -> bool:
    """Whether matches that begin with different events may be one answer."""
    return isinstance(plan.result, Ask) or (isinstance(plan.result, Select) and plan.result.distinct)


def _label(plan: QueryPlan, atom: int) -> str:
    return plan.scans[plan.atoms[atom].branches[0].scans[0]].label


def _listed(plan: QueryPlan, slots: tuple[int, ...] | list[int]) -> str:
    names = [f"?{plan.variables[s]}" for s in slots]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
