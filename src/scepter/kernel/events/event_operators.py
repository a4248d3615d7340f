"""Operators on occurrences besides the join: what names and guards ask, FIRST, LAST, NOT, individuals (spec/40-obep)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scepter.kernel.encoding import encoded
from scepter.kernel.events.assertion_sets import AssertionSets
from scepter.kernel.events.parts import Part, Parts, individual_of
from scepter.kernel.operator import ByRows, Stateless, Until
from scepter.kernel.rows import Rows, concat, empty
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.state.state_parts import InParts, KeptNumbers, KeptRows
from scepter.kernel.state.state_parts import Part as StatePart
from scepter.kernel.texts import Texts
from scepter.ontology.assertions import RDF_TYPE
from scepter.physical.nodes import event_nodes as nodes
from scepter.physical.nodes.event_nodes import named
from scepter.physical.nodes.nodes import ASSERTIONS, Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey, term_id
from scepter.timeline import MAX_INSTANT

_VERDICTS = 100_000


class Guard(Stateless):
    """Keeps the occurrences for which an ASK over one named graph per name holds (rule 5)."""

    def __init__(self, node: nodes.Guard, sets: AssertionSets) -> None:
        self.schema: Schema = node.schema
        self._sets = sets
        self._labels = node.labels
        self._columns = list(node.schema.columns([named(label) for label in node.labels]))
        self._plan = compile_pattern(node.pattern)
        self._lasting = node.lasting
        self._known: dict[tuple[int, ...], bool] = {}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows kept; equal sets are asked once."""
        (rows,) = inputs
        if len(self._known) > _VERDICTS:
            self._known.clear()
        cells = zip(rows.ids[:, self._columns].tolist(), rows.refs[:, self._columns].tolist(), strict=True)
        return rows.take(np.array([self._holds(tuple(ids), refs) for ids, refs in cells], np.bool_))

    def _holds(self, ids: tuple[int, ...], refs: list[int]) -> bool:
        found = self._known.get(ids) if self._lasting else None
        if found is None:
            asserted = {
                label: Graph(sorted(self._sets.terms(id, ref), key=str))
                for label, id, ref in zip(self._labels, ids, refs, strict=True)
                if id
            }
            found = next(self._plan(Context(dataset=Dataset(named=asserted))), None) is not None
            self._known[ids] = found
        return found


class Composite(Stateless):
    """Adds to each occurrence what its individual is, and makes it one part for those who ask why."""

    def __init__(self, node: nodes.Composite, sets: AssertionSets, key: TermKey, texts: Texts, parts: Parts | None) -> None:
        self.schema: Schema = node.schema
        self._event = node.event
        self._sets, self._key, self._texts, self._parts = sets, key, texts, parts
        fixed = texts.append_fixed([str(RDF_TYPE), str(node.event)])
        self._refs = fixed.tolist()
        self._ids = [np.uint64(term_id(key, str(term))) for term in (RDF_TYPE, node.event)]

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows with one triple more among their assertions."""
        (rows,) = inputs
        if not len(rows):
            return rows
        columns = (rows.ids[:, 0].tolist(), rows.refs[:, 0].tolist(), rows.start.tolist(), rows.end.tolist())
        asserted = [self._sets.terms(id, ref) for id, ref in zip(columns[0], columns[1], strict=True)]
        when = list(zip(columns[2], columns[3], strict=True))
        named_so = [individual_of(self._event, *times, each) for times, each in zip(when, asserted, strict=True)]
        one, refs, _, _ = encoded(named_so, self._key, self._texts)
        ids = np.column_stack([one, np.full(len(rows), self._ids[0]), np.full(len(rows), self._ids[1])])
        at = np.column_stack([refs, np.full(len(rows), self._refs[0]), np.full(len(rows), self._refs[1])])
        first = self._sets.add(ids, at, np.full(len(rows), np.nan), np.full(len(rows), -1, np.int8))
        own = self._sets.made(np.ones(len(rows), np.int64), first + np.arange(len(rows)))
        cells = self._sets.union((rows.ids[:, 0], rows.refs[:, 0]), own)
        lineage = rows.lineage
        if self._parts is not None:
            lineage = self._parts.leaves([
                Part(self._event, who, what, start, end, self._parts.of(node))
                for who, what, (start, end), node in zip(named_so, asserted, when, rows.lineage.tolist(), strict=True)
            ])  # fmt: skip
        return Rows(
            cells[0][:, None], cells[1][:, None], rows.number, rows.scale, rows.start, rows.end, rows.since, rows.until, lineage
        )


class _Keeping(InParts):
    """An operator whose state is rows."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._kept = KeptRows(len(schema.variables))
        self._parts: dict[str, StatePart] = {"": self._kept}

    def state_rows(self) -> Mapping[str, int]:
        return {"occurrences": len(self._kept)}


