"""`Derive`: rules that feed each other, to a fixpoint (spec/20-ep-sparql rule 9).

A stretch of several instants is derived in rounds: first from what the inputs give, then from what the last round derived,
until nothing is new. Joins only add to what was there, in whatever order; where an optional part or a negation has missed a row
of a later round, the stretch is taken back and halved, down to single instants, at which each derivation stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.errors import DataError, Diagnostic
from scepter.kernel.derive.rounds import Anew, Consequences
from scepter.kernel.derive.template import Template
from scepter.kernel.gap_join.gap_join import GapJoined
from scepter.kernel.operator import ByRows, Operator, Until
from scepter.kernel.rows import (
    COLUMNS,
    TIMELESS,
    Int64,
    Mask,
    Rows,
    UInt64,
    concat,
    empty,
)
from scepter.kernel.rows import each_once as in_order
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.join_table import Seen
from scepter.kernel.time_join.time_join import DisorderedError, TimeJoined
from scepter.ontology.schema import Schema as OntologySchema
from scepter.physical.nodes.derive_nodes import Derive, DerivedRule, Recalled
from scepter.physical.nodes.nodes import Node, Schema
from scepter.rdf.hashing import TermKey

_STRETCH, _LONGEST_STRETCH = 256, 1 << 14
"""So many instants are derived together, at first and at most: a stretch that went through makes the next one longer, one that
had to be taken back shorter."""
_ROUND = 25
"""What a round of rules over the background counts for."""
_AT_ONCE, _FEWEST = 1 << 18, 64
"""Of what a round has derived, so much goes into the next at once that no join should make more rows than this, and at least so
many: what a rule derives out of all pairs of what it derived is counted before there are billions of them."""
_TOLD_AGAIN, _MANY = 500, 1 << 14
"""At one instant so many solutions are looked at for each triple that may be derived; passes with few are not counted."""
_AGAIN = 5
"""Over all rounds, what is asked anew may give so many times as much as may be derived."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


