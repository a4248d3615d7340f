"""Data guards: `IF { EVENT name { … } FILTER (…) }` as a pattern over named graphs (spec/40-obep rule 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Pattern
from scepter.errors import QueryError, nearest, query_error
from scepter.lower.expressions import Clause, Place
from scepter.lower.sparql import GroupLowering
from scepter.rdf.terms import IRI
from scepter.syntax import obep_tree as syntax
from scepter.syntax import tree


@dataclass(slots=True)
class GuardNames:
    """The names that an event expression gives to occurrences: events' own, and those after AS."""

    shown: dict[IRI, str] = field(default_factory=dict)
    negated: set[IRI] = field(default_factory=set)
    """Under NOT: no occurrence is there to be asked."""
    optional: set[IRI] = field(default_factory=set)
    """Under OR."""
    ambiguous: set[IRI] = field(default_factory=set)
    """More than one occurrence of one result would have the name."""

    @staticmethod
    def label(name: syntax.Name) -> IRI:
        """What a name is known by: its IRI, or a bare name as it stands where no empty prefix is declared."""
        return name.iri or IRI(name.text)

    @classmethod
    def of(cls, expression: syntax.EventExpression) -> GuardNames:
        """The names of an expression."""
        found = cls()
        counts = found._collect(expression, negated=False, optional=False)
        found.ambiguous = {label for label, count in counts.items() if count > 1}
        return found

    def _collect(self, expression: syntax.EventExpression, negated: bool, optional: bool) -> Counter[IRI]:
        """How many occurrences of one result have each name."""
        match expression:
            case syntax.Reference(name, alias):
                return self._named((name, alias), negated, optional)
            case syntax.Parenthesised(inner, alias):
                return self._collect(inner, negated, optional) + self._named((alias,), negated, optional)
            case syntax.Prefixed(operator, operand):
                return self._collect(operand, negated or operator == "NOT", optional)
            case syntax.Combination("OR", left, right):
                return self._collect(left, negated, True) | self._collect(right, negated, True)
            case syntax.Combination(_, left, right):
                return self._collect(left, negated, optional) + self._collect(right, negated, optional)
            case _:
                assert_never(expression)

    def _named(self, names: tuple[syntax.Name | None, ...], negated: bool, optional: bool) -> Counter[IRI]:
        labels = {self.label(name): name.text for name in names if name is not None}
        self.shown.update(labels)
        if negated:
            self.negated.update(labels)
            return Counter()
        if optional:
            self.optional.update(labels)
        return Counter(labels.keys())


def lower_guard(clause: syntax.ConditionClause, names: GuardNames, event: str) -> tuple[Pattern, frozenset[IRI]]:
    """The guard's pattern, and the names it asks."""
    lowering = _GuardLowering(names, event)
    pattern = lowering.pattern(clause.group)
    return pattern, frozenset(lowering.used)


@dataclass(slots=True)
class _GuardLowering:
    names: GuardNames
    event: str
    used: set[IRI] = field(default_factory=set)

    def pattern(self, group: tree.Group) -> Pattern:
        """Blocks of names under OR are optional, and join after the required ones (rules 5 and 8)."""
        required: list[tree.Element] = []
        optional: list[tree.Element] = []
        for element in group.elements:
            if isinstance(element, tree.Triples):
                raise query_error(
                    "guard",
                    "a guard's triples stand in an EVENT block that says whose assertions they are asked of",
                    element.span,
                    help="write EVENT name { … } around them",
                )
            if isinstance(element, syntax.EventBlock) and GuardNames.label(element.label) in self.names.optional:
                optional.append(tree.OptionalClause(tree.Group((element,), element.span), element.span))
            else:
                required.append(element)
        for block in _blocks(group):
            self._check(block)
        groups = GroupLowering(self, f"{self.event}.if")
        return groups.group(tree.Group((*required, *optional), group.span))

    def _check(self, block: tree.GraphClause) -> None:
        if not isinstance(block, syntax.EventBlock):
            raise query_error(
                "guard",
                "a guard sees the occurrences of its pattern only: GRAPH has nothing to read here",
                block.span,
                help="ask an occurrence with EVENT name { … }",
            )
        label = GuardNames.label(block.label)
        if label in self.names.negated:
            raise query_error(
                "guard-under-not",
                f"the guard asks {block.label.text}, which stands under NOT: there is no occurrence to ask",
                block.label.span,
                help="ask another name of the pattern, or leave the block out",
            )
        if label not in self.names.shown:
            raise self._unknown(block)
        if label in self.names.ambiguous:
            raise query_error(
                "guard-ambiguous",
                f"{block.label.text} stands more than once in the pattern: which occurrence is meant?",
                block.label.span,
                help=f"give each a name, for example {block.label.text} AS First",
            )
        self.used.add(label)

    def _unknown(self, block: syntax.EventBlock) -> QueryError:
        known = list(self.names.shown.values())
        close = nearest(block.label.text, known)
        advice = f"did you mean {close}?" if close else f"its names are {', '.join(dict.fromkeys(known))}"
        message = f"the guard asks {block.label.text}, which does not occur in the pattern of {self.event}"
        return query_error("guard-unknown", message, block.label.span, help=advice)

    # ---- the extension of expressions

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """A FILTER over a variable that nothing binds is an error (spec/00 §5)."""
        if place.clause is Clause.FILTER:
            close = nearest(variable.name, place.visible)
            raise query_error(
                "unbound-variable",
                f"FILTER uses ?{variable.name}, which no EVENT block that it sees binds",
                variable.span,
                help=f"did you mean ?{close}?" if close else f"bind ?{variable.name} in an EVENT block of the guard",
            )

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """No calls of its own."""
        return None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The grammar has none."""
        raise AssertionError(call)


def _blocks(group: tree.Group) -> Iterator[tree.GraphClause]:
    """The GRAPH and EVENT blocks of a group, however deep."""
    for element in group.elements:
        match element:
            case tree.GraphClause():
                yield element
                yield from _blocks(element.group)
            case tree.OptionalClause(inner) | tree.MinusClause(inner):
                yield from _blocks(inner)
            case tree.Alternatives(groups):
                for each in groups:
                    yield from _blocks(each)
            case tree.SubSelect(group=inner):
                yield from _blocks(inner)
            case tree.FilterClause(condition):
                yield from _in_expression(condition)
            case tree.BindClause(expression):
                yield from _in_expression(expression)
            case tree.Triples() | tree.ValuesClause() | tree.ServiceClause() | tree.Chain() | tree.LanguageElement():
                continue
            case _:
                assert_never(element)


def _in_expression(expression: tree.Expression) -> Iterator[tree.GraphClause]:
    match expression:
        case tree.ExistsTest(group):
            yield from _blocks(group)
        case tree.Operation(_, operands):
            for operand in operands:
                yield from _in_expression(operand)
        case tree.Call(_, arguments) | tree.IriCall(_, arguments):
            for argument in arguments:
                yield from _in_expression(argument)
        case tree.Var() | tree.Constant() | tree.IterationCall():
            return
        case _:
            assert_never(expression)
