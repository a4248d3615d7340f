"""Texts of CQELS-QL and RSP-QL that RSEP-QL's windows cannot hold, read as Sparkwave queries where they say the same.

Both are written with RSEP-QL's grammar. `[TRIPLES n]` is a window of triples, which only continuous matching has; an entailment
regime wants a schema, which only Sparkwave takes. Each then has one window, whose pattern is the query's pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scepter.errors import Diagnostic, QueryError, query_error
from scepter.lower.result import dialect_note
from scepter.syntax import rsepql_tree as rsepql
from scepter.syntax import sparkwave_tree as sparkwave
from scepter.syntax import tree

_REGIMES = ("rdfs", "http://www.w3.org/ns/entailment/rdfs")
_SIMPLE = ("simple", "none", "rdf", "http://www.w3.org/ns/entailment/simple", "http://www.w3.org/ns/entailment/rdf")


def notes_of(query: rsepql.RsepqlQuery) -> list[Diagnostic]:
    """What a query says in the words of another language."""
    found = [
        dialect_note(
            f"STREAM … {clause.written} is CQELS-QL's", "a window over the stream, answers as they become new", clause.span
        )
        for clause in query.clauses
        if isinstance(clause, rsepql.WindowDeclaration) and clause.written is not None
    ]
    regime = None if query.register is None else query.register.regime
    if regime is not None and regime.name.lower() in _SIMPLE:
        found.append(
            dialect_note(
                f"the entailment regime {regime.name} is RSP-QL's", "no schema: patterns match what is said", regime.span
            )
        )
    return found


def check_mixture(query: rsepql.RsepqlQuery) -> None:
    """CQELS-QL names streams where it reads them: clauses that declare windows or events do not belong beside that."""
    inline = next((c for c in query.clauses if isinstance(c, rsepql.WindowDeclaration) and c.written is not None), None)
    if inline is None:
        return
    for clause in query.clauses:
        word = _foreign_to_cqels(clause)
        if word is not None:
            raise query_error(
                "mixed-dialects",
                f"{word} beside CQELS-QL's STREAM {inline.stream.iri} {inline.written}: a query is in one of the two",
                clause.span,
                help=f"write FROM NAMED WINDOW <w> ON {inline.stream.iri} [RANGE …] and WINDOW <w> {{ … }} for the stream too",
            )


def _foreign_to_cqels(clause: rsepql.RsepqlClause) -> str | None:
    match clause:
        case rsepql.WindowDeclaration(written=None):
            return "a window declared with FROM NAMED is RSP-QL's,"
        case rsepql.EventDeclaration():
            return "EVENT ON is RSEP-QL's,"
        case rsepql.PolicyClause():
            return "POLICY is RSEP-QL's,"
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Reading:
    """A query in Sparkwave's syntax tree, and the note that says so."""

    query: sparkwave.SparkwaveQuery
    note: Diagnostic


def as_sparkwave(query: rsepql.RsepqlQuery) -> Reading | None:
    """The query as Sparkwave's where it counts triples or entails; None for what RSEP-QL's windows hold."""
    counted = [c for c in query.clauses if isinstance(c, rsepql.WindowDeclaration) and isinstance(c.extent, rsepql.CountExtent)]
    regime = None if query.register is None else query.register.regime
    if counted:
        return _counted(query, counted[0])
    if regime is None or regime.name.lower() in _SIMPLE:
        return None
    if regime.name.lower() not in _REGIMES:
        raise query_error(
            "entailment-regime",
            f"the entailment regime {regime.name} is none that queries over windows know",
            regime.span,
            help="write rdfs; event descriptions with OWL are OBEP's",
        )
    return _entailing(query, regime)


