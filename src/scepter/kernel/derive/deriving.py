"""`Derive`: rules that feed each other, to a fixpoint (spec/20-ep-sparql rule 9).

A stretch of several instants is derived in rounds: first from what the inputs give, then from what the last round derived,
until nothing is new. Joins only add to what was there, in whatever order; where an optional part or a negation has missed a row
of a later round, the stretch is taken back and halved, down to single instants, at which each derivation stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node as TermNode
from scepter.algebra.patterns import TriplePattern
from scepter.errors import DataError, Diagnostic
from scepter.kernel.derive.rounds import Anew, Consequences
from scepter.kernel.encoding import encoded
from scepter.kernel.gap_join.gap_join import GapJoined
from scepter.kernel.operator import ByRows, Operator, Stateless, Until
from scepter.kernel.rows import (
    ALWAYS,
    COLUMNS,
    NO_LINEAGE,
    TIMELESS,
    Int64,
    Mask,
    Rows,
    UInt64,
    concat,
    empty,
    lasting,
    mappings,
)
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.join_table import Seen
from scepter.kernel.time_join.time_join import DisorderedError, TimeJoined
from scepter.ontology.schema import Schema as OntologySchema
from scepter.physical.derive_nodes import Derive, DerivedRule, Picked, Recalled
from scepter.physical.nodes import Node, Schema
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, BlankNode, Literal

_STRETCH, _LONGEST_STRETCH = 256, 1 << 14
"""So many instants are derived together, at first and at most: a stretch that went through makes the next one longer, one that
had to be taken back shorter."""
_ROUND = 25
"""What a round of rules over the background counts for."""
_AGAIN = 5
"""Over all rounds, what is asked anew may give so many times as much as may be derived."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


class Pick(Stateless):
    """The triples that match a pattern, as its variables."""

    def __init__(self, node: Picked | Recalled, key: TermKey) -> None:
        self.schema: Schema = node.schema
        assert node.pattern is not None
        places = (node.pattern.subject, node.pattern.predicate, node.pattern.object)
        self._constants = [
            (i, np.uint64(term_id(key, str(node.term)))) for i, node in enumerate(places) if isinstance(node, Constant)
        ]
        self._columns = [
            [i for i, node in enumerate(places) if isinstance(node, Variable) and node.name == name]
            for name in self.schema.variables
        ]

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Those with its constants, and equal terms where it has one variable twice."""
        (rows,) = inputs
        # Of a graph that stands again with something new, what had been derived before counts for paths alone.
        kept: Mask = rows.number[:, 3] != 1 if rows.width > 3 else np.ones(len(rows), np.bool_)
        for column, id in self._constants:
            kept &= rows.ids[:, column] == id
        for first, *others in self._columns:
            for other in others:
                kept &= rows.ids[:, first] == rows.ids[:, other]
        return (rows if bool(kept.all()) else rows.take(kept)).columns([columns[-1] for columns in self._columns])


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
        self._templates = [Template(rule, key, texts, entailed, graphs=node.graphs) for rule in node.rules]
        self._operators = [(each, operator_of(each)) for each in node.inner]
        self._joins = [operator for _, operator in self._operators if isinstance(operator, TimeJoined | GapJoined | Anew)]
        self._again = any(isinstance(operator, Anew) for _, operator in self._operators)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The triples derived, in order of end."""
        if not self._operators:
            given = {id(node): rows for node, rows in zip(self._node.inputs, inputs, strict=True)}
            made = concat([made for _, made in self._made(given)], self._width)
            new = Seen(5).new(_told(made))
            return self._standing(made, new).by_end()
        instants = np.unique(np.concatenate([rows.end for rows in inputs]))
        found, low = list[Rows](), 0
        while low < len(instants):
            some = instants[low : low + self._stretch]
            found += self._derive(inputs, some)
            low += len(some)
        return concat(found, self._width)

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
        parts = [_between(rows, int(instants[0]), int(instants[-1])) for rows in inputs]
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
        found, seen, counts = list[Rows](), Seen(5), _Counts(self._most)
        fresh = empty(self._width)
        while True:
            self._pass(given, fresh)
            fresh = empty(self._width)
            for rule, made in self._made(given):
                is_new = seen.new(_told(made))
                if (where := counts.exceeded(made.take(is_new))) is not None:
                    raise _endless(rule, where)
                if self._again and (where := counts.asked_again(made)) is not None:
                    raise _endless(rule, where)
                fresh = concat([fresh, self._standing(made, is_new)], self._width)
            if not len(fresh):
                return concat(found, self._width).by_end()
            fresh = fresh.by_end()
            found.append(fresh)
            counts.rounds += 1
            given = dict(none)

    def _pass(self, given: dict[int, Rows], fresh: Rows) -> None:
        for node, operator in self._operators:
            inputs = [fresh] if isinstance(node, Recalled) else [given[id(each)] for each in node.inputs]
            given[id(node)] = operator.process(inputs, _ALL)

    def _made(self, given: Mapping[int, Rows]) -> Iterator[tuple[DerivedRule, Rows]]:
        for rule, template in zip(self._node.rules, self._templates, strict=True):
            yield rule, template(given[id(rule.root)])

    # ---- state: that of the operators within

    def save(self) -> None:
        """Start an instant that may be undone."""
        for _, operator in self._operators:
            operator.save()

    def undo(self) -> None:
        """Back to `save`."""
        for _, operator in self._operators:
            operator.undo()

    def evict(self, time: int) -> None:
        """Let go of what no later row can use."""
        for _, operator in self._operators:
            operator.evict(time)

    def dump(self) -> Arrays:
        """By the operators' places."""
        return {
            f"{i}.{name}": array for i, (_, operator) in enumerate(self._operators) for name, array in operator.dump().items()
        }

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        for i, (_, operator) in enumerate(self._operators):
            operator.load({name.removeprefix(f"{i}."): array for name, array in arrays.items() if name.startswith(f"{i}.")})

    def refs(self) -> Iterator[Int64]:
        """Of the operators within."""
        return (array for _, operator in self._operators for array in operator.refs())

    def lineages(self) -> Iterator[Int64]:
        """Of the operators within."""
        return (array for _, operator in self._operators for array in operator.lineages())

    def state_rows(self) -> Mapping[str, int]:
        """Solutions that the operators within keep."""
        return {"solutions": sum(sum(operator.state_rows().values()) for _, operator in self._operators)}


