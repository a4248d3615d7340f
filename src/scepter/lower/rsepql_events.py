"""The events of an RSEP-QL query and the event patterns over them (spec/30-rsep-ql rules 4 to 8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.patterns import Match
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.windows import CountWindow, Earliest, EventPattern, Followed, ItemScan, Latest, Policy, hidden_names, scans
from scepter.errors import nearest, query_error
from scepter.lower.expressions import Clause, Place
from scepter.lower.result import NamedGraph
from scepter.lower.rsepql_windows import Windows, lower_policy
from scepter.lower.sparql import GroupLowering
from scepter.lower.subselect import ordered_scope
from scepter.syntax import rsepql_tree as syntax
from scepter.syntax import tree


@dataclass(frozen=True, slots=True)
class _EventBody:
    """The extension of expressions in the pattern of an EVENT, which sees one item and nothing else."""

    label: str

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """Nothing outside can bind it: P is evaluated on each item on its own."""
        raise query_error(
            "unbound-variable",
            f"{place.clause.value} uses ?{variable.name}, which nothing in EVENT {self.label} binds",
            variable.span,
            help=f"bind ?{variable.name} in the same group, or move the {place.clause.value} to WHERE"
            if place.clause is Clause.FILTER
            else f"bind ?{variable.name} in EVENT {self.label}",
        )

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """SPARQL's functions only."""
        return None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The grammar has no such call."""
        raise AssertionError("RSEP-QL has no iterations")


@dataclass(slots=True)
class _EventGroups(GroupLowering):
    """Groups of an EVENT: neither MATCH nor WINDOW."""

    def language_element(self, element: tree.LanguageElement, outer: frozenset[str]) -> Match:
        """Refused: an event is matched in one item."""
        assert isinstance(element, syntax.MatchClause | syntax.WindowClause)
        word = "MATCH" if isinstance(element, syntax.MatchClause) else "WINDOW"
        raise query_error(
            "nested-window", f"{word} cannot stand in an EVENT, which sees one item", element.span, help=f"move {word} to WHERE"
        )


@dataclass(slots=True)
class Events:
    """The declared events, and the event patterns that MATCH makes of them."""

    scans: dict[str, ItemScan]
    policy: Policy | None
    graphs: list[NamedGraph] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    matched: list[EventPattern] = field(default_factory=list)

    @classmethod
    def of(cls, query: syntax.RsepqlQuery, windows: Windows, policy: Policy | None) -> Events:
        """The events of the EVENT clauses, each label once."""
        events = cls({}, policy)
        for clause in query.clauses:
            if not isinstance(clause, syntax.EventDeclaration):
                continue
            if clause.label in events.scans:
                raise query_error(
                    "duplicate-event",
                    f"two events are called {clause.label}",
                    clause.label_span,
                    help="give one of them another label",
                )
            window = windows.use(clause.window, "EVENT ON")
            _refuse_counted(clause, windows)
            groups = _EventGroups(_EventBody(clause.label), clause.label)
            events.scans[clause.label] = ItemScan(clause.label, window, groups.group(clause.group))
            events.graphs += groups.graphs
        return events

    def match(self, clause: syntax.MatchClause) -> Match:
        """The pattern of a MATCH, which gets the next number."""
        pattern = self._pattern(clause.pattern)
        number = len(self.matched)
        self.matched.append(pattern)
        names = {n for scan in scans(pattern) for n in in_scope(scan.pattern) if not n.startswith("_:")}
        sure = {n for scan in scans(pattern) for n in certain(scan.pattern) if not n.startswith("_:")}
        places = {v: v for v in self._places()}
        always = tuple(places.get(Variable(n), Variable(n)) for n in sorted(sure))
        sometimes = tuple(places.get(Variable(n), Variable(n)) for n in sorted(names - sure))
        return Match(number, (*always, *(Variable(name) for name in hidden_names(number))), sometimes)

    def _places(self) -> list[Variable]:
        """Variables where the events write them: SELECT * shows them in that order."""
        return [v for label in sorted(self.used) for v in ordered_scope(self.scans[label].pattern)]

    def _pattern(self, expression: syntax.EventExpression) -> EventPattern:
        match expression:
            case syntax.EventLabel():
                return self._label(expression)
            case syntax.Extreme(word, operand, span):
                if operand is None:
                    raise query_error(
                        "syntax",
                        f"{word} of nothing: an event pattern must follow it",
                        span,
                        help=f"write for example {word} {next(iter(self.scans), 'E1')}",
                    )
                inner = self._pattern(operand)
                return Earliest(inner) if word == "FIRST" else Latest(inner)
            case syntax.EventSequence(operands, policies):
                left = self._pattern(operands[0])
                for stated, operand in zip(policies, operands[1:], strict=True):
                    policy = self.policy if stated is None else self._stated(stated)
                    left = Followed(left, self._pattern(operand), policy)
                return left
            case _:
                assert_never(expression)

    def _stated(self, stated: syntax.EventLabel) -> Policy:
        if stated.label in self.scans:
            raise query_error(
                "syntax", f"SEQ is missing after {stated.label}", stated.span, help="write SEQ between any two events"
            )
        return lower_policy(stated.label, stated.span)

    def _label(self, label: syntax.EventLabel) -> ItemScan:
        if label.label not in self.scans:
            close = nearest(label.label, self.scans)
            advice = f"did you mean {close}?" if close else f"add EVENT ON <window> {{ … }} AS {label.label}"
            raise query_error("unknown-event", f"no event is called {label.label}", label.span, help=advice)
        self.used.add(label.label)
        return self.scans[label.label]


def _refuse_counted(clause: syntax.EventDeclaration, windows: Windows) -> None:
    extent = next(window.extent for window in windows.declared if window.name == clause.window.iri)
    if isinstance(extent, CountWindow):
        raise query_error(
            "counted-window",
            f"EVENT ON {clause.window}: event patterns look at windows of time, and this one counts",
            clause.window.span,
            help="write [RANGE d STEP d] or [LND t] for the window; SPAseq's WITHIN n EVENTS counts events in a pattern",
        )
