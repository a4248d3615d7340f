"""Texts of CQELS-QL and RSP-QL, written with RSEP-QL's grammar: what they were read as, and what does not belong together."""

from __future__ import annotations

from scepter.errors import Diagnostic, query_error
from scepter.lower.result import dialect_note
from scepter.syntax import rsepql_tree as rsepql
from scepter.syntax.tree import SelectClause

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
    found += [
        _counted(clause.extent)
        for clause in query.clauses
        if isinstance(clause, rsepql.WindowDeclaration)
        and clause.written is None
        and isinstance(clause.extent, rsepql.CountExtent)
    ]
    if query.operator is not None and isinstance(query.result, SelectClause):
        word = query.operator.word
        found.append(dialect_note(f"SELECT {word} is SPARQLstream's", f"REGISTER {word} … AS SELECT", query.operator.span))
    regime = None if query.register is None else query.register.regime
    return found if regime is None else [*found, _entailment(regime)]


def _counted(extent: rsepql.CountExtent) -> Diagnostic:
    """A declared window that counts."""
    step = extent.step or "1"
    move = "after each" if step == "1" else f"after every {step}"
    if extent.triples:
        return dialect_note(
            f"[TRIPLES {extent.count}] is CQELS-QL's", f"the stream's last {extent.count} triples, moved on {move}", extent.span
        )
    written = f"[ELEMENTS {extent.count}]" if extent.step is None else f"[ELEMENTS {extent.count} STEP {extent.step}]"
    return dialect_note(f"{written} is RSP-QL's", f"the stream's last {extent.count} items, moved on {move}", extent.span)


def _entailment(regime: rsepql.EntailmentRegime) -> Diagnostic:
    """What patterns match under a regime. Raises QueryError for one that there is no schema language for."""
    if regime.name.lower() in _SIMPLE:
        reading = "no schema: patterns match what is said"
    elif regime.name.lower() in _REGIMES:
        reading = "patterns match what is said and what --ontology entails of it"
    else:
        raise query_error(
            "entailment-regime",
            f"the entailment regime {regime.name} is none that queries over windows know",
            regime.span,
            help="write rdfs; event descriptions with OWL are OBEP's",
        )
    return dialect_note(f"UNDER ENTAILMENT REGIME {regime.name} is RSP-QL's", reading, regime.span)


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
