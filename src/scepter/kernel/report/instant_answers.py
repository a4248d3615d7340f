"""The answers of evaluations: validities expanded into instants (RSTREAM and C-SPARQL's periodic report), or compared from one
evaluation to the next (ISTREAM, DSTREAM), as bags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scepter.errors import Diagnostic, QueryError
from scepter.kernel.group.extremes import ranks
from scepter.kernel.operator import Until
from scepter.kernel.report.evaluations import NEVER, Evaluations, Schedule
from scepter.kernel.rows import Int64, Mask, Rows, UInt64, concat, empty, spread
from scepter.kernel.state.state_parts import InParts, KeptRows, Part
from scepter.kernel.texts import Texts
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

MOST_ROWS = 1 << 26
"""More rows than this of one step cannot be meant, and would not fit into memory."""
_SEEN = MIN_INSTANT - 1


class Answers(InParts):
    """Rows and when they are there, until all evaluations that see them are past.

    Inputs are the rows of the pattern and the items that the schedule looks at."""

    def __init__(self, schema: Schema, schedule: Schedule, *, timed: bool) -> None:
        """`timed` where rows show their own occurrence, else they show the evaluation's instant."""
        self.schema = schema
        self._schedule = schedule
        self._timed = timed
        self._kept = KeptRows(len(schema.variables))
        self._parts: dict[str, Part] = {"rows": self._kept, "schedule": schedule}

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """What is reported at the evaluations that are certain now, in their order."""
        rows, items = inputs
        known = concat([self._kept.value, rows], rows.width)
        due = self._schedule.due(items, until)
        if not len(known):
            return known
        closed = MAX_INSTANT - 1 if until.last else until.time
        answer, self._kept.value = self._answer(known, due, closed)
        return answer

    def _answer(self, rows: Rows, due: Evaluations, closed: int) -> tuple[Rows, Rows]:
        """What is reported, and what is kept."""
        raise NotImplementedError

    def _at(self, rows: Rows, instant: Int64) -> Rows:
        """Rows as answers of instants."""
        rows = rows.valid(instant, np.minimum(instant, MAX_INSTANT - 1) + 1)
        own = rows.start <= rows.end
        if self._timed and bool(own.all()):
            return rows
        # a row that rests on no event happens when it is evaluated
        own &= self._timed
        return rows.during(np.where(own, rows.start, instant), np.where(own, rows.end, instant))

    def state_rows(self) -> Mapping[str, int]:
        return {"answer": len(self._kept)}


Arrange = Callable[[Rows], Rows]
"""Orders the rows of each evaluation, and cuts them."""


class EveryAnswer(Answers):
    """All rows at each evaluation."""

    def __init__(self, schema: Schema, schedule: Schedule, *, timed: bool, arrange: Arrange | None = None) -> None:
        super().__init__(schema, schedule, timed=timed)
        self._arrange = arrange

    def _answer(self, rows: Rows, due: Evaluations, closed: int) -> tuple[Rows, Rows]:
        place, first, count = due.count(rows.since, np.minimum(rows.until, closed + 1))
        if float(count.astype(np.float64).sum()) > MOST_ROWS:
            raise _too_many(int(count.astype(object).sum()))
        which, number = spread(count)
        instant = first[which] + number * due.step
        order = np.argsort(instant, kind="stable")
        answer = self._at(rows.take(place[which][order]), instant[order])
        kept = rows.take(rows.until > closed + 1)
        kept = kept.valid(np.maximum(kept.since, closed + 1), kept.until)
        return answer if self._arrange is None else self._arrange(answer), kept


def _too_many(rows: int) -> QueryError:
    message = f"the windows are evaluated so often while they hold the same events that {rows:,} rows would be reported at once"
    return QueryError(Diagnostic("endless-report", message, None, "choose a longer STEP or a shorter RANGE"))


