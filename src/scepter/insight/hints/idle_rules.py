"""Rules that never fire over the data of a run: what their bodies need, nothing says or derives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Node
from scepter.algebra.timed import Rule, TimedProgram
from scepter.errors import Diagnostic, Severity, Span
from scepter.insight.hints.absent_predicates import predicates_of, spoken_of, static_predicates
from scepter.insight.hints.needed_patterns import needed
from scepter.kernel.static.background import Background
from scepter.rdf.source import EventSource
from scepter.rdf.terms import IRI, Term, Triple
from scepter.runtime.queries import Query


def idle_rules(
    query: Query, streams: Mapping[str, EventSource], background: Background, ontology: Iterable[Triple]
) -> Iterator[Diagnostic]:
    """A warning for each rule that waits for a predicate which no stream, no static data and no rule that fires has, or which
    the static graph that it is asked of does not have.

    Streams that are too long to be looked at as a whole, or that other queries construct, may have any."""
    rules = [rule for unit in query.lowered.program.units if isinstance(unit, TimedProgram) for rule in unit.rules]
    if not rules:
        return
    notation = Notation(dict(query.lowered.prefixes))
    lacking = dict(_that_lack_a_graph(rules, background, spoken_of(background, ontology)))
    for rule, (graph, predicate) in lacking.items():
        lack = f"the graph {notation.term(graph.term)} does not have" if isinstance(graph, Constant) else "no graph given has"
        message = f"this rule never fires: it needs {notation.term(predicate.term)}, and {lack} it"
        yield _never(message, predicate.span or rule.span, "mend the name, or leave out the rule")
    if query.lowered.derived:
        return
    seen = [predicates_of(source) for source in streams.values()]
    if not seen or not all(whole for _, whole, _ in seen):
        return
    there: set[Term] = {IRI(predicate) for predicates, _, _ in seen for predicate in predicates}
    there |= static_predicates(background, ontology)
    for rule, missing in _that_never_fire([rule for rule in rules if rule not in lacking], there):
        made = any(missing.term in _made(other) for other in rules)
        why = "only rules that never fire derive it" if made else "neither the streams nor static data have it"
        message = f"this rule never fires: it needs {notation.term(missing.term)}, and {why}"
        advice = "add a rule that begins, or the data" if made else "mend the name, or leave out the rule"
        yield _never(message, missing.span or rule.span, advice)


def _never(message: str, place: Span | None, advice: str) -> Diagnostic:
    return Diagnostic("never-fires", message, place, advice, severity=Severity.WARNING)


def _that_lack_a_graph(
    rules: Iterable[Rule], background: Background, spoken: frozenset[IRI]
) -> Iterator[tuple[Rule, tuple[Node, Constant]]]:
    """Rules with a predicate that a static graph they need lacks, and that graph."""
    named = {name: frozenset(graph.predicates()) for name, graph in background.dataset.named.items()}
    for rule in rules:
        for graph in needed(rule.pattern).graphs:
            asked = [has for name, has in named.items() if isinstance(graph.name, Variable) or graph.name.term == name]
            there = spoken.union(*asked)
            wanted = (triple.predicate for triple in needed(graph.pattern).triples)
            if (missing := next((p for p in wanted if isinstance(p, Constant) and p.term not in there), None)) is not None:
                yield rule, (graph.name, missing)
                break


def _that_never_fire(rules: list[Rule], there: set[Term]) -> Iterator[tuple[Rule, Constant]]:
    """Rules with the first predicate that is missing, after all that can fire has: the least fixpoint over predicates."""
    waiting = rules
    while True:
        firing = [rule for rule in waiting if _missing(rule, there) is None]
        if not firing:
            break
        waiting = [rule for rule in waiting if rule not in firing]
        if any(not isinstance(triple.predicate, Constant) for rule in firing for triple in rule.template):
            return  # a predicate that is bound may be any
        for rule in firing:
            there |= _made(rule)
    for rule in waiting:
        missing = _missing(rule, there)
        assert missing is not None
        yield rule, missing


def _missing(rule: Rule, there: set[Term]) -> Constant | None:
    wanted = [triple.predicate for triple in needed(rule.pattern).triples if isinstance(triple.predicate, Constant)]
    return next((predicate for predicate in wanted if predicate.term not in there), None)


def _made(rule: Rule) -> set[Term]:
    return {triple.predicate.term for triple in rule.template if isinstance(triple.predicate, Constant)}
