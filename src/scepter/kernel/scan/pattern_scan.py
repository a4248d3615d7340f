"""Scans: a graph pattern on each event of a batch, by the road the plan chose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.patterns import Pattern
from scepter.kernel.condition.programs import number_of
from scepter.kernel.condition.row_conditions import Conditions
from scepter.kernel.interrupts import BY_INSTANT, interruptible
from scepter.kernel.scan.event_pattern import EventPattern
from scepter.kernel.scan.intake import Intake
from scepter.kernel.scan.pattern_matching import CompiledPattern, compile_pattern, match_table
from scepter.kernel.scan.solutions import Solutions, empty
from scepter.kernel.sequence.exact_filters import holds_all
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.physical.nodes.event_core import Core
from scepter.physical.nodes.nodes import Node
from scepter.physical.sequence_plan import QueryPlan, ScanPlan
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Term, Triple

Streams = Mapping[int, NDArray[np.bool_]]
"""Per stream of the query: which events of the batch belong to it."""


class Scans:
    """All scans of one query. Equal shapes are matched once per batch."""

    def __init__(
        self,
        plan: QueryPlan,
        key: TermKey,
        background: Background,
        pattern_of: Callable[[Node, Sequence[str]], EventPattern],
    ) -> None:
        self._plan = plan
        self._key = key
        self._background = background
        names = [[plan.variables[slot] for slot in scan.slots] for scan in plan.scans]
        shapes = dict.fromkeys(core.shape for scan in plan.scans for core in scan.cores)
        # by number: hashing a whole pattern per scan and batch costs more than matching one event
        self._compiled: list[CompiledPattern] = [compile_pattern(s.triples, s.width, key) for s in shapes]
        numbers = {shape: number for number, shape in enumerate(shapes)}
        self._shape_of = {id(core): numbers[core.shape] for scan in plan.scans for core in scan.cores}
        self._patterns = {
            place: pattern_of(scan.tree, names[place])
            for place, scan in enumerate(plan.scans)
            if scan.tree is not None and not isinstance(scan.tree, Core)
        }
        chosen = [
            tuple(scan.tree.columns[scan.tree.names.index(name)] for name in named) if isinstance(scan.tree, Core) else ()
            for scan, named in zip(plan.scans, names, strict=True)
        ]
        told = [
            (tree.shape, tree.graphs, columns) if isinstance(tree := scan.tree, Core) else (tree or scan, tuple(named))
            for scan, named, columns in zip(plan.scans, names, chosen, strict=True)
        ]
        self._chosen = [_columns(scan, columns) for scan, columns in zip(plan.scans, chosen, strict=True)]
        first: dict[object, int] = {}
        self._alike = [first.setdefault(each, place) for place, each in enumerate(told)]
        self._filters = [Conditions(scan.local, named, key) for scan, named in zip(plan.scans, names, strict=True)]

    def __call__(
        self, intake: Intake, texts: Texts, wanted: Streams, graphs: dict[int, Graph] | None
    ) -> list[tuple[Solutions, Solutions]]:
        """Per scan: the solutions its local filters keep, and all of them (which decide on partitions).

        Where filters of the match so far look at events' graphs, `graphs` collects those by event number.
        """
        matched: dict[int, Solutions] = {}
        tables: dict[int, Solutions] = {}
        results: list[tuple[Solutions, Solutions]] = []
        for number, scan in enumerate(self._plan.scans):
            if scan.tree is not None:
                alike = self._alike[number]  # what scans have in common is one table, also for whoever packs it
                everything = tables.get(alike)
                if everything is None:
                    everything = tables[alike] = self._solved(number, scan, intake, wanted[scan.stream], matched)
                kept = self._filter(number, everything, texts) if scan.local else everything
            else:
                kept, everything = self._general(scan, intake, texts, wanted[scan.stream], graphs)
            results.append((kept, everything))
        return results

    def _solved(
        self, number: int, scan: ScanPlan, intake: Intake, wanted: NDArray[np.bool_], matched: dict[int, Solutions]
    ) -> Solutions:  # fmt: skip
        """A pattern's solutions, each of an event once. `matched` are those of its cores so far, by their shapes."""
        if isinstance(scan.tree, Core):
            table, chosen = self._of_core(scan.tree, intake, wanted, matched), self._chosen[number]
            return table if chosen is None else self._chosen_of(scan.tree, chosen, table)

        def of_core(core: Core) -> Solutions:
            return self._chosen_of(core, core.columns, self._of_core(core, intake, wanted, matched))

        return each_once(self._patterns[number].solve(intake, of_core)).by_time()

    def _of_core(
        self, core: Core, intake: Intake, wanted: NDArray[np.bool_], matched: dict[int, Solutions]
    ) -> Solutions:  # fmt: skip
        shape = self._shape_of[id(core)]
        found = matched.get(shape)
        if found is None:
            found = matched[shape] = self._match(self._compiled[shape], intake, wanted)
        return found

    def _match(self, compiled: CompiledPattern, intake: Intake, wanted: NDArray[np.bool_]) -> Solutions:
        batch = intake.batch
        columns = (
            batch.first, batch.subject, batch.predicate, batch.object, batch.subject_at, batch.predicate_at, batch.object_at,
            batch.number, batch.scale, batch.start, batch.end, batch.name_at,
        )  # fmt: skip
        told, *mapping = interruptible(
            match_table, BY_INSTANT, columns, wanted, compiled.constants, compiled.variables, compiled.sources, intake.base,
            intake.number, intake.named,
        )  # fmt: skip
        branch = np.zeros(told.shape[1], np.int8)
        table = Solutions(told[0], told[1], branch, told[2, :, None], told[3, :, None], *mapping)
        return table if len(branch) == 1 else table.by_time()

    def _chosen_of(self, core: Core, columns: tuple[int, ...], matched: Solutions) -> Solutions:
        """Solutions with what background graphs add, in some columns, each of an event once."""
        width = matched.width
        for name, triples in core.graphs:
            matched = self._background.join(name, triples, matched)
        table = matched.columns(columns)
        return each_once(table) if len(table) > 1 and len(set(columns)) < max(width, matched.width) else table

    def _filter(self, number: int, table: Solutions, texts: Texts) -> Solutions:
        return self._filters[number].keep(table, texts, _alone)

    def _general(
        self, scan: ScanPlan, intake: Intake, texts: Texts, wanted: NDArray[np.bool_], graphs: dict[int, Graph] | None
    ) -> tuple[Solutions, Solutions]:
        """Event by event through the exact evaluator."""
        names = [self._plan.variables[s] for s in scan.slots]
        rows: list[tuple[int, dict[str, Term], bool]] = []
        known: dict[Term, tuple[int, int]] = {}
        for event in np.flatnonzero(wanted):
            graph = Graph(_triples(intake, int(event), texts, known))
            if graphs is not None:
                graphs[int(event) + intake.number] = graph
            context = Context(graph=graph, dataset=self._background.dataset)
            for mapping in _distinct_mappings(scan.pattern, graph, context, names):
                rows.append((int(event), mapping, holds_all(scan.local, mapping, context)))
        table = self._table(rows, names, intake, texts, known)
        kept = np.array([r[2] for r in rows], np.bool_)
        order = np.argsort(table.time, kind="stable")
        return table.take(order[kept[order]]), table.take(order)

    def _table(
        self, rows: list[tuple[int, dict[str, Term], bool]], names: list[str], intake: Intake, texts: Texts,
        known: dict[Term, tuple[int, int]],
    ) -> Solutions:  # fmt: skip
        if not rows:
            return empty(len(names))
        fresh = [t for _, mapping, _ in rows for t in mapping.values() if t not in known]
        new = list(dict.fromkeys(fresh))
        for term, ref in zip(new, texts.append([str(t) for t in new]).tolist(), strict=True):
            known[term] = (term_id(self._key, str(term)), ref)
        n, width = len(rows), len(names)
        ids = np.zeros((n, width), np.uint64)
        refs = np.full((n, width), -1, np.int64)
        number = np.full((n, width), np.nan)
        scale = np.full((n, width), NOT_A_NUMBER, np.int8)
        for r, (_, mapping, _) in enumerate(rows):
            for c, name in enumerate(names):
                bound = mapping.get(name)
                if bound is not None:
                    ids[r, c], refs[r, c] = known[bound]
                    number[r, c], scale[r, c] = number_of(bound)
        event = np.array([r[0] for r in rows], np.int64)
        batch = intake.batch
        return Solutions(
            batch.end[event], batch.start[event], np.zeros(n, np.int8), (event + intake.number)[:, None],
            intake.names()[event][:, None], ids, refs, number, scale,
        )  # fmt: skip


