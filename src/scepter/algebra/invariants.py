"""What every query of the algebra keeps to, whoever made it: lowering or an optimizer rule.

These are no checks of what users write (lowering makes those, with places and help) but of our own code: a broken one is a
bug, and the error names the invariant and, if told, the rule after which it broke.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from scepter.algebra.expressions import Aggregate, Arithmetic, Compare, IterationAggregate, Previous, Variable
from scepter.algebra.patterns import Extend, Group, Project, Slice, Values
from scepter.algebra.query import (
    Ask,
    Atom,
    Conjunction,
    Construct,
    Counting,
    Disjunction,
    Iteration,
    Negation,
    Optional,
    Program,
    Query,
    Scan,
    Select,
    Sliding,
    Tumbling,
    Unit,
)
from scepter.algebra.scope import Names, expression_variables, in_scope
from scepter.algebra.walk import Algebra, find, is_node, walk

COMPARISONS = frozenset(("=", "!=", "<", ">", "<=", ">="))
ARITHMETIC = frozenset("+-*/")
SET_FUNCTIONS = frozenset(("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"))
ITERATION_FUNCTIONS = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST"))
_NONE: Names = frozenset()


class InvariantError(AssertionError):
    """An invariant of the algebra does not hold: `invariant` is its name, `after` the rule that was applied last."""

    def __init__(self, invariant: str, detail: str, after: str | None = None) -> None:
        super().__init__(f"{invariant}: {detail}" if after is None else f"after {after}, {invariant}: {detail}")
        self.invariant = invariant
        self.after = after


def check(node: Unit | Program, after: str | None = None) -> None:
    """Raise InvariantError at the first invariant that a unit breaks; return if it keeps to all of them.

    >>> from scepter.algebra.query import Sequence
    >>> check(Query(Ask(), (), Sequence(())), after="drop_steps")
    Traceback (most recent call last):
    scepter.algebra.invariants.InvariantError: after drop_steps, steps: a sequence has no steps
    """
    for unit in node.units if isinstance(node, Program) else (node,):
        for invariant, violations in INVARIANTS.items():
            for detail in violations(unit):
                raise InvariantError(invariant, detail, after)


@dataclass(frozen=True, slots=True)
class _Place:
    """A scan where it stands: the atom it belongs to, the names bound before it, the iterations before it."""

    scan: Scan
    atom: Atom
    before: Names
    iterations: Mapping[str, Names]


def _places(query: Query) -> Iterator[_Place]:
    before, iterations = _NONE, dict[str, Names]()
    for step in query.pattern.steps:
        yield from _places_in(step.atom, before, dict(iterations))
        before |= _binds(step.atom)
        if isinstance(step.atom, Iteration):
            iterations[step.atom.scan.label] = in_scope(step.atom.scan.pattern)


def _places_in(atom: Atom, before: Names, iterations: Mapping[str, Names]) -> Iterator[_Place]:
    match atom:
        case Scan():
            yield _Place(atom, atom, before, iterations)
        case Iteration() | Negation() | Optional():
            yield _Place(atom.scan, atom, before, iterations)
        case Conjunction():
            yield from _places_in(atom.left, before, iterations)
            yield from _places_in(atom.right, before | _binds(atom.left), iterations)
        case Disjunction():
            yield from _places_in(atom.left, before, iterations)
            yield from _places_in(atom.right, before, iterations)
        case _:
            assert_never(atom)


def _binds(atom: Atom) -> Names:
    """What later atoms may see of this one: a negation shows nothing."""
    match atom:
        case Scan():
            return in_scope(atom.pattern)
        case Iteration() | Optional():
            return in_scope(atom.scan.pattern)
        case Negation():
            return _NONE
        case Conjunction() | Disjunction():
            return _binds(atom.left) | _binds(atom.right)
        case _:
            assert_never(atom)


def _steps(query: Query) -> Iterator[str]:
    """The first step has no selection, the others have one; something is selected; groups hold scans (SPAseq syntax)."""
    steps = query.pattern.steps
    if not steps:
        yield "a sequence has no steps"
        return
    if steps[0].selection is not None:
        yield f"the first step has the selection {steps[0].selection.value}"
    yield from (f"step {n} has no selection" for n, step in enumerate(steps[1:], 2) if step.selection is None)
    if all(isinstance(step.atom, Negation) for step in steps):
        yield "every step is a negation"
    for group in (g for step in steps for g in walk(step.atom) if isinstance(g, Conjunction | Disjunction)):
        for side in (group.left, group.right):
            if not isinstance(side, Scan | Conjunction | Disjunction):
                yield f"a {type(group).__name__} holds a {type(side).__name__}"


def _labels(query: Query) -> Iterator[str]:
    """One label, one definition."""
    known: dict[str, Scan] = {}
    for scan in find(query.pattern, Scan):
        if known.setdefault(scan.label, scan) != scan:
            yield f"two different scans are labelled {scan.label}"


def _streams(query: Query) -> Iterator[str]:
    """Streams and aliases are declared once; scans read declared streams."""
    yield from (f"the stream {iri} is declared twice" for iri in _repeated(s.iri for s in query.streams))
    yield from (f"the alias {alias} is declared twice" for alias in _repeated(s.alias for s in query.streams if s.alias))
    declared = {s.iri for s in query.streams}
    for scan in find(query.pattern, Scan):
        if scan.stream not in declared:
            yield f"the scan {scan.label} reads {scan.stream}, which the query does not declare"


def _filters(query: Query) -> Iterator[str]:
    """A filter uses what its scan or an earlier atom binds, negations aside (SPAseq rule 1)."""
    for place in _places(query):
        visible = place.before | in_scope(place.scan.pattern)
        for expression in place.scan.filters:
            for name in sorted(expression_variables(expression) - visible):
                yield f"a filter of {place.scan.label} uses ?{name}, which nothing before it binds"


def _iterations(query: Query) -> Iterator[str]:
    """Local variables, PREV and aggregates over iterations refer to what is there (SPAseq rule 7)."""
    every: dict[str, Names] = {}
    for place in _places(query):
        scope = in_scope(place.scan.pattern)
        label = place.scan.label
        if isinstance(place.atom, Iteration):
            every[label] = scope
            yield from (f"?{name} is local to {label} twice" for name in _repeated(place.atom.local))
            yield from (
                f"?{name} is local to {label}, which does not bind it" for name in place.atom.local if name not in scope
            )
            yield from (f"?{name} is local to {label} and bound before it" for name in place.atom.local if name in place.before)
        for expression in place.scan.filters:
            yield from _aggregates_over(find(expression, IterationAggregate), place.iterations)
            for previous in find(expression, Previous):
                if not isinstance(place.atom, Iteration) or previous.variable.name not in scope:
                    yield f"a filter of {label} uses PREV(?{previous.variable.name}), which no iteration of it binds"
    yield from _aggregates_over(find(query.result, IterationAggregate), every)
    yield from (f"PREV(?{p.variable.name}) stands in the result" for p in find(query.result, Previous))


def _aggregates_over(aggregates: Iterable[IterationAggregate], iterations: Mapping[str, Names]) -> Iterator[str]:
    for aggregate in aggregates:
        if aggregate.function not in ITERATION_FUNCTIONS:
            yield f"{aggregate.function} is no function over iterations"
        if aggregate.variable.name not in iterations.get(aggregate.part, _NONE):
            written = f"{aggregate.function}({aggregate.part}.?{aggregate.variable.name})"
            yield f"{written} refers to no earlier iteration that binds it"


def _windows(query: Query) -> Iterator[str]:
    """A window is longer than nothing, and there where the end of one makes a match (SPAseq rules 8 and 10)."""
    match query.window:
        case Tumbling(duration) | Sliding(duration) if duration.amount <= 0:
            yield f"a window of {duration}"
        case Counting(events) if events <= 0:
            yield f"a window of {events} events"
        case None if query.pattern.steps and isinstance(last := query.pattern.steps[-1].atom, Negation | Optional):
            yield f"{last.scan.label} is a trailing {type(last).__name__} and there is no window to close"
        case _:
            return


def _partition(query: Query) -> Iterator[str]:
    """Every scan binds the partition's variables (SPAseq rule 14)."""
    yield from (f"?{name} is named twice" for name in _repeated(v.name for v in query.partition))
    for scan in find(query.pattern, Scan) if query.partition else ():
        for name in sorted({v.name for v in query.partition} - in_scope(scan.pattern)):
            yield f"the scan {scan.label} does not bind ?{name}"


