"""What rules need that feed each other: operators asked anew in each round, what derived triples entail, and paths within what
one solution derives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.kernel.encoding import encoded, encoded_rows
from scepter.kernel.operator import ByRows, Operator, Stateless, Until
from scepter.kernel.rows import TIMELESS, Int64, Rows, UInt64, concat, empty, lasting_rows
from scepter.kernel.scan.event_scan import needless
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.join_table import Seen
from scepter.kernel.time_join.time_join import DisorderedError, each_once
from scepter.ontology.schema import Schema as OntologySchema
from scepter.physical.nodes.derive_nodes import DerivedPath
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term, Triple

_REMEMBERED = 100_000


class Anew(ByRows):
    """An operator whose answer at an instant may change with more rows of that instant: in each round it is asked from the
    start of the stretch, with all rows of the stretch so far. Within a stratum each derivation stays, so that nothing is taken
    back; over several instants a row that earlier answers should have seen is told by an error: shorter stretches are tried.
    """

    def __init__(self, make: Callable[[], Operator], inputs: int) -> None:
        self._operator = make()
        self.schema: Schema = self._operator.schema
        self._given: list[list[Rows]] = [[] for _ in range(inputs)]
        self._before: Arrays | None = None
        self._saved: Arrays = {}
        self._single = True
        self._latest = TIMELESS[1]
        self._told = self._nothing_told()

    # ---- rounds

    def open_rounds(self, *, single: bool) -> None:
        """A stretch of time begins, of one instant or of several."""
        self._before, self._single = _copied(self._operator.dump()), single
        self._given = [[] for _ in self._given]
        self._latest = TIMELESS[1] - 1
        self._told = self._nothing_told()

    def reopen(self) -> None:
        """Back to the beginning of the stretch."""
        assert self._before is not None
        self._operator.load(_copied(self._before))
        self._given = [[] for _ in self._given]

    def _nothing_told(self) -> Seen:
        return Seen(len(self.schema.variables) + 2)

    def close_rounds(self) -> None:
        """The stretch is over."""
        self._before = None
        self._given = [[] for _ in self._given]

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """What there is for the stretch so far, each row once; nothing where nothing came."""
        if not any(map(len, inputs)):
            return empty(len(self.schema.variables))
        if self._before is None:
            return self._operator.process(inputs, until)
        first = min(int(rows.end.min()) for rows in inputs if len(rows))
        if first <= self._latest and not self._single:
            raise DisorderedError
        self._latest = max(self._latest, *(int(rows.end.max()) for rows in inputs if len(rows)))
        for parts, rows in zip(self._given, inputs, strict=True):
            parts.append(rows)
        self._operator.load(_copied(self._before))
        together = [concat(parts, parts[0].width).by_end() for parts in self._given]
        found = self._operator.process(together, until)
        return found.take(self._told.new(np.column_stack([found.ids, _bits(found.start), _bits(found.end)])))

    # ---- state: that of the operator, by what it writes down

    def save(self) -> None:
        self._saved = _copied(self._operator.dump())

    def undo(self) -> None:
        self._operator.load(_copied(self._saved))

    def evict(self, time: int) -> None:
        self._operator.evict(time)

    def dump(self) -> Arrays:
        return self._operator.dump()

    def load(self, arrays: Arrays) -> None:
        self._operator.load(arrays)

    def refs(self) -> Iterator[Int64]:
        saved = (array for name, array in self._saved.items() if name.endswith("refs"))
        return iter((*self._operator.refs(), *saved))

    def lineages(self) -> Iterator[Int64]:
        saved = (array for name, array in self._saved.items() if name.endswith("lineage"))
        return iter((*self._operator.lineages(), *saved))

    def state_rows(self) -> Mapping[str, int]:
        return self._operator.state_rows()


def _bits(times: Int64) -> UInt64:
    return times.view(np.uint64)


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


class Consequences:
    """Derived triples with all they entail: each different one is looked at once."""

    def __init__(self, schema: OntologySchema, key: TermKey, texts: Texts) -> None:
        self._schema, self._key, self._texts = schema, key, texts
        self._known: dict[bytes, list[Triple]] = {}

    def __call__(self, rows: Rows) -> Rows:
        """The triples, and those that follow from them over the same interval."""
        first, where = distinct(np.ascontiguousarray(rows.ids[:, :3]))
        entailed = [self._entailed(rows, row) for row in first.tolist()]
        of = [row for row in range(len(rows)) for _ in entailed[int(where[row])]]
        more = [triple for row in range(len(rows)) for triple in entailed[int(where[row])]]
        if not of:
            return rows
        wide = rows.take(np.array(of, np.int64))
        for column in range(3):
            wide.mappings.put(column, encoded([triple[column] for triple in more], self._key, self._texts))
        return concat([rows, wide], rows.width)

    def _entailed(self, rows: Rows, row: int) -> list[Triple]:
        ids = rows.ids[row, :3]
        known = self._known.get(ids.tobytes())
        if known is None:
            terms: list[Term] = [
                self._texts.known(ref, id) for ref, id in zip(rows.refs[row, :3].tolist(), ids.tolist(), strict=True)
            ]
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            triple = Triple(*terms)
            known = self._known[ids.tobytes()] = [each for each in self._schema.consequences(triple) if each != triple]
        return known


class PathsWithin(Stateless):
    """Paths within the triples of each graph that a rule derived. What has no time is one graph with the static triples."""

    def __init__(self, node: DerivedPath, static: Graph, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._pattern = node.pattern
        self._left_out = needless(node)
        self._static: dict[Triple, None] | None = None
        self._background = static
        self._key, self._texts = key, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The solutions of each graph, with its interval."""
        (rows,) = inputs
        names = self.schema.variables
        found: list[tuple[tuple[Term | None, ...], int, int]] = []
        for (start, end), triples in self._graphs(rows):
            left_out = frozenset() if (start, end) == TIMELESS else self._left_out
            for row in solutions(self._pattern, Graph(triples)):
                if frozenset(row.items()) not in left_out:
                    found.append((tuple(row.get(name) for name in names), start, end))
        if not found:
            return empty(len(names))
        starts, ends = (np.array([each[i] for each in found], np.int64) for i in (1, 2))
        columns = encoded_rows([row for row, _, _ in found], len(names), self._key, self._texts)
        return each_once(lasting_rows(columns, starts, ends).by_end())

    def _graphs(self, rows: Rows) -> Iterator[tuple[tuple[int, int], Sequence[Triple]]]:
        graphs: dict[tuple[int, int, int], list[Triple]] = {}
        for row in range(len(rows)):
            terms = zip(rows.refs[row, :3].tolist(), rows.ids[row, :3].tolist(), strict=True)
            triple = Triple(*(self._texts.known(ref, id) for ref, id in terms))
            when = int(rows.start[row]), int(rows.end[row])
            graphs.setdefault((*when, 0 if when == TIMELESS else int(rows.ids[row, 3])), []).append(triple)
        for (start, end, _), triples in graphs.items():
            if (start, end) == TIMELESS:
                self._static = self._static or dict.fromkeys(self._background)
                self._static.update(dict.fromkeys(triples))
                triples = [*self._static]
            yield (start, end), triples
