"""Ontologies and static assertions that have no model: a minimal set of statements that cannot hold together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from scepter.errors import OptionError, option_error
from scepter.ontology.assertions import Assertions
from scepter.ontology.axioms import Axiom
from scepter.ontology.justifications import Justification, minimal
from scepter.ontology.program import compile_rules
from scepter.ontology.reasoner import StaticInference
from scepter.ontology.rules import BeyondFragment
from scepter.ontology.statements import statement
from scepter.rdf.terms import Triple

Statement: TypeAlias = Axiom | Triple
_SHOWN = 20


def conflict_by_rules(axioms: Sequence[Axiom], given: Justification, free: Sequence[Triple]) -> list[Statement]:
    """A minimal set of statements that contradict each other, given that all do.

    `given` is a minimal set of static assertions for which they do, `free` are the ontology's own assertions.
    """

    def contradicts(some: Sequence[Statement]) -> bool:
        own = [each for each in some if isinstance(each, Triple)]
        try:
            program = compile_rules([each for each in some if not isinstance(each, Triple)], ())
        except BeyondFragment:
            return False
        return program.inconsistent or StaticInference(program, Assertions(given, own)).conflict() is not None

    return [*sorted(given, key=str), *minimal([*free, *axioms], contradicts)]


def conflict_by(contradict: Callable[[list[Axiom], list[Triple]], bool], statements: Sequence[Statement]) -> list[Statement]:
    """The same by a reasoner that is asked about axioms and assertions."""

    def contradicts(some: Sequence[Statement]) -> bool:
        axioms = [each for each in some if not isinstance(each, Triple)]
        return contradict(axioms, [each for each in some if isinstance(each, Triple)])

    return minimal(statements, contradicts)


def contradiction(conflict: Sequence[Statement], own: Sequence[Triple] = ()) -> OptionError:
    """The error that names the statements; `own` are the assertions that the ontology itself makes."""
    static = any(isinstance(each, Triple) and each not in own for each in conflict)
    what = "the ontology and the static assertions contradict each other" if static else "the ontology contradicts itself"
    lines = [" ".join(map(str, each)) + " ." if isinstance(each, Triple) else statement(each) for each in conflict]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return option_error(
        "inconsistent-ontology",
        f"{what}: everything would follow",
        notes=("these cannot hold together:", *(f"  {line}" for line in [*lines[:_SHOWN], *more])),
        help="take one of them back",
    )
