"""The automaton of a sequence, for people: states, transitions, and on each transition what it takes to go along it.

The kernel runs the plan's chains; this folds their union back into one graph. A state is "the atom taken last", so that chains
which differ in an optional atom share all other states.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from scepter.algebra.expressions import Expression
from scepter.algebra.notation import Notation
from scepter.algebra.query import Counting, Preference, Selection, Sliding, Tumbling
from scepter.physical.sequence_plan import AtomPlan, Chain, GapPlan, IterationPlan, NegationPlan, QueryPlan, StepPlan


class StateKind(Enum):
    """What a state stands for."""

    START = "start"
    ATOM = "atom"
    MATCH = "match"


class TransitionKind(Enum):
    """What going along a transition does."""

    BEGIN = "begin"
    """The first event of a match."""
    FOLLOW = "follow"
    """An event that follows the last one."""
    REPEAT = "repeat"
    """A further iteration of a Kleene atom."""
    COMPLETE = "complete"
    """Selects no event: the match is complete."""


@dataclass(frozen=True, slots=True)
class State:
    """A state: the start, the match, or an atom that has been taken."""

    id: int
    kind: StateKind
    label: str


@dataclass(frozen=True, slots=True)
class Absence:
    """A negated part: no event may be accepted by it; `where` says between what."""

    label: str
    joins: tuple[str, ...]
    filters: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to take an atom: GPMs of one time."""

    parts: tuple[str, ...]
    filters: tuple[str, ...]
    """Decided by the events of that time alone."""
    stateful: tuple[str, ...]
    """Decided together with the match so far."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A way from one state to another."""

    source: int
    target: int
    kind: TransitionKind
    selection: Selection | None = None
    joins: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    absences: tuple[Absence, ...] = ()
    anew: tuple[str, ...] = ()
    """For REPEAT: the variables each iteration binds anew."""
    bound: str = ""
    """How long after another part's event it may come."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """States in the order of the text, and transitions in the order of their states."""

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]


def automaton_of(plan: QueryPlan, notation: Notation) -> Automaton:
    """The automaton of a plan, its filters written in the notation."""
    return _Folding(plan, notation).automaton()


class _Folding:
    def __init__(self, plan: QueryPlan, notation: Notation) -> None:
        self._plan = plan
        self._notation = notation
        steps = [step for chain in plan.chains for step in chain.steps]
        self._kleene = {step.atom: step.iteration for step in steps if step.iteration is not None}
        taken = sorted({step.atom for chain in plan.chains for step in chain.steps})
        self._ids = {atom: number for number, atom in enumerate(taken, 1)}
        self._end = len(taken) + 1

    def automaton(self) -> Automaton:
        states = [State(0, StateKind.START, "start")]
        states += [State(number, StateKind.ATOM, self._label(atom)) for atom, number in self._ids.items()]
        states.append(State(self._end, StateKind.MATCH, "match"))
        found: dict[tuple[object, ...], Transition] = {}
        for chain in self._plan.chains:
            for transition in self._of_chain(chain):
                key = (transition.source, transition.target, transition.kind, tuple(a.label for a in transition.absences))
                known = found.get(key)
                found[key] = transition if known is None else _merged(known, transition)
        ordered = sorted(found.values(), key=lambda t: (t.source, t.target != t.source, t.target))
        return Automaton(tuple(states), tuple(ordered))

    def _of_chain(self, chain: Chain) -> list[Transition]:
        transitions: list[Transition] = []
        last = 0
        for step in chain.steps:
            transitions.append(self._taken(chain, step, last))
            last = self._ids[step.atom]
            if step.iteration is not None:
                transitions.append(self._repeated(step, last))
        trailing = self._absences(chain.trailing, self._reach("before the window closes", "after the match's start"))
        transitions.append(Transition(last, self._end, TransitionKind.COMPLETE, absences=trailing))
        return transitions

    def _taken(self, chain: Chain, step: StepPlan, last: int) -> Transition:
        first = last == 0
        before = self._reach("since the window opened", "before the match's end")
        where = before if first else _between(step.selection)
        return Transition(
            last,
            self._ids[step.atom],
            TransitionKind.BEGIN if first else TransitionKind.FOLLOW,
            step.selection,
            self._names(step.shared),
            self._alternatives(self._plan.atoms[step.atom], first=step.iteration is not None),
            self._absences(chain.leading if first else step.negations, where),
            bound="" if step.bound is None else self._gap(step.bound),
        )

    def _gap(self, bound: GapPlan) -> str:
        return f"within {self._plan.gaps[bound.gap]} of {self._plan.marks[bound.mark].label}"

    def _repeated(self, step: StepPlan, state: int) -> Transition:
        assert step.iteration is not None  # the caller has looked
        return Transition(
            state,
            state,
            TransitionKind.REPEAT,
            step.iteration.selection,
            self._names(step.iteration.shared),
            self._alternatives(self._plan.atoms[step.atom], first=False),
            anew=self._names(tuple(sorted(step.iteration.local))),
        )

    def _alternatives(self, atom: AtomPlan, *, first: bool) -> tuple[Alternative, ...]:
        """The branches; in the first iteration a filter over PREV is true (SPAseq rule 7) and not shown."""
        return tuple(
            Alternative(
                tuple(self._plan.scans[s].label for s in branch.scans),
                self._written(e for s in branch.scans for e in self._plan.scans[s].local) + self._written(branch.joint),
                self._written(f.expression for f in branch.stateful if not (first and f.previous)),
            )
            for branch in atom.branches
        )

    def _absences(self, negations: tuple[NegationPlan, ...], where: str) -> tuple[Absence, ...]:
        found = []
        for negation in negations:
            (branch,) = self._plan.atoms[negation.atom].branches  # a single GPM is negated, never a group
            scan = self._plan.scans[branch.scans[0]]
            filters = (*scan.local, *branch.joint, *(f.expression for f in branch.stateful))
            found.append(Absence(scan.label, self._names(negation.shared), self._written(filters), where))
        return tuple(found)

    def _reach(self, tumbling: str, sliding: str) -> str:
        """How far a leading or trailing negation looks (SPAseq rule 8)."""
        match self._plan.window:
            case Sliding(duration):
                return f"in the {duration} {sliding}"
            case None:
                return "ever before it"
            case Tumbling() | Counting():
                return tumbling
            case _:
                assert_never(self._plan.window)

    def _label(self, atom: int) -> str:
        branches = self._plan.atoms[atom].branches
        texts = [" & ".join(self._plan.scans[s].label for s in branch.scans) for branch in branches]
        return " | ".join(texts) + (_quantifier(self._kleene[atom]) if atom in self._kleene else "")

    def _written(self, expressions: Iterable[Expression]) -> tuple[str, ...]:
        return tuple(self._notation.expression(e) for e in expressions)

    def _names(self, slots: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self._plan.variables[s] for s in slots)


def _quantifier(iteration: IterationPlan) -> str:
    """As a query writes it.

    >>> _quantifier(IterationPlan(Selection.NEXT, frozenset(), (), (), 2, 3, Preference.GREEDY))
    '{2,3} GREEDY'
    """
    least, most = iteration.least, iteration.most
    times = "+" if (least, most) == (1, None) else f"{{{least}}}" if least == most else f"{{{least},{most or ''}}}"
    return times if iteration.preference is Preference.EVERY else f"{times} {iteration.preference.value.upper()}"


def _between(selection: Selection | None) -> str:
    return "directly before it" if selection is Selection.STRICT else "strictly between"


def _merged(one: Transition, other: Transition) -> Transition:
    """The same transition in two chains: what an optional atom may have bound joins where it is bound."""
    absences = tuple(
        replace(a, joins=tuple(dict.fromkeys(a.joins + b.joins))) for a, b in zip(one.absences, other.absences, strict=True)
    )
    return replace(one, joins=tuple(dict.fromkeys(one.joins + other.joins)), absences=absences)
