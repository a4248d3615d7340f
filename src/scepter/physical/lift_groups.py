"""GROUP BY over a triple pattern, or over a chain of SEQ, groups the solutions of a sequence: those come in columns.

`SELECT ?c (AVG(?p) AS ?mean) { ?c :price ?p } WINDOW [ROWS 10] GROUP BY ?c` has a row each time a solution of the sequence
`{ ?c :price ?p }` enters a group. Set functions of a variable are computed in columns; what is made of them stands above.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scepter.algebra.expressions import Aggregate, Call, Expression, Variable
from scepter.algebra.patterns import Extend, Filter, Group, Pattern, Project
from scepter.algebra.query import Query, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import TimedProgram, TimedWindow
from scepter.algebra.walk import find
from scepter.physical.lift_sequences import is_timeless, lift_sequence
from scepter.timeline import TimeKind

_FUNCTIONS = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE"))
_UNSTEADY = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "NOW"))


@dataclass(frozen=True, slots=True)
class GroupedSequence:
    """Groups of a sequence's solutions."""

    sequence: Query
    keys: tuple[tuple[str, str], ...]
    """(name in the result, the sequence's variable)."""
    aggregates: tuple[tuple[str, Aggregate], ...]
    """Each of a variable, or COUNT(*)."""
    window: TimedWindow | None
    above: tuple[tuple[str | None, Expression], ...]
    """What is made of a row, in order: a variable and its value, or (None) a condition the row must meet."""
    shown: tuple[str, ...]


def lift_groups(program: TimedProgram, kind: TimeKind) -> GroupedSequence | None:
    """The groups that have a program's solutions where nothing static takes part, or None."""
    if program.rules or len(program.queries) != 1:
        return None
    query = program.queries[0]
    if not isinstance(query.result, Select) or query.result.distinct or not isinstance(query.pattern, Project):
        return None
    above, group = _peeled(query.pattern.pattern)
    if not isinstance(group, Group) or not all(_is_plain(expression) for _, expression in above):
        return None
    scope = in_scope(group.pattern)
    if any(name.startswith("_:") for name in scope):
        return None  # solutions that differ in a blank node's place count each, though nobody sees what stands there
    keys = [(v.name, e.name) for v, e in group.keys if isinstance(e, Variable) and e.name in scope]
    aggregates = [(v.name, e) for v, e in group.aggregates if isinstance(e, Aggregate) and _is_columnar(e, scope)]
    if len(keys) < len(group.keys) or len(aggregates) < len(group.aggregates):
        return None
    columns = tuple((Variable(name), None) for name in sorted(scope))
    below = replace(query, result=Select(columns), pattern=group.pattern, window=None)
    sequence = lift_sequence(replace(program, queries=(below,)), kind, shortest=1)
    if sequence is None:
        return None
    visible = {variable.name for variable in query.pattern.variables}
    shown = tuple(v.name for v, e in query.result.columns if v.name in visible and e is None)
    if len(shown) < len(query.result.columns):
        return None
    return GroupedSequence(sequence, tuple(keys), tuple(aggregates), query.window, tuple(above), shown)


def _peeled(pattern: Pattern) -> tuple[list[tuple[str | None, Expression]], Pattern]:
    """What stands above a group, from the group upwards, and the group."""
    steps: list[tuple[str | None, Expression]] = []
    while isinstance(pattern, Extend | Filter):
        if isinstance(pattern, Extend):
            steps.append((pattern.variable.name, pattern.expression))
        else:
            steps.append((None, pattern.condition))
        pattern = pattern.pattern
    return steps[::-1], pattern


def _is_plain(expression: Expression) -> bool:
    """Whether a row of the group decides it, each time in the same way."""
    return is_timeless(expression) and not any(call.function in _UNSTEADY for call in find(expression, Call))


def _is_columnar(aggregate: Aggregate, scope: frozenset[str]) -> bool:
    if aggregate.distinct or aggregate.function not in _FUNCTIONS:
        return False
    operand = aggregate.operand
    return aggregate.function == "COUNT" if operand is None else isinstance(operand, Variable) and operand.name in scope
