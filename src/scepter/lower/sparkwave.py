"""Sparkwave: syntax tree to program (spec/50-sparkwave), with every check that needs no data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.expressions import Aggregate, Call, Constant, Exists, Expression, Variable
from scepter.algebra.patterns import Distinct, Graph, Group, Node, PathPattern, Pattern, Project, Slice, TriplePattern
from scepter.algebra.query import Ask, Construct, Program, Result, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.walk import find_outside
from scepter.algebra.windows import Report
from scepter.errors import Diagnostic, Severity, Source, Span, nearest, query_error
from scepter.lower.circles import refuse_circle
from scepter.lower.expressions import Clause, Place
from scepter.lower.result import Lowered, NamedGraph, dialect_note
from scepter.lower.sparkwave_windows import lower_windows
from scepter.lower.sparql import GroupLowering
from scepter.lower.subselect import lower_subselect
from scepter.rdf.terms import IRI, BlankNode, Literal
from scepter.syntax import sparkwave_tree as syntax
from scepter.syntax import tree


def lower_sparkwave(document: syntax.SparkwaveDocument, source: Source) -> Lowered:
    """The program of a Sparkwave file. Raises QueryError (without a source)."""
    lowered = [_QueryLowering(query) for query in document.queries]
    units = tuple(each.lower() for each in lowered)
    _refuse_circles(document, units)
    notes = [_setting_note(setting) for setting in document.settings if setting.path != "null"]
    ignored = "HANDLERS says where the prototype's results go, and is ignored"
    notes += [
        _warning("handlers", ignored, handlers.span, "choose with --output and --format") for handlers in document.handlers
    ]
    streams = dict.fromkeys(stream for unit in units for stream in unit.streams)
    graphs = {graph.iri: graph for each in reversed(lowered) for graph in reversed(each.graphs)}
    static = {graph.iri: graph for each in reversed(lowered) for graph in reversed(each.static)}
    results = [unit.result for unit in units]
    columns = dict.fromkeys(v.name for result in results if isinstance(result, Select) for v, _ in result.columns)
    return Lowered(
        Program(units),
        "sparkwave",
        source,
        (*notes, *(warning for each in lowered for warning in each.warnings)),
        tuple(sorted(graphs.values(), key=lambda graph: graph.span.start)),
        tuple(streams),
        document.prefixes,
        every_stream=any(not unit.streams for unit in units),
        static=tuple(sorted(static.values(), key=lambda graph: graph.span.start)),
        variables=tuple(columns),
        constructs=any(isinstance(result, Construct) for result in results),
        asks=any(isinstance(result, Ask) for result in results),
        names=tuple(None if q.register is None else _named(q.register.name) for q in document.queries),
    )


def _named(name: str | IRI) -> str:
    return name.value if isinstance(name, IRI) else name


def _setting_note(setting: syntax.Setting) -> Diagnostic:
    what, option = {
        "EPSILON_ONTOLOGY": ("schema", "--ontology"),
        "STATIC_INSTANCES": ("static data", "--background"),
    }[setting.name]
    message = f"{setting.name} names the file of the prototype's {what}, and is ignored"
    return _warning("pattern-file", message, setting.span, f"give it with {option} {setting.path}")


def _refuse_circles(document: syntax.SparkwaveDocument, units: tuple[ContinuousQuery | PeriodicQuery, ...]) -> None:
    feeds: dict[IRI, set[IRI]] = {}
    for unit in units:
        if unit.into is not None:
            for stream in unit.streams:
                feeds.setdefault(stream.iri, set()).add(unit.into)
    for query, unit in zip(document.queries, units, strict=True):
        if unit.into is not None and query.register is not None:
            refuse_circle(unit.into, query.register.span, feeds)


def _warning(code: str, message: str, span: Span | None, help: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, span, help, severity=Severity.WARNING)


@dataclass(slots=True)
class _QueryLowering:
    """One query; also the extension of its expressions."""

    query: syntax.SparkwaveQuery
    warnings: list[Diagnostic] = field(default_factory=list)
    graphs: list[NamedGraph] = field(default_factory=list)
    static: list[NamedGraph] = field(default_factory=list)

    def lower(self) -> ContinuousQuery | PeriodicQuery:
        self.query = self._read_dialects(self.query)
        windows = lower_windows(self.query)
        self.warnings += windows.warnings
        self.static += self._from_graphs()
        groups = GroupLowering(self)
        pattern = lower_subselect(groups, self._select(), frozenset())
        self.graphs += groups.graphs
        result = self._result(pattern)
        names = tuple(graph.iri for graph in self.static)
        if windows.periodic:
            report = Report.CONTENT_CHANGE if self.query.report is None else Report.WINDOW_CLOSE
            return PeriodicQuery(result, windows.periodic, pattern, names, report)
        if self.query.report is not None:
            raise query_error(
                "report-window",
                "REPORT ON WINDOW CLOSE needs a periodic window: a continuous one never closes",
                self.query.report.span,
                help="write [RANGE … STEP …] or [RANGE … TUMBLING] after each FROM STREAM",
            )
        self._check_continuous(pattern)
        return ContinuousQuery(result, windows.continuous, pattern, names, windows.otherwise)

    def _read_dialects(self, query: syntax.SparkwaveQuery) -> syntax.SparkwaveQuery:
        """C-SPARQL's AGGREGATE as the pattern joined with its groups; notes on what was read as what."""
        if query.bare:
            self._note("triples with bare IRIs are the prototype's oldest files", "SELECT * over their pattern", query.span)
        group = query.group
        for clause in query.aggregates:
            keys = tuple(tree.SelectItem(key, None, key.span) for key in clause.keys)
            value = tree.SelectItem(clause.variable, clause.call, clause.span)
            grouped = tree.Modifiers(group_by=tuple(tree.GroupKey(key, None, key.span) for key in clause.keys))
            select = tree.SelectClause((*keys, value), False, False, clause.span)
            counted = tree.Group((tree.SubSelect(select, query.group, grouped, clause.span),), clause.span)
            parts = (tree.Alternatives((each,), clause.span) for each in (group, counted))
            group = tree.Group((*parts, *clause.filters), group.span)
            reading = f"a sub-SELECT with GROUP BY {' '.join(f'?{key.name}' for key in clause.keys)}, joined with the pattern"
            self._note("AGGREGATE is C-SPARQL's", reading, clause.span)
        return replace(query, group=group, aggregates=())

    def _note(self, construct: str, reading: str, span: Span) -> None:
        self.warnings.append(dialect_note(construct, reading, span))

    def _select(self) -> tree.SubSelect:
        """CONSTRUCT and ASK take all variables of the pattern."""
        result = self.query.result
        clause = result if isinstance(result, tree.SelectClause) else tree.SelectClause(None, False, False, result.span)
        if self.query.modifiers.group_by and clause.items is None and not isinstance(result, tree.SelectClause):
            raise query_error("aggregate", "GROUP BY stands in a SELECT only", self.query.modifiers.group_by[0].span)
        return tree.SubSelect(clause, self.query.group, self.query.modifiers, self.query.span)

    def _from_graphs(self) -> list[NamedGraph]:
        found: list[NamedGraph] = []
        for clause in self.query.sources:
            if isinstance(clause, syntax.FromGraph) and not clause.named:
                found.append(NamedGraph(clause.name.iri, clause.name.span))
            elif isinstance(clause, syntax.FromGraph):
                self.graphs.append(NamedGraph(clause.name.iri, clause.name.span))
        return found

    def _check_continuous(self, pattern: Pattern) -> None:
        """What stands in GRAPH reads static data, what stands in EXISTS the window as it is: neither is part of a match."""
        for group in find_outside(pattern, Group, (Graph, Exists)):
            raise query_error(
                "aggregate-window",
                "aggregates need a periodic window: a match that is reported once has nothing to aggregate over",
                self._place_of(group),
                help="write [RANGE … STEP …] or [RANGE … TUMBLING] after each FROM STREAM",
            )
        for path in find_outside(pattern, PathPattern, (Graph, Exists)):
            raise query_error(
                "path-window",
                "a path with *, +, ? or ! needs a periodic window: a match is one triple for each triple pattern",
                path.subject.span,
                help="write [RANGE … STEP …] or [RANGE … TUMBLING] after each FROM STREAM; over static data alone, "
                "write GRAPH <iri> { … } around the path",
            )

    def _place_of(self, group: Group) -> Span | None:
        spans = [e.span for _, e in group.aggregates if isinstance(e, Aggregate)]
        return next((s for s in spans if s is not None), self.query.result.span)

    # ---- the result

    def _result(self, pattern: Pattern) -> Result:
        register = self.query.register
        into = register.name if register is not None and register.stream and isinstance(register.name, IRI) else None
        bound = in_scope(pattern)
        match self.query.result:
            case tree.SelectClause(items):
                self._refuse_stream(register)
                projection = _projection(pattern)
                for item in items or ():
                    if item.expression is None and item.variable.name not in in_scope(projection.pattern):
                        self._warn_unbound("SELECT", item.variable)
                return Select(tuple((v, None) for v in projection.variables))
            case syntax.ConstructClause(template):
                return Construct(tuple(self._template_triple(t, bound) for t in template.triples), into)
            case syntax.AskClause():
                self._refuse_stream(register)
                return Ask()
            case _:
                assert_never(self.query.result)

    def _refuse_stream(self, register: syntax.Register | None) -> None:
        if register is not None and register.stream:
            raise query_error(
                "register-stream",
                "REGISTER STREAM takes the graphs of a CONSTRUCT",
                register.span,
                help="write REGISTER QUERY, or CONSTRUCT { … }",
            )

    def _template_triple(self, triple: tree.Triple, bound: frozenset[str]) -> TriplePattern:
        if isinstance(triple.subject, tree.Constant) and isinstance(triple.subject.term, Literal):
            raise query_error("template", "a literal cannot be the subject of a triple", triple.subject.span)
        assert not isinstance(triple.verb, tree.PathOperation)  # the parser refuses it
        subject, verb, object = (self._template_node(n, bound) for n in (triple.subject, triple.verb, triple.object))
        return TriplePattern(subject, verb, object)

    def _template_node(self, node: tree.Node, bound: frozenset[str]) -> Node:
        match node:
            case tree.Var(name, span):
                if name not in bound:
                    self._warn_unbound("CONSTRUCT", node)
                return Variable(name, span)
            case tree.Constant(term, span):
                return Constant(term, span)
            case tree.Blank(label, span):
                return Constant(BlankNode(label), span)  # fresh for each match
            case _:
                assert_never(node)

    def _warn_unbound(self, clause: str, variable: tree.Var) -> None:
        message = f"{clause} uses ?{variable.name}, which nothing in WHERE binds"
        self.warnings.append(_warning("unbound-variable", message, variable.span))

    # ---- the extension of expressions

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """A FILTER over a variable that nothing binds is an error, a BIND a warning; the rest is SPARQL's."""
        if place.clause is Clause.BIND:
            message = f"BIND uses ?{variable.name}, which nothing before it in its group binds"
            self.warnings.append(_warning("unbound-variable", message, variable.span))
        elif place.clause is Clause.FILTER:
            close = nearest(variable.name, place.visible)
            raise query_error(
                "unbound-variable",
                f"FILTER uses ?{variable.name}, which nothing in its group binds",
                variable.span,
                help=f"did you mean ?{close}?" if close else f"bind ?{variable.name} in the group of the FILTER",
            )

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """`timestamp(?s, ?p, ?o)`."""
        if call.function == syntax.C_SPARQL_TIMESTAMP:
            if not any(note.message.startswith(call.function) for note in self.warnings):
                self._note(
                    f"{call.function} is C-SPARQL's", "timestamp, of the latest such triple in the window", call.name_span
                )
        elif call.function.upper() != "TIMESTAMP":
            return None
        if len(call.arguments) != 3 or call.distinct or call.star or call.separator is not None:
            raise query_error(
                "arity", "timestamp takes the three terms of a triple", call.span, help="write timestamp(?s, ?p, ?o)"
            )
        lowering = GroupLowering(self).expressions
        return Call("TIMESTAMP", tuple(lowering.lower(a, place) for a in call.arguments), call.span)

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The grammar has none."""
        raise AssertionError("no Sparkwave text has iterations")


def _projection(pattern: Pattern) -> Project:
    while isinstance(pattern, (Distinct, Slice)):
        pattern = pattern.pattern
    assert isinstance(pattern, Project)  # what lower_subselect gives
    return pattern
