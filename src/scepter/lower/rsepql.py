"""RSEP-QL: syntax tree to program (spec/30-rsep-ql), with every check that needs no data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from scepter.algebra.patterns import Pattern, Project
from scepter.algebra.query import Ask, Construct, Program, Result, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.windows import EventPattern, Landmark, Policy, RelationToStream, Report, TimeWindow, WindowedQuery
from scepter.errors import Diagnostic, Severity, Source, Span, nearest, query_error
from scepter.lower.circles import refuse_circle
from scepter.lower.dialects import check_mixture, notes_of
from scepter.lower.result import Lowered, NamedGraph
from scepter.lower.rsepql_events import Events
from scepter.lower.rsepql_patterns import Checked, WindowedGroups, template_triple, unbound_column
from scepter.lower.rsepql_windows import Windows, lower_policy
from scepter.lower.subselect import lower_subselect
from scepter.lower.times import carry_times
from scepter.rdf.terms import IRI
from scepter.syntax import rsepql_tree as syntax
from scepter.syntax import tree

C = TypeVar("C", syntax.PolicyClause, syntax.ReportClause)


def lower_rsepql(document: syntax.RsepqlDocument, source: Source) -> Lowered:
    """The program of an RSEP-QL file. Raises QueryError (without a source)."""
    for query in document.queries:
        check_mixture(query)
    lowered = [_QueryLowering(query) for query in document.queries]
    queries = tuple(each.lower() for each in lowered)
    _check_registered(document.queries, queries)
    graphs = {graph.iri: graph for each in reversed(lowered) for graph in reversed(each.graphs)}
    columns = [v.name for q in queries if isinstance(q.result, Select) for v, _ in q.result.columns]
    return Lowered(
        Program(queries),
        "rsep-ql",
        source,
        tuple(warning for each in lowered for warning in each.warnings),
        tuple(sorted(graphs.values(), key=lambda graph: graph.span.start)),
        tuple(dict.fromkeys(stream for each in lowered for stream in each.windows.streams)),
        document.prefixes,
        policies=tuple(policy.value for policy in Policy),
        takes_evaluate_at=True,
        variables=tuple(dict.fromkeys(columns)),
        constructs=any(isinstance(q.result, Construct) for q in queries),
        asks=any(isinstance(q.result, Ask) for q in queries),
        names=tuple(None if q.register is None else q.register.name.iri.value for q in document.queries),
    )


def _check_registered(written: tuple[syntax.RsepqlQuery, ...], queries: tuple[WindowedQuery, ...]) -> None:
    """A registered name is one query's, only a CONSTRUCT's can be read, and not in a circle."""
    seen: dict[IRI, syntax.RegisterClause] = {}
    feeds: dict[IRI, set[IRI]] = {}
    for each, query in zip(written, queries, strict=True):
        register = each.register
        if register is None:
            continue
        if register.name.iri in seen:
            raise query_error(
                "duplicate-stream",
                f"two queries register {register.name}",
                register.name.span,
                help="give one of them another name",
            )
        seen[register.name.iri] = register
        readers = [w for q in written for w in q.clauses if isinstance(w, syntax.WindowDeclaration)]
        reader = next((w for w in readers if w.stream.iri == register.name.iri), None)
        if reader is not None and query.into is None:
            raise query_error(
                "into-stream",
                f"{register.name} is read as a stream, but the query that registers it constructs no graphs",
                reader.stream.span,
                help="write CONSTRUCT { … } in the query that registers it",
            )
        for stream in query.streams:
            feeds.setdefault(stream.iri, set()).add(register.name.iri)
    for iri, register in seen.items():
        refuse_circle(iri, register.name.span, feeds)


@dataclass(slots=True)
class _QueryLowering:
    query: syntax.RsepqlQuery
    warnings: list[Diagnostic] = field(default_factory=list)
    graphs: list[NamedGraph] = field(default_factory=list)
    windows: Windows = field(default_factory=Windows)

    def lower(self) -> WindowedQuery:
        self.windows = Windows.of(self.query)
        self.warnings += notes_of(self.query)
        policy = self._clause(syntax.PolicyClause, "POLICY")
        events = Events.of(self.query, self.windows, None if policy is None else lower_policy(policy.name, policy.name_span))
        groups = WindowedGroups(Checked(self.warnings), windows=self.windows, notes=self.warnings, events=events)
        pattern, result = self._answer(groups)
        self.graphs += [*events.graphs, *groups.graphs]
        self._check_graphs()
        self._warn_unused(events)
        self._warn_unbounded(events)
        return WindowedQuery(
            result,
            self.windows.declared,
            carry_times(pattern),
            tuple(events.matched),
            self._output(),
            self._report(),
            tuple(dict.fromkeys(c.graph.iri for c in self._from_graphs(named=False))),
            tuple(dict.fromkeys(c.graph.iri for c in self._from_graphs(named=True))),
        )

    def _answer(self, groups: WindowedGroups) -> tuple[Pattern, Result]:
        """The pattern with its projection, and what is made of its rows."""
        written = self.query.result
        select = written if isinstance(written, tree.SelectClause) else tree.SelectClause(None, False, False, written.span)
        sub_select = tree.SubSelect(select, self.query.group, self.query.modifiers, self.query.span)
        pattern = lower_subselect(groups, sub_select, frozenset())
        projected = _projection(pattern)
        visible = in_scope(projected.pattern)
        match written:
            case tree.SelectClause(items):
                for item in items or ():
                    if item.expression is None and item.variable.name not in visible:
                        self.warnings.append(unbound_column(item.variable, "SELECT", visible))
                return pattern, Select(tuple((v, None) for v in projected.variables), written.distinct)
            case syntax.ConstructClause(template):
                into = None if self.query.register is None else self.query.register.name.iri
                return pattern, Construct(tuple(template_triple(t, visible, self.warnings) for t in template.triples), into)
            case syntax.AskClause():
                return pattern, Ask()
            case _:
                assert_never(written)

    def _clause(self, kind: type[C], word: str) -> C | None:
        found = [c for c in self.query.clauses if isinstance(c, kind)]
        if len(found) > 1:
            raise query_error("duplicate-clause", f"{word} stands twice in the query", found[1].span)
        return found[0] if found else None

    def _output(self) -> RelationToStream:
        """What REGISTER or the word behind SELECT or CONSTRUCT says; both may say it, not two things."""
        register, behind = self.query.register, self.query.operator
        word = None if register is None else register.operator
        if behind is not None and word not in (None, behind.word):
            raise query_error(
                "duplicate-clause",
                f"REGISTER {word} and {behind.word}: a query has one of them",
                behind.span,
                help="leave one out",
            )
        return RelationToStream[word or (behind.word if behind is not None else "ISTREAM")]

    def _report(self) -> Report:
        clause = self._clause(syntax.ReportClause, "REPORT ON")
        if clause is None or not clause.window_close:
            return Report.CONTENT_CHANGE
        if not any(isinstance(w.extent, TimeWindow) for w in self.windows.declared):
            raise query_error(
                "window-close",
                "REPORT ON WINDOW CLOSE needs a window that closes, and the query has none",
                clause.span,
                help="declare a time window, for example [RANGE 5s STEP 1s]",
            )
        return Report.WINDOW_CLOSE

    # ---- background

    def _from_graphs(self, *, named: bool) -> list[syntax.FromGraph]:
        return [c for c in self.query.clauses if isinstance(c, syntax.FromGraph) and c.named == named]

    def _check_graphs(self) -> None:
        for graph in self.graphs:
            if (name := self.windows.written.get(graph.iri)) is not None:
                raise query_error(
                    "window-as-graph",
                    f"{name} is a window, and GRAPH reads background graphs",
                    graph.span,
                    help=f"write WINDOW {name} {{ … }}",
                )
        declared = [*self._from_graphs(named=False), *self._from_graphs(named=True)]
        self.graphs += [NamedGraph(c.graph.iri, c.graph.span) for c in declared]

    # ---- warnings

    def _warn(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:
        self.warnings.append(Diagnostic(code, message, span, help, severity=Severity.WARNING))

    def _warn_unused(self, events: Events) -> None:
        for declaration in self.query.clauses:
            if isinstance(declaration, syntax.EventDeclaration) and declaration.label not in events.used:
                label, span = declaration.label, declaration.label_span
                close = nearest(label, events.used)
                self._warn(
                    "unused-event", f"EVENT {label} is declared and no MATCH uses it", span, close and f"MATCH uses {close}"
                )
            elif isinstance(declaration, syntax.WindowDeclaration) and declaration.name.iri not in self.windows.used:
                self._warn("unused-window", f"window {declaration.name} is declared and never used", declaration.name.span)

    def _warn_unbounded(self, events: Events) -> None:
        """A landmark window only grows (spec/00 §5)."""
        for window in self.windows.declared:
            if isinstance(window.extent, Landmark) and window.name in self.windows.used:
                self._warn(
                    "unbounded-state",
                    f"window {self.windows.written[window.name]} starts at a landmark: its items are kept for ever",
                    window.extent.span,
                    "write [RANGE …] instead, for example [RANGE 1h STEP 1s]",
                )


def _projection(pattern: Pattern) -> Project:
    while not isinstance(pattern, Project):
        pattern = pattern.pattern  # type: ignore[union-attr]  # lower_subselect puts only Slice and Distinct above it
    return pattern


__all__ = ["EventPattern", "lower_rsepql"]
