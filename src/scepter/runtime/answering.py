"""From the rows of a unit's root to its matches: what was asked of them, and the events that each rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scepter.algebra.query import Ask, Construct, Result
from scepter.kernel.build import Surroundings
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Rows
from scepter.kernel.texts import TextsView
from scepter.physical.nodes.nodes import Node, nodes
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.nodes.window_nodes import Report
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match, MatchBatch, MatchRows, RankedMatch

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


class Answering:
    """Makes the matches of one unit."""

    def __init__(
        self, root: Node, result: Result, number: int, setup: TaskSetup, around: Surroundings, *, ranked: bool = False
    ) -> None:
        """`ranked`: whether the query orders the matches of an instant itself."""
        self._names = root.schema.variables
        self._result, self._number = result, number
        self._setup, self._around, self._ranked = setup, around, ranked
        self.answered = self._answered_before = False
        """Whether an ASK has been told."""
        self._feeds = result.into if isinstance(result, Construct) else None
        self._reports = any(isinstance(node, Report) for node in nodes(root))
        self._matches_count = isinstance(root, SequenceNode)
        """Whether a match is one whatever is made of it; else a solution that makes no triple makes no graph."""

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs for other units, if one reads it."""
        return self._feeds if self._feeds in self._setup.streams() else None

    def save(self) -> None:
        self._answered_before = self.answered

    def undo(self, *, at_once: bool) -> None:
        """Back to `save`; what an open instant has told of an ASK is not told again when it is done anew."""
        self.answered = self._answered_before or (at_once and self.answered)

    def matches(self, rows: Rows) -> Sequence[Match]:
        """The matches of some rows."""
        if not len(rows) or (self.answered and isinstance(self._result, Ask)):
            return []
        if isinstance(self._result, Ask):
            self.answered = True
            rows = rows.take(np.lexsort((rows.start, rows.end, rows.since))[:1])
        if self.feeds is not None and self._reports:  # what others read is a stream, whose items come when they are evaluated
            rows = rows.during(np.minimum(rows.start, rows.since), rows.since)
        batch = self._batch(rows)
        places = np.arange(len(rows))
        if isinstance(self._result, Construct) and not self._matches_count:  # a solution that makes no triple makes no graph
            places = batch.made()
        if self._ranked:
            return [RankedMatch(batch, row, row) for row in places.tolist()]
        return MatchRows(batch, places)

    def _batch(self, rows: Rows) -> MatchBatch:
        result = self._result
        branch, ends = self._around.lineage.branch(rows.lineage)
        view, refs, events = self._setup.texts.table_view(rows.ids, rows.refs, branch.names)
        return MatchBatch(
            query=self._number,
            kind=self._setup.kind,
            start=rows.start,
            end=rows.end,
            names=self._names,
            ids=rows.ids,
            refs=refs,
            texts=view,
            construct=result if isinstance(result, Construct) else None,
            asks=isinstance(result, Ask),
            selected=self._events(branch, ends, view, events),
        )

    def _events(self, branch: Lineage, ends: Int64, view: TextsView, names: Int64) -> Callable[[int], dict[str, list[object]]]:
        shown, parts = self._setup.shown, self._around.parts
        part, event, _ = branch.told(np.arange(len(branch)))
        nameless: dict[int, object] = {}
        if not self._setup.lasting:  # whoever shows events without a name may let go of them before somebody looks
            nameless = {at: shown(int(event[at]), None) for at in np.flatnonzero((names < 0) & (event >= 0)).tolist()}

        def events(row: int) -> dict[str, list[object]]:
            found: dict[str, dict[int, object]] = {}
            for at in branch.path(int(ends[row])):
                kept = nameless.get(at)
                if kept is None:
                    term = None if names[at] < 0 else view.term(int(names[at]), None)
                    text = term.value if isinstance(term, IRI) else None if term is None else str(term)
                    kept = shown(int(event[at]), text)
                found.setdefault(parts[part[at]], {})[int(event[at])] = kept
            return {label: list(selected.values()) for label, selected in found.items()}

        return events
