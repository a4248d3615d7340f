"""What stops the occurrences of a composite event: WITHIN, or a condition of its IF, with the values compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scepter.algebra.events import CompositeEvent, EventPattern, EventQuery, Form, Labelled, Occurs, operands
from scepter.algebra.expressions import And, Expression
from scepter.algebra.patterns import Filter, Pattern
from scepter.insight.diagnosis.excerpt import Excerpt
from scepter.insight.diagnosis.focus import Focus
from scepter.insight.diagnosis.model import Stopped
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.trials import Trials
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import holds
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Guarded:
    """The occurrences of one composite event's pattern, put to its conditions one after the other."""

    query: EventQuery
    event: CompositeEvent
    trials: Trials
    sentences: Sentences
    focus: Focus

    def stopped(self) -> list[Stopped]:
        """Those that come nearest and yet do not occur. Raises TooMany."""
        labels = list(_leaves(self.event.pattern))
        if None in labels or (self.event.guard is None and self.event.within is None):
            return []  # an occurrence without a name is none that the guard asks about
        bare, conditions = stripped(self.event.guard)
        told: list[tuple[float, Stopped]] = []
        for match in self._occurrences():
            why = match.why
            if why is None or len(why.parts) != len(labels):
                continue
            graphs = {name: Graph(part.triples) for name, part in zip(labels, why.parts, strict=True) if name is not None}
            parts = [(name, (part.start, part.end)) for name, part in zip(labels, why.parts, strict=True) if name is not None]
            found = self._verdict(match, bare, conditions, Context(dataset=Dataset(named=graphs)))
            if found is not None:
                distance, bindings, reason = found
                told.append((distance, Stopped(tuple(self._part(*part) for part in parts), bindings, reason)))
        told.sort(key=lambda each: each[0])
        return [stopped for _, stopped in told[:_SHOWN]]

    def _occurrences(self) -> list[Match]:
        free = replace(self.event, within=None, guard=None)
        others = tuple(free if each.event == free.event else each for each in self.query.composite)
        asked = replace(self.query, composite=others, returned=(free.event,), form=Form.RDF_STREAM)
        options = replace(self.trials.options, why=True)

        def found(excerpt: Excerpt) -> list[Match]:
            return replace(self.trials, excerpt=excerpt, options=options).matches(asked)

        return self.focus.made_with(found, self.trials.excerpt, lambda match: (match.start, match.end, match.graph))

    def _verdict(
        self, match: Match, bare: Pattern | None, conditions: list[Expression], context: Context
    ) -> tuple[float, str, str] | None:
        """By how much an occurrence misses, what it binds, and why; None for one that occurs or has nothing to do with what is
        asked about."""
        rows = [{}] if bare is None else solutions(bare, Graph(), context.dataset, context)
        rows = [row for row in rows if self.focus.keeps(row)]
        if not rows:
            return None
        late = self._too_long(match)
        best: tuple[float, str, str] | None = None
        for row in rows:
            failed = next((condition for condition in conditions if not holds(condition, row, context)), None)
            bindings = self.sentences.bindings(row)
            if failed is not None:
                distance = self.sentences.distance(failed, row, context)
                reason = f"{self.sentences.filter(failed)} {self.sentences.refused(failed, row, context)}"
                best = min([*([] if best is None else [best]), (distance, bindings, reason)])
            elif late is None:
                return None
            else:
                return (-1.0, bindings, late)  # all but the time fits
        return best

    def _too_long(self, match: Match) -> str | None:
        if self.event.within is None:
            return None
        most = self.event.within.ticks(self.sentences.kind, self.trials.options.time_unit)
        lasts = match.end - match.start
        if lasts <= most:
            return None
        return f"it fits, but lasts too long: WITHIN ({self.event.within}), by {self.sentences.duration(lasts - most)}"

    def _part(self, name: IRI, times: tuple[int, int]) -> str:
        when = "..".join(dict.fromkeys(self.sentences.time(instant) for instant in times))
        return f"{self.sentences.notation.term(name)} at {when}"


def stripped(guard: Pattern | None) -> tuple[Pattern | None, list[Expression]]:
    """A guard without its outermost FILTERs, and their conditions."""
    conditions: list[Expression] = []
    while isinstance(guard, Filter):
        conditions[:0] = _conjuncts(guard.condition)
        guard = guard.pattern
    return guard, conditions


def _conjuncts(condition: Expression) -> list[Expression]:
    return [*_conjuncts(condition.left), *_conjuncts(condition.right)] if isinstance(condition, And) else [condition]


def _leaves(pattern: EventPattern, label: IRI | None = None) -> Iterator[IRI | None]:
    """The names of a pattern's occurrences, in order; None for one without."""
    if isinstance(pattern, Occurs):
        yield label
    for operand in operands(pattern):
        yield from _leaves(operand, pattern.label if isinstance(pattern, Labelled) else None)