_ALL = Until(np.iinfo(np.int64).max - 1)


def _between(rows: Rows, low: int, high: int) -> Rows:
    first, last = np.searchsorted(rows.end, low, "left"), np.searchsorted(rows.end, high, "right")
    return rows.between(int(first), int(last))


def _told(rows: Rows) -> UInt64:
    """What derived triples are told apart by."""
    return np.column_stack([rows.ids[:, :3], rows.start.view(np.uint64), rows.end.view(np.uint64)])


class _Counts:
    """How much was derived at each instant, and in how many rounds."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ends: Int64 = np.empty(0, np.int64)
        self._at: Int64 = np.empty(0, np.int64)
        self._again = 0
        self.rounds = 0

    def exceeded(self, rows: Rows) -> str | None:
        """Where it is too much with these, in words. Much may follow from the background, but no chain of so many steps."""
        ends, counts = np.unique(np.concatenate([self._ends, rows.end]), return_counts=True)
        counts[np.searchsorted(ends, self._ends)] += self._at - 1
        self._ends, self._at = ends, counts
        if len(ends) and ends[0] == TIMELESS[1]:
            if self.rounds * _ROUND > self._most:
                return f"over the background: {self.rounds} rounds"
            ends, counts = ends[1:], counts[1:]
        many = np.flatnonzero(counts > self._most)
        return f"at {ends[many[0]]}: more than {self._most} triples at one instant" if len(many) else None

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


def _endless(rule: DerivedRule, where: str) -> DataError:
    return DataError(
        Diagnostic(
            "max-derivations",
            f"{rule.label} keeps deriving {where}",
            rule.span,
            "let each derivation need something later (SEQ), or raise --max-derivations",
        )
    )


class Template:
    """Triples of solutions: one with an unbound variable or a term out of place is left out, the others stay. Blank nodes are
    fresh for each solution, the same wherever it is computed: named by a hash of what it is."""

    def __init__(
        self, rule: DerivedRule, key: TermKey, texts: Texts, entailed: Consequences | None = None, *, graphs: bool = False
    ) -> None:
        self._entailed = entailed
        self._graphs = graphs
        self._rule = rule
        self._names = rule.root.schema.variables
        self._texts = texts
        self._constants = {
            term: [column[0] for column in encoded([term], key, texts)]
            for triple in rule.template
            for term in (node.term for node in _places(triple) if isinstance(node, Constant))
            if not isinstance(term, BlankNode)
        }
        self._kinds: dict[int, type] = {}

    def __call__(self, rows: Rows) -> Rows:
        """All triples of all rows."""
        width = 4 if self._graphs else 3
        # What has no time and needs no triple derives at instants, not for all times.
        rows = rows.take((rows.start <= rows.end) | (rows.until != ALWAYS)) if len(rows) else rows
        if not len(rows):
            return empty(width)
        blanks: dict[str, tuple[UInt64, Int64]] = {}
        made = concat([self._triples(triple, rows, blanks) for triple in self._rule.template], width)
        return made if self._entailed is None else self._entailed(made)

    def _triples(self, triple: TriplePattern, rows: Rows, blanks: dict[str, tuple[UInt64, Int64]]) -> Rows:
        ids, refs, number, scale = mappings(len(rows), 4 if self._graphs else 3)
        if self._graphs:
            ids[:, 3] = self._told_apart(rows, 63)
        kept: Mask = np.ones(len(rows), np.bool_)
        for position, node in enumerate(_places(triple)):
            if isinstance(node, Constant) and not isinstance(node.term, BlankNode):
                id, ref, value, exact = self._constants[node.term]
                ids[:, position], refs[:, position], number[:, position], scale[:, position] = id, ref, value, exact
            elif (label := _label(node)) is not None:
                if label not in blanks:
                    blanks[label] = self._fresh(rows, len(blanks))
                ids[:, position], refs[:, position] = blanks[label]
            elif isinstance(node, Variable) and node.name in self._names:
                column = self._names.index(node.name)
                ids[:, position], refs[:, position] = rows.ids[:, column], rows.refs[:, column]
                number[:, position], scale[:, position] = rows.number[:, column], rows.scale[:, column]
                if position < 2:
                    kept &= self._fits(rows, column, (IRI, BlankNode) if position == 0 else (IRI,))
            kept &= ids[:, position] != 0
        made = Rows(ids, refs, number, scale, rows.start, rows.end, *lasting(len(rows)), np.full(len(rows), NO_LINEAGE))
        return made if bool(kept.all()) else made.take(kept)

    def _fits(self, rows: Rows, column: int, kinds: tuple[type, ...]) -> Mask:
        """Whether terms may stand in a place; each different one is looked at once."""
        different, first, where = np.unique(rows.ids[:, column], return_index=True, return_inverse=True)
        verdicts = np.zeros(len(different), np.bool_)
        for i, (id, row) in enumerate(zip(different.tolist(), first.tolist(), strict=True)):
            if id:
                kind = self._kinds.get(id)
                if kind is None:
                    if len(self._kinds) > _REMEMBERED:
                        self._kinds.clear()
                    kind = self._kinds[id] = type(self._texts.known(int(rows.refs[row, column]), id))
                verdicts[i] = issubclass(kind, kinds) and kind is not Literal
        found: Mask = verdicts[where]
        return found

    def _fresh(self, rows: Rows, number: int) -> tuple[UInt64, Int64]:
        """A blank node for each row: `_:m` and the hexadecimal digits of its id."""
        ids = self._told_apart(rows, number)
        shifts = np.arange(60, -4, -4, dtype=np.uint64)
        text = np.empty((len(rows), 20), np.uint8)
        text[:, :3] = np.frombuffer(b"_:m", np.uint8)
        text[:, 3:19] = _DIGITS[(ids[:, None] >> shifts & np.uint64(15)).astype(np.intp)]
        text[:, 19] = ord("\n")
        base = self._texts.append_lines(text.ravel())
        return ids, base + 20 * np.arange(len(rows))

    def _told_apart(self, rows: Rows, number: int) -> UInt64:
        """A number for each solution, made of what it is."""
        ids = np.full(len(rows), np.uint64(self._rule.number * 64 + number + 1), np.uint64)
        for column in (rows.start.view(np.uint64), rows.end.view(np.uint64), *rows.ids.T):
            ids = (ids ^ (ids >> np.uint64(29)) ^ column) * _MIX
        ids ^= ids >> np.uint64(32)
        return ids | np.uint64(1)


_REMEMBERED = 200_000


def _places(triple: TriplePattern) -> tuple[TermNode, TermNode, TermNode]:
    return triple.subject, triple.predicate, triple.object


def _label(node: TermNode) -> str | None:
    """The label of a template's blank node."""
    if isinstance(node, Constant):
        return node.term.label if isinstance(node.term, BlankNode) else None
    return node.name if node.name.startswith("_:") else None