class Deriving(ByRows):
    """A stratum at work."""

    def __init__(
        self,
        node: Derive,
        operator_of: Callable[[Node], Operator],
        key: TermKey,
        texts: Texts,
        most: int,
        schema: OntologySchema | None = None,
    ) -> None:
        self.schema: Schema = node.schema
        self._node = node
        self._width = len(node.schema.variables)
        self._most = most
        self._texts = texts
        self._stretch = _STRETCH
        entailed = Consequences(schema, key, texts) if schema else None
        self._templates = [Template(rule, key, texts, entailed, graphs=node.graphs, whole=node.whole) for rule in node.rules]
        self._operators = [(each, operator_of(each)) for each in node.inner]
        self._joins = [operator for _, operator in self._operators if isinstance(operator, TimeJoined | GapJoined | Anew)]
        self._again = any(isinstance(operator, Anew) for _, operator in self._operators)
        # what is asked anew, and a join that tells what it has missed, see the whole of a round
        self._in_pieces = all(isinstance(join, TimeJoined) and join.is_inner for join in self._joins)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The triples derived, in order of end."""
        if not self._operators:
            given = {id(node): rows for node, rows in zip(self._node.inputs, inputs, strict=True)}
            made = concat([made for _, made in self._made(given)], self._width)
            told = self._told(made)
            new = Seen(told.shape[1]).new(told)
            return self._standing(made, new).by_end()
        instants = in_order(np.concatenate([rows.end for rows in inputs]))
        found, low = list[Rows](), 0
        while low < len(instants):
            some = instants[low : low + self._stretch]
            found += self._derive(inputs, some)
            low += len(some)
        return concat(found, self._width)

    def _told(self, rows: Rows) -> UInt64:
        """What derived triples are told apart by; a node is one of its own."""
        ids = rows.ids[:, : 1 if self._node.whole else 3]
        return np.column_stack([ids, rows.start.view(np.uint64), rows.end.view(np.uint64)])

    def _standing(self, made: Rows, new: Mask) -> Rows:
        """What is new; where graphs are looked at, with what stands beside it in its graph."""
        if not self._node.graphs:
            return made.take(new)
        number = made.number.copy()
        number[:, 3] = np.where(new, 0.0, 1.0)
        marked = Rows(made.ids, made.refs, number, *(getattr(made, name) for name in COLUMNS[3:]))
        return marked.take(np.isin(made.ids[:, 3], made.ids[new, 3]))

    def _derive(self, inputs: Sequence[Rows], instants: Int64) -> list[Rows]:
        """The triples of a stretch of time, in order."""
        if not len(instants):
            return []
        parts = [between(rows, int(instants[0]), int(instants[-1])) for rows in inputs]
        for join in self._joins:
            join.open_rounds(single=len(instants) == 1)
        try:
            found = self._rounds(parts)
        except DisorderedError:
            for join in self._joins:
                join.reopen()
            half = self._stretch = len(instants) // 2
            return self._derive(inputs, instants[:half]) + self._derive(inputs, instants[half:])
        for join in self._joins:
            join.close_rounds()
        if len(instants) == self._stretch:
            self._stretch = min(4 * self._stretch, _LONGEST_STRETCH)
        return [found]

    def _rounds(self, parts: Sequence[Rows]) -> Rows:
        given = {id(node): rows for node, rows in zip(self._node.inputs, parts, strict=True)}
        none = {place: empty(rows.width) for place, rows in given.items()}
        found, seen, counts = (
            list[Rows](),
            Seen(3 if self._node.whole else 5),
            _Counts(self._most, whole=bool(self._node.whole)),
        )
        fresh, piece, before = empty(self._width), 0, 0
        while True:
            made_now, most = [empty(self._width)], 0.0
            for rows in _pieces(fresh, piece):
                most = max(most, self._pass(given, rows) / max(len(rows), 1))
                for rule, made in self._made(given):
                    is_new = seen.new(self._told(made))
                    if (where := counts.exceeded(made.take(is_new))) is not None:
                        raise endless(rule, where)
                    if (where := counts.told_again(made)) is not None:
                        raise endless(rule, where)
                    if self._again and (where := counts.asked_again(made)) is not None:
                        raise endless(rule, where)
                    made_now.append(self._standing(made, is_new))
                given = dict(none)
            derived = before + len(fresh)
            fresh = concat(made_now, self._width).by_end()
            if not len(fresh):
                return concat(found, self._width).by_end()
            found.append(fresh)
            counts.rounds += 1
            if self._in_pieces:  # a row meets more rows than those of this round did, by as much as there are more
                growth = (derived + len(fresh)) / max(derived, 1)
                piece = max(int(_AT_ONCE / max(most * growth, 1.0)), _FEWEST)
            before = derived

    def _pass(self, given: dict[int, Rows], fresh: Rows) -> int:
        """All operators, once; how many rows the one made that made most."""
        most = 0
        for node, operator in self._operators:
            inputs = [fresh] if isinstance(node, Recalled) else [given[id(each)] for each in node.inputs]
            given[id(node)] = found = operator.process(inputs, _ALL)
            most = max(most, len(found))
        return most

    def _made(self, given: Mapping[int, Rows]) -> Iterator[tuple[DerivedRule, Rows]]:
        for rule, template in zip(self._node.rules, self._templates, strict=True):
            yield rule, template(given[id(rule.root)])

    # ---- state: that of the operators within

    def save(self) -> None:
        for _, operator in self._operators:
            operator.save()

    def undo(self) -> None:
        for _, operator in self._operators:
            operator.undo()

    def evict(self, time: int) -> None:
        for _, operator in self._operators:
            operator.evict(time)

    def dump(self) -> Arrays:
        return {
            f"{i}.{name}": array for i, (_, operator) in enumerate(self._operators) for name, array in operator.dump().items()
        }

    def load(self, arrays: Arrays) -> None:
        for i, (_, operator) in enumerate(self._operators):
            operator.load({name.removeprefix(f"{i}."): array for name, array in arrays.items() if name.startswith(f"{i}.")})

    def refs(self) -> Iterator[Int64]:
        return (array for _, operator in self._operators for array in operator.refs())

    def lineages(self) -> Iterator[Int64]:
        return (array for _, operator in self._operators for array in operator.lineages())

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": sum(sum(operator.state_rows().values()) for _, operator in self._operators)}


_ALL = Until(np.iinfo(np.int64).max - 1)


def _pieces(rows: Rows, size: int) -> Iterator[Rows]:
    """Rows, so many at a time (0: all); none are one piece too."""
    step = size or max(len(rows), 1)
    return (rows.between(low, min(low + step, len(rows))) for low in range(0, max(len(rows), 1), step))


def between(rows: Rows, low: int, high: int) -> Rows:
    """Of rows in order of end, those that end from one instant to another."""
    first, last = np.searchsorted(rows.end, low, "left"), np.searchsorted(rows.end, high, "right")
    return rows.between(int(first), int(last))


class _Counts:
    """How much was derived at each instant, and in how many rounds."""

    def __init__(self, most: int, *, whole: bool) -> None:
        self._most = most
        self._whole = whole
        self._ends: Int64 = np.empty(0, np.int64)
        self._at: Int64 = np.empty(0, np.int64)
        self._solutions: dict[int, int] = {}
        """By instant, how many solutions large passes have had."""
        self._again = 0
        self.rounds = 0

    def exceeded(self, rows: Rows) -> str | None:
        """Where it is too much with these, in words. Much may follow from the background, but no chain of so many steps."""
        each = np.repeat(rows.end, np.count_nonzero(rows.ids[:, 1:], axis=1)) if self._whole else rows.end
        ends, counts = np.unique(np.concatenate([self._ends, each]), return_counts=True)
        counts[np.searchsorted(ends, self._ends)] += self._at - 1
        self._ends, self._at = ends, counts
        if len(ends) and ends[0] == TIMELESS[1]:
            if self.rounds * _ROUND > self._most:
                return f"over the background: {self.rounds} rounds"
            ends, counts = ends[1:], counts[1:]
        many = np.flatnonzero(counts > self._most)
        return f"at {ends[many[0]]}: more than {self._most} triples at one instant" if len(many) else None

    def told_again(self, made: Rows) -> str | None:
        """A rule that makes few triples of all pairs of what it made would reach the limit long after anybody waits."""
        if len(made) < _MANY:
            return None
        ends, counts = np.unique(made.end[made.end != TIMELESS[1]], return_counts=True)
        for end, count in zip(ends[counts >= _MANY // 8].tolist(), counts[counts >= _MANY // 8].tolist(), strict=True):
            self._solutions[end] = self._solutions.get(end, 0) + count
            if self._solutions[end] > _TOLD_AGAIN * self._most:
                return f"at {end}: {self._told(end)} triples from more than {_TOLD_AGAIN * self._most} solutions at one instant"
        return None

    def _told(self, end: int) -> int:
        place = int(np.searchsorted(self._ends, end))
        return int(self._at[place]) if place < len(self._ends) and self._ends[place] == end else 0

    def asked_again(self, made: Rows) -> str | None:
        """Where operators are asked anew in each round: such a rule that derives a triple a round takes time cubic in them, and
        would reach the limit long after anybody waits."""
        if not len(made):
            return None
        end = int(made.end[-1])
        self._again += self._told(end) if self.rounds else 0
        if self._again <= _AGAIN * self._most:
            return None
        return f"at {end}: one by one, {self._told(end)} triples at one instant"


def endless(rule: DerivedRule, where: str) -> DataError:
    """A rule that derives more than may be."""
    return DataError(
        Diagnostic(
            "max-derivations",
            f"{rule.label} keeps deriving {where}",
            rule.span,
            "let each derivation need something later (SEQ), or raise --max-derivations",
        )
    )
