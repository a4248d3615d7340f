"""OBEP: syntax tree to events (spec/40-obep), with every check that needs no data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from scepter.algebra.classes import names
from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    EventQuery,
    First,
    Form,
    Keep,
    Labelled,
    Last,
    LogicalEvent,
    Occurs,
    Related,
    Rest,
)
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Program, Stream
from scepter.errors import Diagnostic, QueryError, Severity, Source, Span, nearest, query_error
from scepter.lower.descriptions import iri_of, lower_description
from scepter.lower.event_guards import GuardNames, lower_guard
from scepter.lower.event_words import words_of
from scepter.lower.result import Lowered
from scepter.rdf.terms import IRI
from scepter.syntax import obep_tree as syntax
from scepter.timeline import Allen, Duration, parse_duration

_KEPT = {
    "SEQ": (Allen.BEFORE, Keep.RIGHT, Keep.BOTH),
    "AND": (Allen.EQUALS, Keep.BOTH, Keep.BOTH),
    "DURING": (Allen.DURING, Keep.LEFT, Keep.LEFT),
    "CONTAINS": (Allen.CONTAINS, Keep.RIGHT, Keep.RIGHT),
}
"""Rule 3; all other relations keep both."""


def lower_obep(document: syntax.ObepDocument, source: Source) -> Lowered:
    """The program of an OBEP file. Raises QueryError (without a source)."""
    lowering = _DocumentLowering(document, source)
    queries = lowering.lower()
    streams = queries[0].streams
    return Lowered(
        Program(queries),
        "obep",
        source,
        tuple(lowering.warnings),
        streams=streams,
        prefixes=document.prefixes,
        every_stream=not streams,
        policies=("unrestricted",),  # spec/40 rule 8
        variables=(),
        constructs=True,
        takes_evaluate_at=True,  # Definition 9
        occurrences=any(query.form is Form.EVENT_STREAM for query in queries),
        words=words_of(document),
        names=(None,) * len(queries),
    )


@dataclass(slots=True)
class _DocumentLowering:
    document: syntax.ObepDocument
    source: Source
    warnings: list[Diagnostic] = field(default_factory=list)
    _definitions: dict[IRI, syntax.LogicalDefinition | syntax.CompositeDefinition] = field(default_factory=dict)
    _shown: dict[IRI, str] = field(default_factory=dict)

    def lower(self) -> tuple[EventQuery, ...]:
        """A query per RETURN, over the same definitions."""
        self._define()
        returned = self._returned()
        order = self._order()
        used = self._used(tuple(iri for each in returned for iri in each))
        for iri, definition in self._definitions.items():
            if iri not in used and self._own(definition.name.span):
                self._warn(
                    "unused-event", f"{self._shown[iri]} is defined, and neither returned nor used", definition.name.span
                )
        definitions = [(iri, self._definitions[iri]) for iri in order]
        logical = tuple(self._logical(iri, d) for iri, d in definitions if isinstance(d, syntax.LogicalDefinition))
        composite = [self._composite(iri, d) for iri, d in definitions if isinstance(d, syntax.CompositeDefinition)]
        streams = self._streams()
        return tuple(
            EventQuery(
                streams,
                # An event nobody asks for still is a class that other descriptions may name; a composite one is not.
                logical,
                tuple(event for event in composite if event.event in self._used(asked)),
                asked,
                Form.RDF_STREAM if clause.rdf else Form.EVENT_STREAM,
            )
            for asked, clause in zip(returned, self.document.returns, strict=True)
        )

    def _own(self, span: Span) -> bool:
        """Whether a place stands in the query itself, and not in a file of definitions that others may use."""
        return not self.source.parts or self.source.located(span)[0] is self.source.parts[-1]

    def _streams(self) -> tuple[Stream, ...]:
        found: dict[IRI, Stream] = {}
        for stream in self.document.streams:
            if stream.iri in found:
                raise query_error("duplicate-stream", f"the stream {stream.iri} is declared twice", stream.span)
            found[stream.iri] = Stream(stream.iri, None, stream.span)
        return tuple(found.values())

    def _define(self) -> None:
        for definition in self.document.definitions:
            iri = iri_of(definition.name)
            if iri in self._definitions:
                raise query_error(
                    "duplicate-event",
                    f"the event {definition.name.text} is defined twice",
                    definition.name.span,
                    help="give one of them another name, or join the two with 'or' (AS) or OR (MATCH)",
                )
            self._definitions[iri] = definition
            self._shown[iri] = definition.name.text

    def _returned(self) -> tuple[tuple[IRI, ...], ...]:
        """The events that each RETURN lists."""
        clauses = self.document.returns
        if not clauses:
            end = self.document.end
            raise query_error(
                "no-return",
                "the query returns nothing: expected RETURN",
                Span(end, end + 1),
                help="add for example RETURN MyEvent AS RDF STREAM",
            )
        return tuple(self._listed(clause) for clause in clauses)

    def _listed(self, clause: syntax.ReturnClause) -> tuple[IRI, ...]:
        found: dict[IRI, None] = {}
        for name in clause.names:
            iri = self._known(name)
            if iri in found:
                raise query_error("duplicate-event", f"RETURN lists {name.text} twice", name.span)
            found[iri] = None
        return tuple(found)

    def _known(self, name: syntax.Name) -> IRI:
        iri = iri_of(name)
        if iri not in self._definitions:
            raise self._unknown(name)
        return iri

    def _unknown(self, name: syntax.Name) -> QueryError:
        known = [text.rpartition(":")[2] for text in self._shown.values()]
        close = nearest(name.text.rpartition(":")[2], known)
        advice = f"did you mean {close}?" if close else f"define it: EVENT {name.text} AS … or EVENT {name.text} MATCH …"
        return query_error("unknown-event", f"no event is called {name.text}", name.span, help=advice)

    # ---- who is made of whom

    def _references(self, definition: syntax.LogicalDefinition | syntax.CompositeDefinition) -> Iterator[IRI]:
        if isinstance(definition, syntax.CompositeDefinition):
            yield from (self._known(reference.name) for reference in references(definition.pattern))
        else:
            for iri in names(lower_description(definition.description)):
                if iri in self._definitions:
                    yield iri

    def _used(self, returned: tuple[IRI, ...]) -> set[IRI]:
        used: set[IRI] = set()
        pending = list(returned)
        while pending:
            iri = pending.pop()
            if iri not in used:
                used.add(iri)
                pending += self._references(self._definitions[iri])
        return used

    def _order(self) -> list[IRI]:
        """Each event after those it is made of; a cycle of composite events is an error (rule 2)."""
        done: dict[IRI, None] = {}
        way: dict[IRI, None] = {}
        for start in self._definitions:
            pending = [start]
            while pending:
                iri = pending[-1]
                definition = self._definitions[iri]
                if iri in done:
                    way.pop(iri, None)
                    pending.pop()
                    continue
                way[iri] = None
                parts = self._references(definition) if isinstance(definition, syntax.CompositeDefinition) else iter(())
                missing = [part for part in parts if part not in done]
                if not missing:
                    done[iri] = None
                    way.pop(iri)
                    pending.pop()
                elif missing[0] in way:
                    raise self._circular([*way][[*way].index(missing[0]) :])
                else:
                    pending.append(missing[0])
        return list(done)

    def _circular(self, cycle: list[IRI]) -> QueryError:
        shown = " -> ".join(self._shown[iri] for iri in [*cycle, cycle[0]])
        return query_error(
            "circular-events",
            f"the definitions of these events are circular: {shown}",
            self._definitions[cycle[0]].name.span,
            help="an event is made of events that come to be without it: break the circle",
        )

    # ---- definitions

    def _logical(self, iri: IRI, definition: syntax.LogicalDefinition) -> LogicalEvent:
        description = lower_description(definition.description)
        for name in names(description):
            if isinstance(self._definitions.get(name), syntax.CompositeDefinition):
                raise query_error(
                    "composite-in-description",
                    f"{self._shown[name]} is a composite event, and {definition.name.text} describes what single items hold",
                    definition.span,
                    help=f"combine the two with MATCH, for example EVENT … MATCH {self._shown[name]} AND …",
                )
        return LogicalEvent(iri, description, definition.name.span)

    def _composite(self, iri: IRI, definition: syntax.CompositeDefinition) -> CompositeEvent:
        within = [guard for guard in definition.guards if isinstance(guard, syntax.WithinClause)]
        conditions = [guard for guard in definition.guards if isinstance(guard, syntax.ConditionClause)]
        for found, word in ((within, "WITHIN"), (conditions, "IF")):
            if len(found) > 1:
                raise query_error("duplicate-clause", f"{word} stands twice in {definition.name.text}", found[1].span)
        guard_names = GuardNames.of(definition.pattern)
        guard: Pattern | None = None
        used: frozenset[IRI] = frozenset()
        if conditions:
            guard, used = lower_guard(conditions[0], guard_names, definition.name.text)
        pattern = lower_pattern(definition.pattern, used)
        duration = _duration(within[0]) if within else None
        self._warn_unbounded(definition, bounded=duration is not None)
        return CompositeEvent(iri, pattern, duration, guard, definition.name.span)

    def _warn_unbounded(self, definition: syntax.CompositeDefinition, bounded: bool) -> None:
        """Warn of state that is never released (spec/00 §5)."""
        for part in _expressions(definition.pattern):
            if not isinstance(part, syntax.Combination) or part.operator in ("OR", "AND"):
                continue
            if part.operator in ("DURING", "CONTAINS"):
                # WITHIN is about the inner occurrence, which the relation gives: the outer one may be of any length.
                outer = part.right if part.operator == "DURING" else part.left
                if not self._has_window(outer):
                    self._warn(
                        "unbounded-state",
                        f"{definition.name.text} keeps its occurrences for ever: what is around them may last any time",
                        outer.span,
                        "define an event with WITHIN for the longer one, and use it here",
                    )
                    return
            elif not bounded:
                self._warn(
                    "unbounded-state",
                    f"without WITHIN, {definition.name.text} keeps its occurrences for ever",
                    definition.name.span,
                    "add WITHIN after the pattern, for example WITHIN 5 min",
                )
                return

    def _has_window(self, expression: syntax.EventExpression) -> bool:
        while isinstance(expression, syntax.Parenthesised):
            expression = expression.inner
        if not isinstance(expression, syntax.Reference):
            return False
        definition = self._definitions[iri_of(expression.name)]
        guards = definition.guards if isinstance(definition, syntax.CompositeDefinition) else ()
        return any(isinstance(guard, syntax.WithinClause) for guard in guards)

    def _warn(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.warnings.append(Diagnostic(code, message, span, help, severity=Severity.WARNING))


def references(expression: syntax.EventExpression) -> Iterator[syntax.Reference]:
    """The names of events in an expression, in order."""
    return (part for part in _expressions(expression) if isinstance(part, syntax.Reference))


def _expressions(expression: syntax.EventExpression) -> Iterator[syntax.EventExpression]:
    yield expression
    match expression:
        case syntax.Reference():
            return
        case syntax.Parenthesised(inner):
            yield from _expressions(inner)
        case syntax.Prefixed(_, operand):
            yield from _expressions(operand)
        case syntax.Combination(_, left, right):
            yield from _expressions(left)
            yield from _expressions(right)
        case _:
            assert_never(expression)


def lower_pattern(expression: syntax.EventExpression, used: frozenset[IRI]) -> EventPattern:
    """The pattern of an event expression; only names that the guard uses are kept."""
    match expression:
        case syntax.Reference(name, alias):
            return _labelled(Occurs(iri_of(name)), (name, alias), used)
        case syntax.Parenthesised(inner, alias):
            return _labelled(lower_pattern(inner, used), (alias,), used)
        case syntax.Prefixed(operator, operand):
            prefixed = lower_pattern(operand, used)
            return First(prefixed) if operator == "FIRST" else Last(prefixed) if operator == "LAST" else Rest(prefixed)
        case syntax.Combination("OR", left, right):
            return Either(lower_pattern(left, used), lower_pattern(right, used))
        case syntax.Combination(operator, left, right):
            relation, assertions, interval = _KEPT.get(operator) or (Allen(operator), Keep.BOTH, Keep.BOTH)
            return Related(relation, lower_pattern(left, used), lower_pattern(right, used), assertions, interval)
        case _:
            assert_never(expression)


def _labelled(pattern: EventPattern, labels: tuple[syntax.Name | None, ...], used: frozenset[IRI]) -> EventPattern:
    for name in labels:
        if name is not None and (label := GuardNames.label(name)) in used:
            pattern = Labelled(label, pattern)
    return pattern


def _duration(clause: syntax.WithinClause) -> Duration:
    text = clause.amount.removeprefix("+")
    above = query_error("duration", f"WITHIN {clause.amount}: a duration must be above zero", clause.span)
    if text.startswith("-"):
        raise above
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise query_error("duration", str(error), clause.span) from None
    if duration.amount <= 0:
        raise above
    return duration
