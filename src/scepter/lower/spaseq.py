"""SPAseq: syntax tree to program (spec/10-spaseq), with every check that needs no data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from scepter.algebra.expressions import Variable
from scepter.algebra.query import (
    Ask,
    Atom,
    Conjunction,
    Construct,
    Disjunction,
    Iteration,
    Negation,
    Optional,
    Program,
    Query,
    Scan,
    Select,
    Selection,
    Sequence,
    Step,
)
from scepter.algebra.scope import in_scope
from scepter.errors import Diagnostic, Severity, Source, Span, query_error
from scepter.lower.circles import refuse_circles
from scepter.lower.clauses import Streamset, clause_of, lower_window
from scepter.lower.expressions import fold
from scepter.lower.gpm import Before, BodyOnly, Bound, Earlier, GpmLowering, Parts, unknown_gpm
from scepter.lower.limits import refuse_many
from scepter.lower.projection import lower_result
from scepter.lower.result import Lowered, NamedGraph
from scepter.lower.sequence_words import check_timeouts, lower_gap, lower_quantifier, lower_skip
from scepter.lower.sparql import GroupLowering
from scepter.lower.subselect import ordered_scope
from scepter.syntax import spaseq_tree as syntax

MOST_WAYS = 1_024
"""So many ways to take optional GPMs, or to combine those of one step, are written out in a plan."""
_SELECTIONS = {",": Selection.STRICT, ";": Selection.NEXT, ":": Selection.ANY}


def lower_spaseq(document: syntax.SpaseqDocument, source: Source) -> Lowered:
    """The program of a SPAseq file. Raises QueryError (without a source)."""
    lowered = [_QueryLowering(query) for query in document.queries]
    queries = tuple(each.lower() for each in lowered)
    refuse_circles(document.queries)
    graphs = {graph.iri: graph for each in reversed(lowered) for graph in reversed(each.graphs)}
    streams = dict.fromkeys(stream for query in queries for stream in query.streams)
    return Lowered(
        Program(queries),
        "spaseq",
        source,
        tuple(warning for each in lowered for warning in each.warnings),
        tuple(sorted(graphs.values(), key=lambda graph: graph.span.start)),
        tuple(streams),
        document.prefixes,
        variables=_columns(queries),
        constructs=any(isinstance(query.result, Construct) for query in queries),
        asks=any(isinstance(query.result, Ask) for query in queries),
        names=(None,) * len(queries),
    )


def _columns(queries: tuple[Query, ...]) -> tuple[str, ...]:
    """The columns of all results, each once."""
    selected = (query.result.columns for query in queries if isinstance(query.result, Select))
    return tuple(dict.fromkeys(variable.name for columns in selected for variable, _ in columns))


def references(atom: syntax.SequenceAtom) -> Iterator[syntax.Reference]:
    """The GPM names in an atom, in order."""
    match atom:
        case syntax.Reference():
            yield atom
        case syntax.Parenthesised(inner):
            yield from references(inner)
        case syntax.Combination(_, operands):
            for operand in operands:
                yield from references(operand)
        case _:
            assert_never(atom)


@dataclass(slots=True)
class _QueryLowering:
    query: syntax.SpaseqQuery
    warnings: list[Diagnostic] = field(default_factory=list)
    graphs: list[NamedGraph] = field(default_factory=list)
    bound: dict[str, Variable] = field(default_factory=dict)
    """What positive GPMs bind, in the order of the sequence; blank nodes left out."""
    _uses: dict[str, int] = field(default_factory=dict)
    _definitions: dict[str, syntax.Definition] = field(default_factory=dict)
    _following: syntax.SequenceAtom | None = None
    """What stands behind the atom that is being lowered."""

    def lower(self) -> Query:
        streams = Streamset.of(self.query)
        within = clause_of(self.query, syntax.WithinClause)
        window = None if within is None else lower_window(within)
        self._definitions = self._named_definitions()
        self._check_sequence(within)
        parts = self._parts()
        sequence = self._sequence(streams, parts)
        partition = clause_of(self.query, syntax.PartitionClause)
        if partition is not None:
            self._check_partition(partition, parts)
        result = lower_result(self.query, self.bound, parts)
        if window is None:
            self._warn_unbounded(sequence)
        variables = () if partition is None else tuple(Variable(v.name, v.span) for v in partition.variables)
        skip = clause_of(self.query, syntax.SkipClause)
        timeouts = clause_of(self.query, syntax.TimeoutClause)
        if timeouts is not None:
            check_timeouts(self.query, timeouts, window is not None, None if skip is None else skip.span)
        return Query(
            result,
            streams.streams,
            sequence,
            window,
            variables,
            skip=None if skip is None else lower_skip(skip, self.query.sequence.steps),
            timeouts=timeouts is not None,
        )

    # ---- checks of the whole

    def _named_definitions(self) -> dict[str, syntax.Definition]:
        found: dict[str, syntax.Definition] = {}
        for definition in self.query.definitions:
            if definition.name in found:
                raise query_error(
                    "duplicate-gpm",
                    f"GPM {definition.name} is defined twice",
                    definition.name_span,
                    help="give one of them another name",
                )
            found[definition.name] = definition
        return found

    def _check_sequence(self, within: syntax.WithinClause | None) -> None:
        steps = self.query.sequence.steps
        used = [r for step in steps for r in references(step.atom)]
        refuse_many(used, "GPMs", self.query.sequence.span, "write several queries")
        for reference in used:
            if reference.name not in self._definitions:
                raise unknown_gpm(reference.name, reference.name_span, self._definitions)
        for step in steps:
            _check_postfixes(step.atom, inside=False)
        last = _unwrapped(steps[-1].atom)
        if all(isinstance(a := _unwrapped(s.atom), syntax.Reference) and a.postfix == "!" for s in steps):
            raise query_error(
                "only-negations",
                "every GPM of the sequence is negated: no event would ever make a match",
                self.query.sequence.span,
                help="add a GPM without '!'",
            )
        if within is None and isinstance(last, syntax.Reference) and last.postfix in ("!", "?"):
            raise query_error(
                "trailing-negation",
                f"{last.name}{last.postfix} at the end of SEQ is decided when the window closes, and there is no WITHIN",
                last.span,
                help="add WITHIN, for example WITHIN 30 MINUTES",
            )
        names = {reference.name for reference in used}
        for definition in self.query.definitions:
            if definition.name not in names:
                self._warn("unused-gpm", f"GPM {definition.name} is defined and never used in SEQ", definition.name_span)

    def _parts(self) -> Parts:
        binds: dict[str, frozenset[str]] = {}
        for name, definition in self._definitions.items():
            pattern, _ = GroupLowering(BodyOnly()).parts(definition.group, frozenset())
            binds[name] = in_scope(pattern)
        postfixes: dict[str, tuple[str | None, ...]] = {}
        for step in self.query.sequence.steps:
            for reference in references(step.atom):
                postfixes[reference.name] = (*postfixes.get(reference.name, ()), reference.postfix)
        return Parts(binds, postfixes)

    def _check_partition(self, partition: syntax.PartitionClause, parts: Parts) -> None:
        for variable in partition.variables:
            for name in parts.postfixes:
                if variable.name not in parts.binds[name]:
                    raise query_error(
                        "partition",
                        f"PARTITION BY needs ?{variable.name} in every GPM, and GPM {name} does not bind ?{variable.name}",
                        variable.span,
                        help=f"bind ?{variable.name} in GPM {name}, or leave it out of PARTITION BY",
                    )

    def _warn_unbounded(self, sequence: Sequence) -> None:
        match sequence.steps:
            case (Step(Scan() | Conjunction() | Disjunction()),):
                return  # a match is complete with its first event: nothing is kept
            case (Step(Scan() | Conjunction() | Disjunction()), *rest) if all(step.bound is not None for step in rest):
                return  # what waits is released when its gap bound has passed
        start = self.query.sequence.span.start
        self._warn(
            "unbounded-state",
            "without WITHIN a started match is kept for ever",
            Span(start, start + len("SEQ")),
            "add a WITHIN clause before FROM STREAM, for example WITHIN 30 MINUTES",
        )

    def _warn(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.warnings.append(Diagnostic(code, message, span, help, severity=Severity.WARNING))

    # ---- the sequence

    def _sequence(self, streams: Streamset, parts: Parts) -> Sequence:
        steps: list[Step] = []
        variables: dict[str, int] = {}
        kleene: dict[str, int] = {}
        written = self.query.sequence.steps
        for at, step in enumerate(written):
            self._following = written[at + 1].atom if at + 1 < len(written) else None
            earlier = Earlier(Before(variables, at), Before(kleene, at))
            atom, bound = self._atom(_unwrapped(step.atom), at == 0, earlier, streams, parts)
            for known, names in ((variables, bound.variables), (kleene, bound.kleene)):
                for name in names:
                    known.setdefault(name, at)
            gap = None if step.gap is None else lower_gap(step.gap, written, at)
            steps.append(Step(atom, None if step.operator is None else _SELECTIONS[step.operator], gap))
        self._check_ways(steps)
        return Sequence(tuple(steps))

    def _check_ways(self, steps: list[Step]) -> None:
        """Refuse a sequence that the plan would have to write out in too many ways."""
        optional = sum(isinstance(step.atom, Optional) for step in steps)
        if 1 << optional > MOST_WAYS:
            raise query_error(
                "too-complex",
                f"{optional} optional GPMs can be taken or left in 2^{optional} ways, and {MOST_WAYS:,} are allowed",
                self.query.sequence.span,
                help="leave out '?' where an event has to come, or write several queries",
            )
        for step, written in zip(steps, self.query.sequence.steps, strict=True):
            if (ways := _ways(step.atom)) > MOST_WAYS:
                raise query_error(
                    "too-complex",
                    f"'&' and '|' make {_shown(ways)} combinations of GPMs here, and {MOST_WAYS:,} are allowed",
                    written.atom.span,
                )

    def _atom(
        self, atom: syntax.SequenceAtom, first: bool, earlier: Earlier, streams: Streamset, parts: Parts
    ) -> tuple[Atom, Bound]:
        match atom:
            case syntax.Parenthesised(inner):
                return self._atom(inner, first, earlier, streams, parts)
            case syntax.Combination(operator, operands):
                lowered: list[Atom] = []
                found = Bound()
                for operand in operands:
                    sees = earlier | found if operator == "&" else earlier
                    each, bound = self._atom(operand, first, sees, streams, parts)
                    lowered.append(each)
                    found = found | bound
                return fold(Conjunction if operator == "&" else Disjunction, lowered), found
            case syntax.Reference():
                return self._reference(atom, first, earlier, streams, parts)
            case _:
                assert_never(atom)

    def _reference(
        self, reference: syntax.Reference, first: bool, earlier: Earlier, streams: Streamset, parts: Parts
    ) -> tuple[Atom, Bound]:
        definition = self._definitions[reference.name]
        use = self._uses[reference.name] = self._uses.get(reference.name, 0) + 1
        scope = reference.name if use == 1 else f"{reference.name}-{use}"
        lowering = GpmLowering(definition, streams.of_definition(definition), parts, earlier, reference.postfix == "+", scope)
        scan = lowering.scan()
        self.warnings += [w for w in lowering.warnings if w not in self.warnings]
        self.graphs += lowering.graphs
        variables = ordered_scope(scan.pattern)
        if reference.postfix == "!":
            return Negation(scan), Bound()
        for variable in variables:
            if not variable.name.startswith("_:"):
                self.bound.setdefault(variable.name, variable)
        bound = Bound(frozenset(v.name for v in variables))
        match reference.postfix:
            case "+":
                local = tuple(v.name for v in variables if v.name not in earlier.variables)
                # Def. 13 and 14: by skip-till-next as the very first atom, else in strict contiguity (rule 7).
                selection = Selection.NEXT if first else Selection.STRICT
                least, most, preference = lower_quantifier(reference, self._following)
                kleene = replace(bound, kleene=frozenset({reference.name}))
                return Iteration(scan, selection, local, least, most, preference), kleene
            case "?":
                return Optional(scan), bound
            case _:
                return scan, bound


def _ways(atom: Atom) -> int:
    """How many conjunctions an atom stands for."""
    match atom:
        case Conjunction(left, right):
            return _ways(left) * _ways(right)
        case Disjunction(left, right):
            return _ways(left) + _ways(right)
        case _:
            return 1


def _shown(ways: int) -> str:
    return f"{ways:,}" if ways < 10**9 else "more than a thousand million"


def _unwrapped(atom: syntax.SequenceAtom) -> syntax.SequenceAtom:
    while isinstance(atom, syntax.Parenthesised) and atom.postfix is None:
        atom = atom.inner
    return atom


def _check_postfixes(atom: syntax.SequenceAtom, inside: bool) -> None:
    """Postfix operators belong to single GPMs outside of `&` and `|`."""
    match atom:
        case syntax.Parenthesised(inner, postfix, span):
            if postfix is not None:
                raise query_error(
                    "postfix-on-group",
                    f"'{postfix}' cannot follow a parenthesised group",
                    Span(span.end - 1, span.end),
                    notes=("'+', '?' and '!' say how many events one GPM selects; a group selects several at once",),
                    help=f"put '{postfix}' after a single GPM, outside of parentheses",
                )
            _check_postfixes(inner, inside)
        case syntax.Combination(_, operands):
            for operand in operands:
                _check_postfixes(operand, inside=True)
        case syntax.Reference(name, postfix, span):
            if inside and postfix is not None:
                raise query_error(
                    "postfix-on-group",
                    f"{name}{postfix} cannot stand inside '&' or '|'",
                    span,
                    notes=("'&' and '|' join GPMs that each select one event",),
                    help=f"write {name} here, or {name}{postfix} as an atom of its own",
                )
        case _:
            assert_never(atom)
