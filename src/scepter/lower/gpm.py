"""One GPM of a SPAseq query at one place of the sequence: what its FILTERs may see there (spec/10-spaseq rules 1, 6, 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from scepter.algebra.expressions import And, Expression, IterationAggregate, Previous, Variable
from scepter.algebra.query import Scan
from scepter.algebra.scope import in_scope
from scepter.errors import Diagnostic, QueryError, Severity, Span, nearest, query_error
from scepter.lower.expressions import Clause, Place
from scepter.lower.result import NamedGraph
from scepter.lower.sparql import GroupLowering
from scepter.rdf.terms import IRI
from scepter.syntax import tree
from scepter.syntax.spaseq_tree import Definition

ITERATION_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST")
"""What aggregates over the iterations of a Kleene atom."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What an atom binds."""

    variables: frozenset[str] = frozenset()
    """Bound by positive GPMs; those of `?` count, those of `!` do not."""
    kleene: frozenset[str] = frozenset()
    """The names of the Kleene atoms."""

    def __or__(self, other: Bound) -> Bound:
        return Bound(self.variables | other.variables, self.kleene | other.kleene)


@dataclass(frozen=True, slots=True, eq=False)
class Before(AbstractSet[str]):
    """The names before a step of the sequence, and some more. `steps` tells of each name the first step that has it, and grows
    as steps are read: a copy for each step would take time by the square of their number."""

    steps: Mapping[str, int]
    at: int
    more: frozenset[str] = frozenset()

    def __contains__(self, name: object) -> bool:
        return name in self.more or self.steps.get(name, self.at) < self.at  # type: ignore[call-overload]

    def __iter__(self) -> Iterator[str]:
        yield from self.more
        yield from (name for name, step in self.steps.items() if step < self.at and name not in self.more)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def plus(self, more: frozenset[str]) -> Before:
        """With more names."""
        return Before(self.steps, self.at, self.more | more)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What stands before a place of the sequence."""

    variables: Before
    kleene: Before

    def __or__(self, found: Bound) -> Earlier:
        return Earlier(self.variables.plus(found.variables), self.kleene.plus(found.kleene))


@dataclass(frozen=True, slots=True)
class Parts:
    """All GPMs of a query: the variables each binds, and how the sequence uses it (its postfix operators)."""

    binds: Mapping[str, frozenset[str]]
    postfixes: Mapping[str, tuple[str | None, ...]]

    def binders(self, variable: str) -> list[str]:
        """The GPMs that the sequence uses and that bind a variable."""
        return [name for name, bound in self.binds.items() if variable in bound and name in self.postfixes]

    def iteration(self, call: tree.IterationCall, kleene: AbstractSet[str] | None) -> IterationAggregate:
        """`COUNT(B.?v)`, checked; `kleene` are the Kleene atoms that may be named, None for all."""
        function = call.function.upper()
        if function not in ITERATION_FUNCTIONS:
            raise query_error(
                "unknown-function",
                f"{call.function} does not aggregate over iterations",
                call.name_span,
                help=f"the functions that do are {', '.join(ITERATION_FUNCTIONS)}",
            )
        self._check_part(call, kleene)
        if call.variable.name not in self.binds[call.part]:
            close = nearest(call.variable.name, self.binds[call.part])
            raise query_error(
                "unbound-variable",
                f"GPM {call.part} does not bind ?{call.variable.name}",
                call.variable.span,
                help=f"did you mean ?{close}?" if close else None,
            )
        return IterationAggregate(function, call.part, Variable(call.variable.name, call.variable.span), call.span)

    def _check_part(self, call: tree.IterationCall, kleene: AbstractSet[str] | None) -> None:
        if call.part not in self.postfixes:
            raise unknown_gpm(call.part, call.part_span, self.postfixes)
        uses = self.postfixes[call.part]
        if "+" not in uses:
            raise query_error(
                "not-kleene",
                f"{call.function.upper()} aggregates over iterations, and {call.part} has none",
                call.part_span,
                help=f"write {call.part}+ in SEQ",
            )
        if uses.count("+") > 1:
            raise query_error("not-kleene", f"{call.part}+ stands in SEQ more than once: which is meant?", call.part_span)
        if kleene is not None and call.part not in kleene:
            raise query_error(
                "not-kleene",
                f"{call.part}+ is not complete where this FILTER is tested",
                call.part_span,
                help=f"only a GPM that comes after {call.part}+ in SEQ, or SELECT, can aggregate over its iterations",
            )


def unknown_gpm(name: str, span: Span, known: Mapping[str, object]) -> QueryError:
    """The error for a name that no GPM has."""
    close = nearest(name, known)
    advice = f"did you mean {close}?" if close else f"add DEFINE GPM {name} ON … {{ … }}"
    return query_error("unknown-gpm", f"no GPM is called {name}", span, help=advice)


@dataclass(frozen=True, slots=True)
class BodyOnly:
    """The extension for a first look at a body, which asks only what it binds: everything is let through."""

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """Checked at the GPM's place in the sequence."""

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """PREV and the like are looked at later."""
        return Variable("") if call.function.upper() in ("PREV", "FIRST", "LAST") else None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """Looked at later."""
        return Variable("")


