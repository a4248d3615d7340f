"""The task of groups over time whose solutions come in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Expression
from scepter.algebra.query import Counting
from scepter.kernel.intake import Intake
from scepter.kernel.runs import Runs
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.expressions import evaluate, holds
from scepter.kernel.timed.aggregation import Aggregation, Made, with_whole_decimals
from scepter.kernel.timed.members import Entered, Groups
from scepter.physical.lift_groups import GroupedSequence
from scepter.physical.unit_nodes import SequenceGroups
from scepter.rdf.terms import IRI, Term, Triple
from scepter.rdf.values import ExpressionError
from scepter.runtime.matches import Match, MatchRows
from scepter.runtime.sequence_task import sequence_kernel
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


class GroupedTask:
    """Groups a sequence's solutions. Those of one end enter together, so that only closed instants count."""

    def __init__(self, node: SequenceGroups, number: int, setup: TaskSetup) -> None:
        grouped = node.grouped
        self._grouped = grouped
        self._number = number
        self._setup = setup
        self._kernel, self._streams = sequence_kernel(node.sequence, setup)
        self._context = Context()
        names = self._kernel.plan.variables
        self._aggregations = [(name, Aggregation(aggregate, self._context)) for name, aggregate in grouped.aggregates]
        self._added = sorted({names.index(each.operand) for _, each in self._aggregations if each.adds})
        self._groups = Groups(names, [variable for _, variable in grouped.keys], setup.texts, *_extent(grouped, setup))
        self._closed: int | None = None

    @property
    def feeds(self) -> IRI | None:
        """None: only rules feed others."""
        return None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Evaluate the scans on the wanted events."""
        self._kernel.take(intake, self._streams(), wanted)

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """The results of the instants up to `closed`."""
        self._closed = closed
        return self._results(self._kernel.release(closed, closed))

    def finish(self) -> Sequence[Match]:
        """All that is left."""
        return self._results(self._kernel.finish())

    def _results(self, runs: Runs) -> Sequence[Match]:
        if not len(runs):
            return []
        entered = self._groups.enter(with_whole_decimals(runs, self._added, self._setup.texts) if self._added else runs)
        batch = self._batch(entered)
        return MatchRows(batch, batch.met() if batch.has_conditions else range(len(entered.high)))

    def _batch(self, entered: Entered) -> GroupedBatch:
        """Texts are copied of what results may show: their keys, and members that a set function has chosen."""
        texts, members = self._setup.texts, entered.members
        made = [(name, *aggregation(entered, texts)) for name, aggregation in self._aggregations]
        shown = np.unique(np.concatenate([entered.high - 1, *(chosen for _, chosen, _ in made)]))
        ids = members.ids[shown]
        view, refs, _ = texts.table_view(ids, members.refs[shown], np.empty(0, np.int64))

        def decode(row: int, name: str) -> Term:
            place, column = int(np.searchsorted(shown, row)), members.names.index(name)
            return view.term(int(refs[place, column]), int(ids[place, column]))

        last = (entered.high - 1).tolist()
        return GroupedBatch(
            query=self._number,
            kind=self._setup.kind,
            start=entered.start.tolist(),
            end=entered.end.tolist(),
            keys=lambda i: {name: decode(last[i], variable) for name, variable in self._grouped.keys},
            aggregates=tuple((name, values(decode)) for name, _, values in made),
            above=self._grouped.above,
            shown=self._grouped.shown,
            context=self._context,
        )

    # ---- instants that may be undone

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._kernel.save()
        self._groups.save()

    def undo(self) -> None:
        """Back to `save`."""
        self._kernel.undo()
        self._groups.undo()

    def commit(self) -> None:
        """Keep what was done, and let go what has left the windows."""
        self._kernel.commit()
        self._groups.commit()
        if self._closed is not None:
            self._groups.release(self._closed)

    def state_rows(self) -> Mapping[str, int]:
        """Members of groups, and what the sequence holds."""
        return {"solutions": len(self._groups), **self._kernel.state_rows()}

    def live_events(self) -> NDArray[np.int64]:
        """None: matches show no events."""
        return np.empty(0, np.int64)

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Those of the sequence and of the members."""
        yield from self._kernel.swap_refs()
        yield from self._groups.refs()


def _extent(grouped: GroupedSequence, setup: TaskSetup) -> tuple[int | None, int | None]:
    """How many solutions of a group count, or for how long."""
    window = grouped.window
    if window is None:
        return None, None
    if isinstance(window, Counting):
        return window.events, None
    return None, window.duration.ticks(setup.kind, setup.options.time_unit)


@dataclass(frozen=True, slots=True)
class GroupedBatch:
    """Results of groups, made when somebody looks at them. Satisfies what `Match` asks of a batch."""

    query: int
    kind: TimeKind
    start: list[int]
    end: list[int]
    keys: Callable[[int], Row]
    aggregates: tuple[tuple[str, Made], ...]
    above: tuple[tuple[str | None, Expression], ...]
    shown: tuple[str, ...]
    context: Context
    known: dict[int, Row | None] = field(default_factory=dict)
    """Rows that somebody has looked at; None does not meet the conditions."""

    @property
    def constructs(self) -> bool:
        """Its rows are mappings."""
        return False

    @property
    def asks(self) -> bool:
        """Its rows are mappings."""
        return False

    @property
    def has_conditions(self) -> bool:
        """Whether there is HAVING."""
        return any(name is None for name, _ in self.above)

    def met(self) -> list[int]:
        """The rows that meet the conditions."""
        return [row for row in range(len(self.end)) if self._made(row) is not None]

    def bindings(self, row: int) -> dict[str, Term]:
        """A row's terms."""
        made = self._made(row)
        assert made is not None  # only rows that meet the conditions are shown
        return {name: made[name] for name in self.shown if name in made}

    def _made(self, row: int) -> Row | None:
        if row not in self.known:
            self.known[row] = self._make(row)
        return self.known[row]

    def _make(self, row: int) -> Row | None:
        found = self.keys(row)
        for name, value in self.aggregates:
            if (term := value(row)) is not None:
                found[name] = term
        for variable, expression in self.above:
            if variable is None:
                if not holds(expression, found, self.context):
                    return None
                continue
            try:
                found[variable] = evaluate(expression, found, self.context)
            except ExpressionError:
                continue  # SPARQL: an error leaves the variable unbound
        return found

    def graph(self, row: int) -> tuple[Triple, ...]:
        """None is constructed."""
        return ()

    def events(self, row: int) -> dict[str, list[object]]:
        """Groups show no events."""
        return {}

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """Its rows are no events' occurrences."""
        return None

    def why(self, row: int) -> Why | None:
        """Its rows rest on their members."""
        return None