def _result(query: Query) -> Iterator[str]:
    """The result shows what the pattern binds; a column may use the columns before it."""
    bound = _NONE.union(*(_binds(step.atom) for step in query.pattern.steps))
    match query.result:
        case Select(columns):
            yield from (f"the column ?{name} is there twice" for name in _repeated(v.name for v, _ in columns))
            for variable, expression in columns:
                used = {variable.name} if expression is None else expression_variables(expression)
                yield from (f"the column ?{variable.name} uses ?{name}, which nothing binds" for name in sorted(used - bound))
                bound |= {variable.name}
        case Construct(template):
            used = {v.name for triple in template for v in find(triple, Variable) if not v.name.startswith("_:")}
            yield from (f"the template uses ?{name}, which nothing binds" for name in sorted(used - bound))
        case Ask():
            return
        case _:
            assert_never(query.result)


def _expressions(query: Algebra) -> Iterator[str]:
    """Operators and set functions are known; a set function stands only where a Group computes it."""
    computed = {id(a) for group in find(query, Group) for _, e in group.aggregates for a in find(e, Aggregate)}
    for node in walk(query):
        match node:
            case Compare(operator) if operator not in COMPARISONS:
                yield f"{operator!r} compares nothing"
            case Arithmetic(operator) if operator not in ARITHMETIC:
                yield f"{operator!r} is no arithmetic"
            case Aggregate(function) if function not in SET_FUNCTIONS:
                yield f"{function!r} is no set function"
            case Aggregate(function) if id(node) not in computed:
                yield f"{function} stands outside a Group"
            case _:
                continue