def _columns(scan: ScanPlan, columns: tuple[int, ...]) -> tuple[int, ...] | None:
    """The columns that a scan takes of what its triples give; None where it is just that."""
    as_it_is = isinstance(scan.tree, Core) and not scan.tree.graphs and columns == tuple(range(scan.tree.shape.width))
    return None if as_it_is else columns


def _triples(intake: Intake, event: int, texts: Texts, known: dict[Term, tuple[int, int]]) -> list[Triple]:
    batch = intake.batch
    columns = (
        (batch.subject, batch.subject_at),
        (batch.predicate, batch.predicate_at),
        (batch.object, batch.object_at),
    )
    triples = []
    for row in range(int(batch.first[event]), int(batch.first[event + 1])):
        terms = []
        for ids, places in columns:
            ref = int(places[row]) + intake.base
            term = texts.term(ref)
            known.setdefault(term, (int(ids[row]), ref))
            terms.append(term)
        triples.append(Triple(*terms))
    return triples


def _distinct_mappings(pattern: Pattern, graph: Graph, context: Context, names: list[str]) -> list[dict[str, Term]]:
    """The mappings restricted to the visible variables, each once: an event's mappings are a set (rule 2)."""
    seen: dict[tuple[Term | None, ...], dict[str, Term]] = {}
    for mapping in solutions(pattern, graph, context.dataset, context):
        visible = {name: mapping[name] for name in names if name in mapping}
        seen.setdefault(tuple(visible.get(name) for name in names), visible)
    return list(seen.values())


def each_once(table: Solutions) -> Solutions:
    """Each mapping of an event once."""
    if len(table) < 2:
        return table
    first, _ = distinct(np.concatenate([table.events[:, :1].astype(np.uint64), table.ids], axis=1))
    return table if len(first) == len(table) else table.take(first)


def _alone(row: int) -> Iterator[Context]:
    """What local filters on the columnar road see besides a row: nothing."""
    return repeat(Context())
