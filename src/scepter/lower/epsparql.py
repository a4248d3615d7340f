"""EP-SPARQL: syntax tree to program (spec/20-ep-sparql), with every check that needs no data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from scepter.algebra.expressions import Call, Constant, Expression, Variable
from scepter.algebra.patterns import Node, Pattern, TriplePattern
from scepter.algebra.query import Ask, Construct, Counting, Program, Result, Select, Sliding, Stream
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import SPELLING, TIME_FUNCTIONS, Rule, Sources, TimedProgram, TimedQuery, TimedWindow
from scepter.errors import Diagnostic, QueryError, Severity, Source, Span, nearest, query_error
from scepter.lower.epsparql_checks import check_time, grouped, unbounded
from scepter.lower.epsparql_names import bound_names
from scepter.lower.expressions import AGGREGATES, FUNCTIONS, Clause, Place
from scepter.lower.result import Lowered, NamedGraph, dialect_note
from scepter.lower.sparql import GroupLowering
from scepter.lower.subselect import lower_subselect, ordered_scope
from scepter.rdf.terms import IRI, BlankNode, Literal
from scepter.syntax import epsparql_tree as syntax
from scepter.syntax import tree
from scepter.timeline import MAX_INSTANT, parse_duration


def lower_epsparql(document: syntax.EpsparqlDocument, source: Source) -> Lowered:
    """The program of an EP-SPARQL file. Raises QueryError (without a source)."""
    lowerings = [_QueryLowering(query, f"q{number}") for number, query in enumerate(document.queries)]
    lowered = [each.lower() for each in lowerings]
    # Alone in its file a CONSTRUCT is a plain query, which does not feed itself (rule 9).
    rules = tuple(_rule(query, source) for query in lowered if isinstance(query.result, Construct) and len(lowered) > 1)
    # Beside a query, rules only feed it; a file of rules alone answers with what they construct.
    asked = tuple(query for query in lowered if not isinstance(query.result, Construct)) or tuple(lowered)
    graphs = {graph.iri: graph for each in reversed(lowerings) for graph in reversed(each.graphs)}
    streams = tuple({s.iri: s for each in lowerings for s in each.streams}.values())
    columns = dict.fromkeys(v.name for q in asked if isinstance(q.result, Select) for v, _ in q.result.columns)
    return Lowered(
        Program((TimedProgram(asked, rules, streams),)),
        "ep-sparql",
        source,
        (*_notes(document), *(warning for each in lowerings for warning in each.warnings)),
        tuple(sorted(graphs.values(), key=lambda graph: graph.span.start)),
        streams,
        document.prefixes,
        every_stream=any(query.sources.streams is None for query in lowered),
        policies=("unrestricted", "chronological", "recent"),  # spec/20 rule 10
        variables=tuple(columns),
        constructs=any(isinstance(query.result, Construct) for query in asked),
        asks=any(isinstance(query.result, Ask) for query in asked),
        names=(None,) * len(asked),
    )


def _notes(document: syntax.EpsparqlDocument) -> list[Diagnostic]:
    if document.unprefixed is None:
        return []
    return [dialect_note("names without prefixes are the paper's", "names relative to BASE", document.unprefixed)]


def _rule(query: TimedQuery, source: Source) -> Rule:
    assert isinstance(query.result, Construct)
    line = 0 if query.span is None else source.position(query.span.start)[0]
    label = f"the CONSTRUCT at line {line}"
    return Rule(label, query.result.template, query.pattern, query.sources, query.window, query.span)


@dataclass(slots=True)
class _QueryLowering:
    """One query or rule; also the extension of its expressions."""

    query: syntax.EpsparqlQuery
    scope: str
    warnings: list[Diagnostic] = field(default_factory=list)
    graphs: list[NamedGraph] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    _bound: frozenset[str] = frozenset()
    """What anything in the query binds, whatever its scope."""

    def lower(self) -> TimedQuery:
        self._bound = bound_names(self.query)
        sources = self._sources()
        groups = GroupLowering(self, self.scope)
        pattern = self._pattern(groups)
        self.graphs += groups.graphs
        window = None if self.query.window is None else self._window(self.query.window, pattern)
        result = self._result(pattern)
        check_time(pattern)
        span = Span(self.query.span.start, self.query.span.start + self._keyword_length())
        if (reason := unbounded(pattern, window)) is not None:
            self._warn("unbounded-state", reason.message, reason.span or span, reason.help)
        return TimedQuery(result, pattern, sources, window, span)

    def _keyword_length(self) -> int:
        match self.query.result:
            case tree.SelectClause():
                return len("SELECT")
            case syntax.ConstructClause(_, span) | syntax.AskClause(span):
                return span.end - span.start
            case _:
                assert_never(self.query.result)

    def _warn(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:
        warning = Diagnostic(code, message, span, help, severity=Severity.WARNING)
        if warning not in self.warnings:
            self.warnings.append(warning)

    # ---- clauses

    def _sources(self) -> Sources:
        default: list[IRI] = []
        named: list[IRI] = []
        for clause in self.query.dataset:
            if isinstance(clause, syntax.FromStream):
                if any(clause.stream.iri == known.iri for known in self.streams):
                    message = f"the stream {clause.stream.iri} is named twice"
                    raise query_error("duplicate-stream", message, clause.stream.span)
                self.streams.append(Stream(clause.stream.iri, None, clause.stream.span))
                continue
            assert isinstance(clause.graph.term, IRI)  # the grammar has an IRI there
            self.graphs.append(NamedGraph(clause.graph.term, clause.graph.span))
            (named if clause.named else default).append(clause.graph.term)
        given = bool(default or named)  # either clause replaces the whole dataset (SPARQL 1.1 §13.2)
        return Sources(
            tuple(s.iri for s in self.streams) or None, tuple(default) if given else None, tuple(named) if given else None
        )

    def _window(self, clause: syntax.WindowClause, pattern: Pattern) -> TimedWindow:
        if grouped(pattern) is None:
            raise query_error(
                "window",
                "WINDOW says over which solutions aggregates run, and there is no aggregate",
                clause.span,
                help="add GROUP BY or an aggregate, or bound the duration: FILTER (getDURATION() < …)",
            )
        text = clause.amount.removeprefix("+")
        if text.startswith("-") or not text.strip("0. "):
            raise _not_positive(clause)
        if clause.rows:
            count = int(text) if len(text) < 19 else MAX_INSTANT
            return Counting(count, clause.span)
        try:
            duration = parse_duration(text)
        except ValueError as error:
            raise query_error("duration", str(error), clause.amount_span) from None
        if duration.amount <= 0:
            raise _not_positive(clause)
        return Sliding(duration, clause.span)

    # ---- the pattern and the result

    def _pattern(self, groups: GroupLowering) -> Pattern:
        query, modifiers = self.query, self.query.modifiers
        if isinstance(query.result, tree.SelectClause):
            select = query.result
        elif modifiers == tree.Modifiers():
            return groups.group(query.group)
        else:
            # CONSTRUCT and ASK take solution modifiers too: as a SELECT of all there is to select.
            keys = (key.variable or key.expression for key in modifiers.group_by)
            items = tuple(tree.SelectItem(key, None, key.span) for key in keys if isinstance(key, tree.Var))
            has_groups = bool(modifiers.group_by or modifiers.having)
            select = tree.SelectClause(items if has_groups else None, False, False, query.result.span)
        return lower_subselect(groups, tree.SubSelect(select, query.group, modifiers, query.span), frozenset())

    def _result(self, pattern: Pattern) -> Result:
        visible = in_scope(pattern)
        match self.query.result:
            case tree.SelectClause(items):
                if items is None:
                    names = [v for v in ordered_scope(pattern) if not v.name.startswith("_:")]
                    return Select(tuple((v, None) for v in names))
                for item in items:
                    if item.expression is None and item.variable.name not in self._bound:
                        self._nothing_binds(item.variable, "SELECT names")
                columns = dict.fromkeys(Variable(item.variable.name, item.variable.span) for item in items)
                return Select(tuple((v, None) for v in columns))
            case syntax.ConstructClause(template):
                return Construct(tuple(self._template_triple(t, visible) for t in template.triples))
            case syntax.AskClause():
                return Ask()
            case _:
                assert_never(self.query.result)

    def _template_triple(self, triple: tree.Triple, visible: frozenset[str]) -> TriplePattern:
        if isinstance(triple.subject, tree.Constant) and isinstance(triple.subject.term, Literal):
            raise query_error("template", "a literal cannot be the subject of a triple", triple.subject.span)
        assert not isinstance(triple.verb, tree.PathOperation)  # the parser refuses it
        subject, verb, object = (self._template_node(n, visible) for n in (triple.subject, triple.verb, triple.object))
        return TriplePattern(subject, verb, object)

    def _template_node(self, node: tree.Node, visible: frozenset[str]) -> Node:
        match node:
            case tree.Var(name, span):
                if name not in visible:
                    self._nothing_binds(node, "CONSTRUCT uses")
                return Variable(name, span)
            case tree.Constant(term, span):
                return Constant(term, span)
            case tree.Blank(label, span):
                return Constant(BlankNode(label), span)  # fresh for each solution
            case _:
                assert_never(node)

    # ---- the extension of expressions

    def _nothing_binds(self, variable: tree.Var, clause: str) -> None:
        close = nearest(variable.name, self._bound)
        self._warn(
            "unbound-variable",
            f"{clause} ?{variable.name}, which nothing binds",
            variable.span,
            f"did you mean ?{close}?" if close else None,
        )

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """A FILTER over a variable that nothing in the query binds is an error; one that is bound elsewhere is SPARQL's."""
        name = variable.name
        if place.clause is Clause.FILTER and name not in self._bound:
            close = nearest(name, self._bound)
            raise query_error(
                "unbound-variable",
                f"FILTER uses ?{name}, which nothing in the query binds",
                variable.span,
                help=f"did you mean ?{close}?" if close else f"bind ?{name} in the group of the FILTER",
            )
        if place.clause in (Clause.FILTER, Clause.BIND):
            where = "in its own group" if place.clause is Clause.FILTER else "before it in its group"
            self._warn("unbound-variable", f"{place.clause.value} uses ?{name}, which nothing {where} binds", variable.span)

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """The time functions."""
        name = call.function.upper()
        if name not in TIME_FUNCTIONS:
            known = name in FUNCTIONS or name in AGGREGATES
            if not known and (close := nearest(name, SPELLING)) is not None:
                help = f"did you mean {SPELLING[close]}?"
                raise query_error("unknown-function", f"{call.function} is no function", call.name_span, help=help)
            return None
        if call.arguments or call.star or call.distinct:
            raise query_error(
                "arity",
                f"{call.function} takes no argument: it speaks of the group it stands in",
                call.span,
                help=f"write {call.function}() in the group whose interval is meant",
            )
        return Call(name, (), call.span)

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The grammar has none of these."""
        raise AssertionError(f"{call.function} over iterations")


def _not_positive(clause: syntax.WindowClause) -> QueryError:
    word, what = ("ROWS", "a number of solutions") if clause.rows else ("RANGE", "a duration")
    return query_error("duration", f"{word} {clause.amount}: {what} must be above zero", clause.amount_span)
