"""`timestamp(s, p, o)` over windows: rows with the time of the latest such triple, which an outer join looks up.

Each window tells in a variable when it last saw the triple; where several are there, the function takes the latest of them. A
triple that no window holds leaves them unbound, and the function is an error, as SPARQL's are.
"""

from __future__ import annotations

from collections.abc import Sequence

from scepter.algebra.expressions import Call, Constant, Expression, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.algebra.timed import END
from scepter.algebra.walk import find, rewrite
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.time_nodes import Rename, TimeValues
from scepter.physical.nodes.window_nodes import Partners, ValidityOuterJoin
from scepter.physical.planning.timestamps import latest_of
from scepter.physical.planning.window_contents import Dataset, NotPlanned


def with_latest(rows: Node, expressions: Sequence[Expression], dataset: Dataset) -> tuple[Node, tuple[Expression, ...]]:
    """Rows that tell the times which some expressions ask for, and the expressions over them. Raises NotPlanned."""
    asked = dict.fromkeys(
        call.arguments for each in expressions for call in find(each, Call) if call.function == "TIMESTAMP"
    )  # fmt: skip
    known: dict[tuple[Expression, ...], Expression] = {}
    for number, arguments in enumerate(asked):
        triple = _triple_of(arguments, rows)
        times = []
        for window, occurrences in enumerate(dataset.latest(triple)):
            times.append(Variable(f"_:time{number}.{window}"))
            told = Rename(TimeValues(occurrences, (END,)), (*occurrences.schema.variables, times[-1].name))
            rows = ValidityOuterJoin(rows, told, Partners.OPTIONAL, dataset.grid)
        known[arguments] = latest_of([(Call("BOUND", (time,)), time) for time in times])

    def replaced(node: Expression) -> Expression:
        return known[node.arguments] if isinstance(node, Call) and node.function == "TIMESTAMP" else node

    return rows, tuple(rewrite(each, replaced) for each in expressions)  # type: ignore[arg-type]


def _triple_of(arguments: Sequence[Expression], rows: Node) -> TriplePattern:
    """The triple that is looked up: a term that is unbound would find every triple."""
    for each in arguments:
        if isinstance(each, Variable) and each.name not in rows.schema.certain:
            raise NotPlanned(f"TIMESTAMP of ?{each.name}, which may be unbound, is evaluated anew at every evaluation")
    subject, predicate, object = (each if isinstance(each, Variable | Constant) else None for each in arguments)
    if subject is None or predicate is None or object is None:
        raise NotPlanned("TIMESTAMP of an expression is evaluated anew at every evaluation")
    return TriplePattern(subject, predicate, object)