def _counted(query: rsepql.RsepqlQuery, window: rsepql.WindowDeclaration) -> Reading:
    extent = window.extent
    assert isinstance(extent, rsepql.CountExtent)
    if not extent.triples:
        raise query_error(
            "counted-window",
            "[ELEMENTS n] is a window of the last n items, and windows here are of time or of triples",
            extent.span,
            help="write [RANGE d STEP d]; of single triples STREAM <s> [TRIPLES n] { … } takes the last n; "
            "SPAseq's WITHIN n EVENTS counts events",
        )
    group = _lone_window(query, window)
    if group is None:
        raise query_error(
            "counted-window",
            "[TRIPLES n] counts the triples of one stream, and stands alone in its query",
            extent.span,
            help="write [RANGE d] for each stream, or a query for each stream whose CONSTRUCT the other reads",
        )
    stream = sparkwave.FromStream(
        tree.StreamName(window.stream.iri, window.stream.span),
        sparkwave.TriplesWindow(sparkwave.Amount(extent.count, extent.span), extent.span),
        window.span,
    )
    note = dialect_note(f"[TRIPLES {extent.count}] is CQELS-QL's", f"Sparkwave's [RANGE TRIPLES {extent.count}]", extent.span)
    return Reading(_sparkwave(query, stream, group), note)


def _entailing(query: rsepql.RsepqlQuery, regime: rsepql.EntailmentRegime) -> Reading:
    windows = [c for c in query.clauses if isinstance(c, rsepql.WindowDeclaration)]
    window = windows[0] if len(windows) == 1 else None
    group = None if window is None else _lone_window(query, window)
    operator = None if query.register is None else query.register.operator
    if window is None or group is None or not isinstance(window.extent, rsepql.RangeExtent) or operator != "RSTREAM":
        raise _no_entailment(regime)
    extent = window.extent
    width = sparkwave.Amount(extent.width, extent.width_span)
    step = width if extent.step is None or extent.step_span is None else sparkwave.Amount(extent.step, extent.step_span)
    stream = sparkwave.FromStream(
        tree.StreamName(window.stream.iri, window.stream.span),
        sparkwave.StepWindow(width, step, extent.width_span),
        window.span,
    )
    reading = "Sparkwave's periodic query with what --ontology entails"
    note = dialect_note(f"UNDER ENTAILMENT REGIME {regime.name} is RSP-QL's", reading, regime.span)
    return Reading(_sparkwave(query, stream, group), note)


def _no_entailment(regime: rsepql.EntailmentRegime) -> QueryError:
    return query_error(
        "entailment-regime",
        f"UNDER ENTAILMENT REGIME {regime.name} needs RSTREAM and one time window whose WINDOW pattern is the query's pattern",
        regime.span,
        help="write it so, or as C-SPARQL: FROM STREAM <s> [RANGE … STEP …] with --ontology",
    )


def _lone_window(query: rsepql.RsepqlQuery, window: rsepql.WindowDeclaration) -> tree.Group | None:
    """WHERE with the pattern of its one window in the window's place; None if it has other windows or events."""
    elements: list[tree.Element] = []
    for element in query.group.elements:
        if isinstance(element, rsepql.WindowClause) and isinstance(element.name, rsepql.Name):
            elements += element.group.elements
        elif isinstance(element, tree.LanguageElement):
            return None
        else:
            elements.append(element)
    declared = [c for c in query.clauses if isinstance(c, (rsepql.WindowDeclaration, rsepql.EventDeclaration))]
    return tree.Group(tuple(elements), query.group.span) if declared == [window] else None


def _sparkwave(query: rsepql.RsepqlQuery, stream: sparkwave.FromStream, group: tree.Group) -> sparkwave.SparkwaveQuery:
    result: tree.SelectClause | sparkwave.ConstructClause | sparkwave.AskClause
    match query.result:
        case rsepql.ConstructClause(template, span):
            result = sparkwave.ConstructClause(template, span)
        case rsepql.AskClause(span):
            result = sparkwave.AskClause(span)
        case select:
            result = select
    register = None
    if query.register is not None and isinstance(query.result, rsepql.ConstructClause):
        register = sparkwave.Register(True, query.register.name.iri, query.register.span)
    graphs = tuple(
        sparkwave.FromGraph(tree.StreamName(c.graph.iri, c.graph.span), c.named, c.span)
        for c in query.clauses
        if isinstance(c, rsepql.FromGraph)
    )
    read = sparkwave.SparkwaveQuery(register, result, (stream, *graphs), group, None, query.modifiers, query.span)
    closes = next((c for c in query.clauses if isinstance(c, rsepql.ReportClause) and c.window_close), None)
    return read if closes is None else replace(read, report=sparkwave.ReportClause(closes.span))
