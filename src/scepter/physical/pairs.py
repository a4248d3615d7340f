"""Which queries are a sequence of two event labels that can be followed in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Filter, Match, Pattern, Project
from scepter.algebra.query import Ask, Query, Scan, Select, Sequence, Step, Stream
from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Latest,
    Policy,
    RelationToStream,
    WindowedQuery,
)
from scepter.physical.sequence_plan import QueryPlan
from scepter.physical.sequence_planner import plan_query
from scepter.rdf.terms import IRI

ALL, EACH, COMPETE, GROUP = range(4)
"""Every pair; each right side with the first or last of its left sides; right sides of one key compete; and only the first or
last right sides of the window take part."""


class Rule(NamedTuple):
    """Which pairs a sequence selects."""

    mode: int
    newest_left: bool
    """Whether a right side takes the last of its left sides, or the first."""
    newest_right: bool
    """COMPETE and GROUP: whether the last right side wins, or the first."""
    naive: bool
    """Left sides are taken from the whole window, and kept if they are before (rule 7)."""
    consumes: bool
    one_window: bool
    """Whether both sides read the same window: an item is consumed for both."""


@dataclass(frozen=True, slots=True)
class SidePlan:
    """One event label: where its items come from, and the columns of its mappings."""

    label: str
    stream: IRI
    window: IRI
    scan: QueryPlan
    """A plan of just this scan; its variables are the columns."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns."""
        return self.scan.variables


@dataclass(frozen=True, slots=True)
class PairPlan:
    """A query of two event labels."""

    left: SidePlan
    right: SidePlan
    rule: Rule
    shared: tuple[str, ...]
    """The variables that both sides bind."""
    projected: tuple[str, ...]
    """The variables of a row, in order."""


def plan_pairs(query: WindowedQuery, policy: Policy) -> PairPlan | None:
    """The plan of a query that selects what is new in one `MATCH { E1 SEQ E2 }`; None if it is anything else.

    Each E may be under FIRST or LAST, and is a basic graph pattern with filters. Left to the operators are `E1 SEQ LAST E2`
    (unrestricted, every E1 before it), and what asks for more than MATCH.
    """
    if not isinstance(query.result, Select) or query.output is not RelationToStream.ISTREAM or len(query.events) != 1:
        return None
    (events,), pattern = query.events, query.pattern
    if not isinstance(pattern, Project) or not isinstance(pattern.pattern, Match) or not isinstance(events, Followed):
        return None
    (left_scan, newest_left), (right_scan, newest_right) = _reduced(events.left), _reduced(events.right)
    left, right = _side(query, left_scan), _side(query, right_scan)
    if left is None or right is None:
        return None
    rule = _rule(events.policy or policy, newest_left, newest_right, left.window == right.window)
    if rule is None:
        return None
    shared = tuple(name for name in left.variables if name in right.variables)
    projected = tuple(v.name for v in pattern.variables if v.name in (*left.variables, *right.variables))
    return PairPlan(left, right, rule, shared, projected)


def _reduced(pattern: EventPattern) -> tuple[EventPattern, bool | None]:
    """A side without FIRST and LAST, and whether the last is meant (None: neither). The innermost decides: what it leaves is
    equally early and late."""
    newest: bool | None = None
    while isinstance(pattern, Earliest | Latest):
        newest = isinstance(pattern, Latest)
        pattern = pattern.operand
    return pattern, newest


def _rule(policy: Policy, newest_left: bool | None, newest_right: bool | None, one_window: bool) -> Rule | None:
    consumes, naive = policy.consumes, policy is Policy.NAIVE
    last_left = policy in (Policy.RECENT, Policy.NAIVE) if newest_left is None else newest_left
    if naive or newest_right is not None:
        if newest_left is None and policy is Policy.UNRESTRICTED:
            return None
        return Rule(GROUP, last_left, newest_right is not False, naive, consumes, one_window)
    if consumes:
        return Rule(COMPETE, last_left, policy is Policy.RECENT, False, True, one_window)
    return Rule(ALL if newest_left is None else EACH, last_left, False, False, False, one_window)


def _side(query: WindowedQuery, scan: EventPattern) -> SidePlan | None:
    if not isinstance(scan, ItemScan):
        return None
    pattern, filters = _unfiltered(scan.pattern)
    window = next(w for w in query.windows if w.name == scan.window)
    alone = Sequence((Step(Scan(scan.label, window.stream, pattern, filters)),))
    plan = plan_query(Query(Ask(), (Stream(window.stream),), alone))
    if plan.scans[0].shape is None or plan.scans[0].graphs:
        return None  # the exact evaluator, event by event, and FROM's view of the background: for the operators
    return SidePlan(scan.label, window.stream, scan.window, plan)


def _unfiltered(pattern: Pattern) -> tuple[Pattern, tuple[Expression, ...]]:
    filters: list[Expression] = []
    while isinstance(pattern, Filter):
        filters.append(pattern.condition)
        pattern = pattern.pattern
    return pattern, tuple(filters)