@dataclass(slots=True)
class GpmLowering:
    """Lowers a definition to the Scan of one place in the sequence."""

    definition: Definition
    stream: IRI
    parts: Parts
    earlier: Earlier
    kleene: bool
    scope: str
    warnings: list[Diagnostic] = field(default_factory=list)
    graphs: list[NamedGraph] = field(default_factory=list)
    _own: frozenset[str] = frozenset()

    def scan(self) -> Scan:
        """The scan: the body without its outermost FILTERs, and those, split at `&&`."""
        groups = GroupLowering(self, self.scope)
        pattern, filters = groups.parts(self.definition.group, frozenset())
        self._own = in_scope(pattern)
        place = Place(Clause.FILTER, self.earlier.variables.plus(self._own), outermost=True)
        conditions = [c for condition in groups.conditions(filters, place) for c in conjuncts(condition)]
        self.graphs += groups.graphs
        return Scan(self.definition.name, self.stream, pattern, tuple(conditions), self.definition.name_span)

    # ---- the extension of expressions

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """A FILTER over a variable that nothing binds is an error (rule 1), a BIND a warning; the rest is SPARQL's."""
        if place.clause is Clause.BIND:
            message = f"BIND uses ?{variable.name}, which nothing before it in GPM {self.definition.name} binds"
            note = "only a GPM's outermost FILTERs see earlier GPMs" if variable.name in self.earlier.variables else None
            self.warnings.append(Diagnostic("unbound-variable", message, variable.span, note, severity=Severity.WARNING))
        elif place.clause is Clause.FILTER:
            raise self._unbound_filter(variable, place)

    def _unbound_filter(self, variable: tree.Var, place: Place) -> QueryError:
        name, label = variable.name, self.definition.name
        if not place.outermost:
            return query_error(
                "unbound-variable",
                f"FILTER uses ?{name}, which nothing in its own group binds",
                variable.span,
                help=self._nested_help(name),
            )
        return query_error(
            "unbound-variable",
            f"FILTER uses ?{name}, which neither GPM {label} nor anything before it binds",
            variable.span,
            help=self._outermost_help(name, place),
        )

    def _nested_help(self, name: str) -> str:
        label = self.definition.name
        if name in self.earlier.variables:
            return f"only the outermost FILTERs of a GPM see earlier GPMs: move this FILTER to the end of GPM {label}"
        if name in self.parts.binds[label]:
            return f"a FILTER sees the group it stands in: move it out, or bind ?{name} inside"
        return f"bind ?{name} in the group of the FILTER"

    def _outermost_help(self, name: str, place: Place) -> str:
        label = self.definition.name
        binders = [b for b in self.parts.binders(name) if b != label]
        positive = [b for b in binders if any(p != "!" for p in self.parts.postfixes[b])]
        if positive:
            where = f"{positive[0]} binds ?{name}, but does not come before {label} in SEQ"
            return f"{where}: bind ?{name} in GPM {label}, or move the FILTER to GPM {positive[0]}"
        if binders:
            return f"{binders[0]}! selects no event and binds nothing: bind ?{name} in GPM {label}"
        if close := nearest(name, place.visible):
            return f"did you mean ?{close}?"
        return f"bind ?{name} in GPM {label} or in one before it"

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """PREV(?v), and advice for an aggregate without a part."""
        name = call.function.upper()
        if name == "PREV":
            return self._previous(call, place)
        if place.grouping is None and place.in_aggregate is None:
            refuse_bare_aggregate(call)
        return None

    def _previous(self, call: tree.Call, place: Place) -> Previous:
        label = self.definition.name
        if place.clause is not Clause.FILTER or not place.outermost or not self.kleene:
            raise query_error(
                "prev",
                "PREV stands only in an outermost FILTER of a Kleene atom's GPM",
                call.span,
                help=None if self.kleene else f"write {label}+ in SEQ if {label} may repeat",
            )
        if len(call.arguments) != 1 or not isinstance(variable := call.arguments[0], tree.Var):
            raise query_error("prev", "PREV takes one variable", call.span, help="write for example PREV(?v)")
        if variable.name not in self._own:
            close = nearest(variable.name, self._own)
            raise query_error(
                "unbound-variable",
                f"PREV(?{variable.name}) asks for a variable that GPM {label} does not bind",
                variable.span,
                help=f"did you mean ?{close}?" if close else None,
            )
        return Previous(Variable(variable.name, variable.span))

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """`COUNT(B.?v)`: of Kleene atoms before this GPM, in an outermost FILTER."""
        if place.clause is not Clause.FILTER or not place.outermost:
            raise query_error(
                "not-kleene",
                f"{call.function.upper()}({call.part}.?{call.variable.name}) stands only in an outermost FILTER or in SELECT",
                call.span,
            )
        return self.parts.iteration(call, self.earlier.kleene)


def refuse_bare_aggregate(call: tree.Call) -> None:
    """Refuse `COUNT(?v)` where only `COUNT(B.?v)` means something."""
    name = call.function.upper()
    if name in (*ITERATION_FUNCTIONS, "SAMPLE", "GROUP_CONCAT"):
        raise query_error(
            "aggregate",
            f"{name} has nothing to aggregate here: a match is one row",
            call.span,
            help="aggregate over the iterations of a Kleene atom, for example COUNT(B.?v) with B+ in SEQ",
        )


def conjuncts(expression: Expression) -> list[Expression]:
    """The operands of `&&`, however nested."""
    if isinstance(expression, And):
        return [*conjuncts(expression.left), *conjuncts(expression.right)]
    return [expression]
