"""A triple pattern, or a chain of SEQ over such, is planned as a sequence.

`{ ?c :price ?p1 } SEQ { ?c :price ?p2 } FILTER (?p2 < ?p1 && getDURATION() < 10)` has the solutions of a sequence of scans in
which every later event counts whose interval starts after the last one's end, within a sliding window, each mapping and
interval once. What goes beyond that form is joined.
"""

from __future__ import annotations

from collections.abc import Iterator

from scepter.algebra.expressions import Aggregate, Call, Compare, Constant, Exists, Expression
from scepter.algebra.patterns import BGP, Pattern, Project, Related
from scepter.algebra.query import Query, Scan, Select, Selection, Sequence, Sliding, Step, Stream
from scepter.algebra.scope import in_scope, mentioned_variables
from scepter.algebra.timed import DURATION, TIME_FUNCTIONS, TimedProgram
from scepter.algebra.walk import find
from scepter.optimizer.conditions import conjuncts, filters_above
from scepter.rdf.terms import IRI, XSD, Literal
from scepter.timeline import Allen, Duration, TimeKind, parse_duration

_DURATIONS = frozenset((XSD + "duration", XSD + "dayTimeDuration"))
_EVERY_STREAM = IRI("urn:scepter:every-stream")


def chain_as_sequence(program: TimedProgram, kind: TimeKind, shortest: int = 2) -> Query | None:
    """The sequence that has a program's solutions where nothing static takes part, or None. One triple pattern alone has as
    many solutions as SPARQL gives it (spec/20 rule 8), unless entailment is at work: then it is a sequence of one."""
    if program.rules or len(program.queries) != 1:
        return None
    query = program.queries[0]
    sources = query.sources
    if query.window is not None or sources.default is not None or sources.named is not None:
        return None
    if not isinstance(query.result, Select) or query.result.distinct or not _plain(query.result):
        return None
    inner = query.pattern.pattern if isinstance(query.pattern, Project) else query.pattern
    conditions, chain = _peeled(inner)
    leaves = list(_leaves(chain))
    if len(leaves) < shortest or any(leaf is None for leaf in leaves):
        return None
    if not {variable.name for variable, expression in query.result.columns if expression is None} <= in_scope(chain):
        return None
    bounds, others = _split(conditions, kind)
    if others is None:
        return None
    streams = tuple(Stream(iri) for iri in sources.streams or ())
    steps = _steps([leaf for leaf in leaves if leaf is not None], others, streams[0].iri if streams else _EVERY_STREAM)
    if steps is None:
        return None
    window = min(bounds, key=lambda b: (b.duration.amount, not b.exclusive)) if bounds else None
    return Query(query.result, streams, Sequence(steps), window, merged=True, solutions=True)


def _plain(select: Select) -> bool:
    """Whether no column needs more than a solution's mapping."""
    expressions = [e for _, e in select.columns if e is not None]
    return all(is_timeless(e) and not any(True for _ in find(e, Aggregate)) for e in expressions)


def is_timeless(expression: Expression) -> bool:
    """Whether a mapping alone decides an expression: it asks for no time and no graph."""
    return not any(call.function in TIME_FUNCTIONS for call in find(expression, Call)) and not any(
        True for _ in find(expression, Exists)
    )


def _peeled(pattern: Pattern) -> tuple[list[Expression], Pattern]:
    conditions, inner = filters_above(pattern)
    return [each for condition in conditions for each in conjuncts(condition)], inner


_Leaf = tuple[BGP, list[Expression]]


def _leaves(pattern: Pattern) -> Iterator[_Leaf | None]:
    """The single triple patterns of a chain with their own filters, in order; None for anything else."""
    if isinstance(pattern, Related) and pattern.relation is Allen.BEFORE and pattern.optional is None:
        yield from _leaves(pattern.left)
        yield from _leaves(pattern.right)
        return
    conditions, inner = _peeled(pattern)
    if isinstance(inner, BGP) and len(inner.triples) == 1 and all(is_timeless(c) for c in conditions):
        own = in_scope(inner)
        yield (inner, conditions) if all(mentioned_variables(c) <= own for c in conditions) else None
    else:
        yield None


def _split(conditions: list[Expression], kind: TimeKind) -> tuple[list[Sliding], list[Expression] | None]:
    """The bounds on the duration, and the other conditions; None where one cannot be taken."""
    bounds: list[Sliding] = []
    others: list[Expression] = []
    for condition in conditions:
        if is_timeless(condition):
            others.append(condition)
        elif (bound := _bound(condition, kind)) is not None:
            bounds.append(bound)
        else:
            return [], None
    return bounds, others


def _bound(condition: Expression, kind: TimeKind) -> Sliding | None:
    """`getDURATION() < d` or `<=`, either way round, with a constant of the timeline's kind."""
    match condition:
        case Compare("<" | "<=" as written, Call(function), Constant(Literal() as limit)) if function == DURATION:
            exclusive = written == "<"
        case Compare(">" | ">=" as flipped, Constant(Literal() as limit), Call(function)) if function == DURATION:
            exclusive = flipped == ">"
        case _:
            return None
    try:
        if kind is TimeKind.INTEGER and limit.datatype == XSD + "integer":
            return Sliding(Duration(int(limit.lexical), bare=True), exclusive=exclusive)
        if kind is TimeKind.DATETIME and limit.datatype in _DURATIONS:
            return Sliding(parse_duration(limit.lexical), exclusive=exclusive)
    except ValueError:
        return None
    return None


def _steps(leaves: list[_Leaf], conditions: list[Expression], stream: IRI) -> tuple[Step, ...] | None:
    """A scan per triple pattern; each condition goes to the first scan at which all it mentions is bound."""
    steps: list[Step] = []
    bound: frozenset[str] = frozenset()
    waiting = list(conditions)
    for number, (pattern, own) in enumerate(leaves):
        bound |= in_scope(pattern)
        ready = [c for c in waiting if mentioned_variables(c) <= bound]
        waiting = [c for c in waiting if c not in ready]
        scan = Scan(str(number + 1), stream, pattern, (*own, *ready))
        steps.append(Step(scan, Selection.BEFORE if steps else None))
    return None if waiting else tuple(steps)