class Difference(Answers):
    """What is new at an evaluation (ISTREAM), or what has gone (DSTREAM): differences of bags, by what rows bind and, where
    they have one, their own occurrence. A row that ends where an equal one begins neither comes nor goes.

    Of kept rows, those that an evaluation has seen are there since _SEEN, which no row that is given is."""

    def __init__(self, schema: Schema, schedule: Schedule, *, timed: bool, gone: bool) -> None:
        super().__init__(schema, schedule, timed=timed)
        self._gone = gone

    def _answer(self, rows: Rows, due: Evaluations, closed: int) -> tuple[Rows, Rows]:
        seen: Mask = rows.since == _SEEN
        enters = np.where(seen, NEVER, due.next(rows.since))
        leaves = due.next(rows.until)
        come = np.flatnonzero((enters != NEVER) & (enters != leaves))
        go = np.flatnonzero((leaves != NEVER) & (seen | (enters != leaves)))
        answer = empty(rows.width)
        if len(come) or len(go):
            place, instant = self._net(rows, come, go, enters[come], leaves[go])
            order = np.argsort(instant, kind="stable")
            answer = self._at(rows.take(place[order]), instant[order])
        entered = seen | (enters != NEVER)
        # a row that no evaluation has seen and that is over will never be seen; one that is there for ever never goes
        stays = (leaves == NEVER) & np.where(entered, rows.until < MAX_INSTANT, rows.until > closed + 1)
        kept = rows if bool(stays.all()) else rows.take(stays)
        return answer, kept.valid(np.where(entered[stays], _SEEN, kept.since), kept.until)

    def _net(self, rows: Rows, come: Int64, go: Int64, enters: Int64, leaves: Int64) -> tuple[Int64, Int64]:
        """Rows that come and have no equal one that goes at the same instant, or the other way round."""
        mine, others, when, whens = (go, come, leaves, enters) if self._gone else (come, go, enters, leaves)
        every, instants = np.concatenate([mine, others]), np.concatenate([when, whens])
        keys = np.concatenate([self._identity(rows)[every], instants.view(np.uint64)[:, None]], axis=1)
        _, of = distinct(keys)
        taken = np.bincount(of[len(mine) :], minlength=len(every) + 1)
        order = np.argsort(of[: len(mine)], kind="stable")
        group = of[: len(mine)][order]
        first = np.searchsorted(group, group)
        left = np.sort(order[np.arange(len(group)) - first >= taken[group]])
        return mine[left], when[left]

    def _identity(self, rows: Rows) -> UInt64:
        if not self._timed:
            return rows.ids
        return np.concatenate([rows.ids, np.stack([rows.start, rows.end], axis=1).view(np.uint64)], axis=1)


class Ordering:
    """Sorts the rows of each instant by columns, each ascending or descending, and cuts a slice out of them. Rows come in order
    of instant. Where a cut goes through rows that the columns do not tell apart, their occurrence and the texts of their
    terms decide: which of them stay may depend neither on the order in which events came nor on buckets."""

    def __init__(
        self, columns: Sequence[tuple[int, bool]], offset: int, limit: int | None, names: Sequence[str], texts: Texts
    ) -> None:
        """`names` are those of all columns."""
        self._columns = tuple(columns)
        self._cuts = (offset, *(() if limit is None else (offset + limit,)))
        self._shown_first = sorted(range(len(names)), key=lambda column: (names[column].startswith("_:"), names[column]))
        self._texts = texts

    def __call__(self, rows: Rows) -> Rows:
        """The rows in order."""
        if not len(rows):
            return rows
        keys = [rows.since]
        for column, descending in self._columns:
            rank = ranks(*rows.mappings.column(column), self._texts)
            keys.append(-rank if descending else rank)
        order = np.lexsort(keys[::-1])
        rows = rows.take(order)
        if self._cuts == (0,):
            return rows
        new = np.concatenate([[True], np.any([np.diff(key[order]) != 0 for key in keys], axis=0)])
        place = np.arange(len(rows)) - np.searchsorted(rows.since, rows.since)
        rows = self._told_apart(rows, np.cumsum(new) - 1, place)
        kept = place >= self._cuts[0]
        if len(self._cuts) > 1:
            kept &= place < self._cuts[1]
        return rows.take(kept)

    def _told_apart(self, rows: Rows, tie: Int64, place: Int64) -> Rows:
        """The rows with those in order that are in one tie on both sides of a cut."""
        first = place[np.searchsorted(tie, tie)]
        last = place[np.searchsorted(tie, tie, side="right") - 1]
        torn = np.flatnonzero(np.any([(first < cut) & (cut <= last) for cut in self._cuts], axis=0))
        if not len(torn):
            return rows
        some = rows.take(torn)
        keys = [tie[torn], some.start, some.end, *(self._spelt(some, column) for column in self._shown_first)]
        order = np.arange(len(rows))
        order[torn] = torn[np.lexsort(keys[::-1])]
        return rows.take(order)

    def _spelt(self, rows: Rows, column: int) -> Int64:
        """The rank of each term by its text, unbound first."""
        different, first, where = np.unique(rows.ids[:, column], return_index=True, return_inverse=True)
        refs = rows.refs[first, column].tolist()
        texts = ["" if id == 0 else str(self._texts.term(ref)) for id, ref in zip(different.tolist(), refs, strict=True)]
        rank = np.empty(len(texts), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return rank[where]