def _patterns(query: Algebra) -> Iterator[str]:
    """Inline data is rectangular, a variable is bound once, slices count from 0 (SPARQL 1.1 §18.2)."""
    for node in walk(query):
        match node:
            case Values(variables, rows):
                yield from (f"VALUES names ?{name} twice" for name in _repeated(v.name for v in variables))
                yield from (
                    f"a row of {len(row)} terms for {len(variables)} variables" for row in rows if len(row) != len(variables)
                )
            case Extend(pattern, variable) if variable.name in in_scope(pattern):
                yield f"?{variable.name} is bound again"
            case Project(_, variables):
                yield from (f"?{name} is projected twice" for name in _repeated(v.name for v in variables))
            case Slice(_, offset, limit) if offset < 0 or (limit is not None and limit < 0):
                yield f"a slice from {offset} of {limit}"
            case _:
                continue


def _repeated(items: Iterable[object]) -> list[object]:
    return [item for item, count in Counter(items).items() if count > 1]


def _of_sequences(violations: Callable[[Query], Iterator[str]]) -> Callable[[Unit], Iterator[str]]:
    return lambda unit: violations(unit) if isinstance(unit, Query) else iter(())


def _of_nodes(violations: Callable[[Algebra], Iterator[str]]) -> Callable[[Unit], Iterator[str]]:
    return lambda unit: violations(unit) if is_node(unit) else iter(())


INVARIANTS: Mapping[str, Callable[[Unit], Iterator[str]]] = {
    "steps": _of_sequences(_steps),
    "labels": _of_sequences(_labels),
    "streams": _of_sequences(_streams),
    "filters": _of_sequences(_filters),
    "iterations": _of_sequences(_iterations),
    "windows": _of_sequences(_windows),
    "partition": _of_sequences(_partition),
    "result": _of_sequences(_result),
    "expressions": _of_nodes(_expressions),
    "patterns": _of_nodes(_patterns),
}
"""Each invariant by its name: a function that yields what breaks it."""
