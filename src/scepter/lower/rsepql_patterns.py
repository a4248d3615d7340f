"""The WHERE clause of an RSEP-QL query: MATCH and WINDOW among SPARQL's elements, and what its rows may be used for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import assert_never

from scepter.algebra.expressions import Constant, Expression, Variable
from scepter.algebra.patterns import Graph, Join, Node, Pattern, TriplePattern, Union, Values
from scepter.algebra.windows import window_graph
from scepter.errors import Diagnostic, Severity, Span, nearest, query_error
from scepter.lower.expressions import Clause, Place
from scepter.lower.result import dialect_note
from scepter.lower.rsepql_events import Events
from scepter.lower.rsepql_windows import Windows
from scepter.lower.sparql import GroupLowering
from scepter.rdf.terms import BlankNode, Literal
from scepter.syntax import rsepql_tree as syntax
from scepter.syntax import tree


@dataclass(frozen=True, slots=True)
class Checked:
    """The extension of expressions: a FILTER over a variable that nothing binds is an error, the rest a warning."""

    warnings: list[Diagnostic]

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """Called for each variable that an expression reads and nothing binds there."""
        message = f"{place.clause.value} uses ?{variable.name}, which nothing in its group binds"
        close = nearest(variable.name, place.visible)
        if place.clause is not Clause.FILTER:
            advice = f"did you mean ?{close}?" if close else None
            self.warnings.append(Diagnostic("unbound-variable", message, variable.span, advice, severity=Severity.WARNING))
            return
        advice = f"did you mean ?{close}?" if close else "a FILTER sees the group it stands in: bind it there"
        raise query_error("unbound-variable", message, variable.span, help=advice)

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """SPARQL's functions only."""
        return None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The grammar has no such call."""
        raise AssertionError("RSEP-QL has no iterations")


@dataclass(slots=True)
class WindowedGroups(GroupLowering):
    """Groups in which MATCH and WINDOW may stand."""

    windows: Windows = field(default_factory=Windows)
    notes: list[Diagnostic] = field(default_factory=list)
    events: Events = field(default_factory=lambda: Events({}, None))

    def language_element(self, element: tree.LanguageElement, outer: frozenset[str]) -> Pattern:
        """MATCH is a Match, WINDOW a Graph."""
        match element:
            case syntax.MatchClause():
                return self.events.match(element)
            case syntax.WindowClause(tree.Var() as name, group, span):
                return self._each_window(name, group, span, outer)
            case syntax.WindowClause(syntax.Name() as name, group, span):
                window = window_graph(self.windows.use(name, "WINDOW"))
                return Graph(Constant(window, name.span), self.group(group, outer), span)
            case _:
                raise AssertionError(f"no element of RSEP-QL: {element!r}")

    def _each_window(self, name: tree.Var, group: tree.Group, span: Span, outer: frozenset[str]) -> Pattern:
        """RSP-QL's `WINDOW ?w { … }`: in each window that is declared, and ?w is its name."""
        self.notes.append(
            dialect_note(f"WINDOW ?{name.name} is RSP-QL's", f"each window in turn, ?{name.name} its name", name.span)
        )
        variable = Variable(name.name, name.span)
        found: list[Pattern] = []
        for window in self.windows.declared:
            self.windows.used.add(window.name)
            content = Graph(Constant(window_graph(window.name), name.span), self.group(group, outer), span)
            found.append(Join(content, Values((variable,), ((window.name,),))))
        return reduce(Union, found)


def unbound_column(variable: tree.Var, clause: str, visible: Iterable[str]) -> Diagnostic:
    """The warning for a variable that the result names and nothing binds."""
    close = nearest(variable.name, [name for name in visible if not name.startswith("_:")])
    message = f"{clause} uses ?{variable.name}, which nothing in WHERE binds"
    advice = f"did you mean ?{close}?" if close else None
    return Diagnostic("unbound-variable", message, variable.span, advice, severity=Severity.WARNING)


def template_triple(triple: tree.Triple, visible: frozenset[str], warnings: list[Diagnostic]) -> TriplePattern:
    """A triple of a CONSTRUCT's template."""
    if isinstance(triple.subject, tree.Constant) and isinstance(triple.subject.term, Literal):
        raise query_error("template", "a literal cannot be the subject of a triple", triple.subject.span)
    assert not isinstance(triple.verb, tree.PathOperation)  # the parser refuses it
    subject, verb, object = (_template_node(n, visible, warnings) for n in (triple.subject, triple.verb, triple.object))
    return TriplePattern(subject, verb, object)


def _template_node(node: tree.Node, visible: frozenset[str], warnings: list[Diagnostic]) -> Node:
    match node:
        case tree.Var(name, span):
            if name not in visible:
                warnings.append(unbound_column(node, "CONSTRUCT", visible))
            return Variable(name, span)
        case tree.Constant(term, span):
            return Constant(term, span)
        case tree.Blank(label, span):
            return Constant(BlankNode(label), span)  # fresh for each row
        case _:
            assert_never(node)
