"""The steps of a chain at work: each with its searches and the runs that wait for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from scepter.algebra.query import Counting, Preference, Selection
from scepter.kernel.sequence.in_flight import Link
from scepter.kernel.sequence.preference import Rival
from scepter.kernel.sequence.runs import Waiting
from scepter.kernel.sequence.step_search import StepSearch
from scepter.physical.sequence_plan import AtomPlan, Chain, GapPlan, NegationPlan, QueryPlan, StepPlan
from scepter.rdf.hashing import TermKey


@dataclass(slots=True)
class Stage:
    """One step of a chain with its searches and the runs that wait for it."""

    plan: StepPlan
    atom: AtomPlan
    search: StepSearch
    negations: tuple[StepSearch, ...]
    waiting: Waiting
    again: StepSearch | None
    """The search for the next iteration."""
    iterating: Waiting
    deadlines: tuple[GapPlan, ...] = ()
    """The gap bounds of this and later steps that speak of a part taken before: behind them a run cannot be completed."""
    rival: Rival | None = None
    """What goes before this step's events."""
    link: Link | None = None
    """Its search by the rows that runs took last, where that is all it looks at."""
    settled: frozenset[int] = frozenset()
    """The slots that the steps before have surely bound: what it takes agrees with them."""

    patient: bool = field(init=False)
    """Whether a run that finds nothing waits on, whatever else comes."""
    judged: bool = field(init=False)
    """Whether its first event is judged by what was taken before."""

    def __post_init__(self) -> None:
        self.judged = any(not f.previous for branch in self.atom.branches for f in branch.stateful)
        self.patient = not self.negations and self.rival is None and self.plan.selection is not Selection.STRICT


def build_stages(chain: Chain, plan: QueryPlan, key: TermKey) -> list[Stage]:
    """A stage for each step, with nothing waiting."""
    width, marks = len(plan.variables), len(plan.marks)
    stages: list[Stage] = []
    bound = settled = frozenset[int]()
    for i, step in enumerate(chain.steps):
        atom = plan.atoms[step.atom]
        also = bound.union(atom.slots)
        again = None
        if step.iteration is not None:
            again = StepSearch(
                step.atom, atom, step.iteration.key, step.iteration.shared, also, plan.variables,
                key, continuing=True, local=step.iteration.local,
            )  # fmt: skip
        stages.append(
            Stage(
                step, atom, StepSearch(step.atom, atom, step.key, step.shared, bound, plan.variables, key),
                tuple(negation(n, plan, bound, key) for n in step.negations), Waiting(width, marks), again,
                Waiting(width, marks), _deadlines(chain, plan, i), _greedy(stages[i - 1]) if i else None, settled=settled,
            )
        )  # fmt: skip
        bound, settled = also, settled | atom.certain
    if lazy(plan):
        for before, stage in pairwise(stages):
            link = stage.search.after(before.atom.slots, before.atom.certain)
            if link is not None and before.again is None and not stage.negations and stage.rival is None:
                stage.link = Link(link, tuple(before.atom.slots.index(slot) for slot in plan.partition))
    return stages


def lazy(plan: QueryPlan) -> bool:
    """Whether a run is told by the one it was before and the row it took: it carries no times and no values besides."""
    return not (plan.marks or plan.aggregated or plan.timeouts or isinstance(plan.window, Counting))


def waits_at_once(stages: list[Stage]) -> bool:
    """Whether a run that begins at the last instant of a batch is as it was begun, and waits for the second step."""
    first, *later = stages
    return bool(later) and not first.judged and first.again is None and not later[0].negations and later[0].rival is None


def negation(negated: NegationPlan, plan: QueryPlan, bound: frozenset[int], key: TermKey) -> StepSearch:
    """The search for events that a negation refuses."""
    return StepSearch(negated.atom, plan.atoms[negated.atom], negated.key, negated.shared, bound, plan.variables, key)


def bound_after(chain: Chain, plan: QueryPlan, steps: int) -> frozenset[int]:
    """The variables that so many steps bind."""
    return frozenset().union(*(plan.atoms[s.atom].slots for s in chain.steps[:steps]))


def _deadlines(chain: Chain, plan: QueryPlan, step: int) -> tuple[GapPlan, ...]:
    later = [s.bound for s in chain.steps[step:] if s.bound is not None]
    if not later:
        return ()
    taken = {plan.scans[s].label for t in chain.steps[:step] for b in plan.atoms[t.atom].branches for s in b.scans}
    return tuple(bound for bound in later if plan.marks[bound.mark].label in taken)


def _greedy(before: Stage) -> Rival | None:
    """The further iterations of the step before, where they go before the next step."""
    plan = before.plan.iteration
    if plan is None or before.again is None or plan.preference is not Preference.GREEDY:
        return None
    return Rival(before.again, plan.selection, plan.least, plan.most)
