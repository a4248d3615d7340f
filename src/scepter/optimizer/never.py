"""Rules that can never fire, as the folded conditions of a program tell."""

from __future__ import annotations

from collections.abc import Iterator

from scepter.algebra.expressions import And, Constant, Expression
from scepter.algebra.patterns import Distinct, Extend, Filter, Join, Pattern, Project, Related
from scepter.algebra.query import Program
from scepter.algebra.timed import TimedProgram
from scepter.errors import Diagnostic, Severity
from scepter.rdf.values import FALSE


def rules_that_never_fire(program: Program) -> Iterator[Diagnostic]:
    """A warning for each CONSTRUCT rule of an optimised program with a condition that is never true.

    >>> from scepter.lower import lower
    >>> from scepter.optimizer.optimizer import optimize
    >>> lowered = lower('''PREFIX : <http://e/> CONSTRUCT { ?x :b 1 } WHERE { ?x :a ?n FILTER (?n > 3 && 1 > 2) }
    ... SELECT ?x WHERE { ?x :b ?n }''', "ep-sparql")
    >>> [warning.message for warning in rules_that_never_fire(optimize(lowered.program))]
    ['this rule never fires: a condition of it is never true']
    """
    for unit in program.units:
        if isinstance(unit, TimedProgram):
            for rule in unit.rules:
                if _is_empty(rule.pattern):
                    message = "this rule never fires: a condition of it is never true"
                    yield Diagnostic(
                        "never-fires", message, rule.span, "mend the FILTER, or leave out the rule", severity=Severity.WARNING
                    )


def _is_empty(pattern: Pattern) -> bool:
    match pattern:
        case Filter(condition, inner):
            return _is_false(condition) or _is_empty(inner)
        case Join(left, right):
            return _is_empty(left) or _is_empty(right)
        case Related(left, right, _, None):
            return _is_empty(left) or _is_empty(right)
        case Project() | Distinct() | Extend():
            return _is_empty(pattern.pattern)
        case _:
            return False


def _is_false(condition: Expression) -> bool:
    if isinstance(condition, And):
        return _is_false(condition.left) or _is_false(condition.right)
    return condition == Constant(FALSE)