class OnceLate(ByRows, _Keeping):
    """Each occurrence once; it is remembered for as long as it can come again."""

    def __init__(self, node: nodes.OnceLate) -> None:
        super().__init__(node.schema)
        self._lag = node.lag
        self._swept = 0

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rows that have not come before."""
        (rows,) = inputs
        if not len(rows):
            return rows
        known = len(self._kept.value)
        every = concat([self._kept.value, rows], self._kept.value.width)
        first, _ = distinct(np.concatenate([every.ids.view(np.int64), every.start[:, None], every.end[:, None]], axis=1))
        self._kept.value = every.take(first)
        return every.take(first[first >= known]).by_end()

    def evict(self, time: int) -> None:
        if self._lag is not None and len(self._kept.value) > 2 * self._swept + 32:
            self._kept.value = self._kept.value.take(self._kept.value.end > time - self._lag)
            self._swept = len(self._kept.value)


def _is_over(at: int | None, until: Until) -> bool:
    """Whether nothing can come any more that counts: the input has ended, or all before the evaluation instant is known."""
    return until.last or (at is not None and until.closed >= at - 1)


class FirstOnes(_Keeping):
    """Those with no other one wholly before: they start no later than the first one ends."""

    def __init__(self, node: nodes.FirstOnes) -> None:
        super().__init__(node.schema)
        self._lag, self._at = node.lag, node.at
        self._least = KeptNumbers(MAX_INSTANT)
        self._parts |= {"least": self._least}

    def state_rows(self) -> Mapping[str, int]:
        return {"occurrences": len(self._kept) + (self._least.value[0] < MAX_INSTANT)}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Those before which none can come any more."""
        (rows,) = inputs
        least = min(self._least.value[0], int(rows.end.min(initial=MAX_INSTANT)))
        self._least.value = (least,)
        waiting = concat([self._kept.value, rows], rows.width)
        waiting = waiting.take(waiting.start <= least)
        certain = np.full(len(waiting), _is_over(self._at, until))
        if self._lag is not None:
            certain |= waiting.start - 1 <= until.time - self._lag
        self._kept.value = waiting.take(~certain)
        return waiting.take(certain).by_end()


class LastOnes(_Keeping):
    """Those with no other one wholly after: certain at the end of the input (rule 8), or at an instant of evaluation.

    What was given at the instant is not kept: nothing that counts comes after it, so it is given once."""

    def __init__(self, node: nodes.LastOnes) -> None:
        super().__init__(node.schema)
        self._at = node.at

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Nothing before the end; then those that end no sooner than the last one starts."""
        (rows,) = inputs
        if len(rows):
            every = concat([self._kept.value, rows], rows.width)
            self._kept.value = every.take(every.end >= every.start.max())
        if not _is_over(self._at, until):
            return empty(rows.width)
        found, self._kept.value = self._kept.value.by_end(), empty(rows.width)
        return found


class Rest(InParts):
    """NOT: what is left of an item without the triples that occurrences ending with it have used."""

    def __init__(self, node: nodes.Rest, sets: AssertionSets) -> None:
        self.schema: Schema = node.schema
        self._sets = sets
        self._lag, self._at = node.lag, node.at
        self._items, self._used = KeptRows(1), KeptRows(1)
        self._parts = {"items": self._items, "used": self._used}
        self._column = node.used.schema.column(ASSERTIONS)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The rests of the items at whose end no further occurrence can end."""
        items = concat([self._items.value, inputs[0]], 1)
        used = concat([self._used.value, inputs[1].columns((self._column,))], 1)
        over_now = _is_over(self._at, until)
        due = np.full(len(items), over_now)
        if self._lag is not None:
            due |= items.end <= until.time - self._lag
        over = np.full(len(used), over_now) if self._lag is None else used.end <= until.time - self._lag
        self._items.value, self._used.value = items.take(~due), used.take(~over)
        return self._left(items.take(due), used)

    def _left(self, items: Rows, used: Rows) -> Rows:
        if not len(items):
            return items
        cells = items.ids[:, 0], items.refs[:, 0]
        if len(used):
            cells = self._sets.without(cells, items.end, (used.ids[:, 0], used.refs[:, 0]), used.end)
        rows = Rows(
            cells[0][:, None].copy(), cells[1][:, None].copy(), items.number, items.scale, items.start, items.end, items.since,
            items.until, items.lineage,
        )  # fmt: skip
        return rows.take(self._sets.sizes(cells[1]) > 0).by_end()

    def state_rows(self) -> Mapping[str, int]:
        return {"occurrences": len(self._items.value) + len(self._used.value)}


class Returned(Stateless):
    """The occurrences of the events that are returned, with the number of each; contradictions are kept for `letters`."""

    def __init__(self, node: nodes.Returned) -> None:
        self.schema: Schema = node.schema
        self._sources = len(node.sources)
        self._columns = [source.schema.columns((ASSERTIONS, nodes.INDIVIDUAL)) for source in node.sources]
        self.letters: list[Rows] = []
        """What contradicts, since somebody took it."""

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        self.letters += [rows for rows in inputs[self._sources :] if len(rows)]
        found = []
        for number, (rows, columns) in enumerate(zip(inputs[: self._sources], self._columns, strict=True)):
            wide = rows.columns((*columns, -1))
            wide.ids[:, 2] = number + 1
            found.append(wide)
        return concat(found, 3).by_end()
