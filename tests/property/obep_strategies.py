"""Random ontologies, items and OBEP queries over a handful of names, so that much coincides."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import strategies as st

from naive.obep import Event
from scepter.algebra.classes import And, ClassExpression, HasValue, Named, Not, Nothing, Only, Or, Property, Some, Thing
from scepter.ontology.axioms import Axiom, SubClassOf, SubProperty, Transitive
from scepter.rdf.terms import IRI, TYPE, Literal, Term, Triple
from scepter.timeline import Allen

EXAMPLES = int(os.environ.get("SCEPTER_EXAMPLES", "40"))
"""How many runs a property is tried on; set it to thousands to search for a while."""

NS = "http://example/"
CLASSES = [IRI(NS + name) for name in ("A", "B", "C")]
PROPERTIES = [IRI(NS + name) for name in ("p", "q")]
NODES: list[Term] = [IRI(NS + name) for name in ("x", "y", "z")]
LITERAL = Literal("5", "http://www.w3.org/2001/XMLSchema#integer")

named = st.sampled_from(CLASSES).map(Named)
properties = st.builds(Property, st.sampled_from(PROPERTIES), st.booleans())


def left(depth: int = 2) -> st.SearchStrategy[ClassExpression]:
    """What may stand on the left of an axiom within the fragment."""
    leaf: st.SearchStrategy[ClassExpression] = st.one_of(
        named, named, st.just(Thing()), st.builds(HasValue, properties, st.sampled_from([*NODES[:2], LITERAL]))
    )
    if depth == 0:
        return leaf
    inner = left(depth - 1)
    several = st.lists(inner, min_size=2, max_size=2).map(tuple)
    return st.one_of(leaf, st.builds(Some, properties, inner), st.builds(And, several), st.builds(Or, several))


def right(depth: int = 2) -> st.SearchStrategy[ClassExpression]:
    """What may stand on the right of an axiom within the fragment."""
    leaf: st.SearchStrategy[ClassExpression] = st.one_of(named, named, named, st.builds(Not, named), st.just(Nothing()))
    if depth == 0:
        return leaf
    inner = right(depth - 1)
    several = st.lists(inner, min_size=2, max_size=2).map(tuple)
    return st.one_of(leaf, st.builds(Some, properties, inner), st.builds(Only, properties, inner), st.builds(And, several))


axioms: st.SearchStrategy[list[Axiom]] = st.lists(
    st.one_of(
        st.builds(SubClassOf, left(1), right(1)),
        st.builds(SubClassOf, left(1), right(1)),
        st.builds(SubProperty, properties, properties),
        st.builds(Transitive, st.sampled_from(PROPERTIES)),
    ),
    max_size=4,
)

triples: st.SearchStrategy[Triple] = st.one_of(
    st.builds(Triple, st.sampled_from(NODES), st.just(IRI(TYPE)), st.sampled_from(CLASSES)),
    st.builds(Triple, st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from([*NODES, LITERAL])),
)
graphs = st.lists(triples, min_size=1, max_size=3, unique=True)


@st.composite
def streams(draw: st.DrawFn, most: int = 6) -> list[Event]:
    """Items at a few times, some of them intervals, on two streams."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        end = draw(st.integers(0, 6))
        start = end if draw(st.integers(0, 3)) else max(0, end - draw(st.integers(0, 3)))
        stream = draw(st.sampled_from([NS + "s", NS + "t"]))
        found.append(Event(stream, start, end, tuple(draw(graphs))))
    return found


RELATIONS = ["SEQ", "SEQ", *(relation.value for relation in Allen), "DURING"]
LOGICAL = {"La": "A", "Lb": "B", "Lp": "p some Thing", "Lm": "(A or q some B)"}


@dataclass(frozen=True)
class ObepText:
    """A query, and whether it has LAST in it."""

    text: str


@dataclass
class _Writing:
    known: list[str]
    aliases: int = 0

    def expression(self, draw: st.DrawFn, depth: int, hidden: bool = False) -> tuple[str, list[str]]:
        """An expression and the names it gives that a guard may use."""
        kind = draw(st.integers(0, 8)) if depth else 0
        if kind <= 2:
            event = draw(st.sampled_from(self.known))
            if draw(st.booleans()):
                return event, []
            self.aliases += 1
            alias = f"n{self.aliases}"
            return f"{event} AS {alias}", [] if hidden else [alias]
        if kind <= 4:
            word = draw(st.sampled_from(["FIRST", "LAST", "NOT", "NOT"]))
            inner, names = self.expression(draw, depth - 1, hidden or word == "NOT")
            return f"{word} ({inner})", names
        word = draw(st.sampled_from(["AND", "OR", *RELATIONS]))
        first, some = self.expression(draw, depth - 1, hidden)
        second, others = self.expression(draw, depth - 1, hidden)
        return f"(({first}) {word} ({second}))", some + others


def _guard(draw: st.DrawFn, names: list[str]) -> str:
    chosen = names[:2] if draw(st.booleans()) else names[:1]
    verb = [draw(st.sampled_from([":p", ":q", "a", "?v"])) for _ in chosen]
    blocks = [f"EVENT {name} {{ ?s {v} ?o{i} }}" for i, (name, v) in enumerate(zip(chosen, verb, strict=True))]
    condition = draw(st.sampled_from(["", "FILTER (?s != :x)", "FILTER (bound(?o0) && isIRI(?o0))"]))
    return f" IF {{ {' '.join(blocks)} {condition} }}"


@st.composite
def queries(draw: st.DrawFn) -> ObepText:
    """Logical events, up to two composite ones, all operators, guards."""
    lines = [f"EVENT {name} AS {description}" for name, description in LOGICAL.items()]
    writing = _Writing(list(LOGICAL))
    composites = []
    for number in range(draw(st.integers(1, 2))):
        expression, names = writing.expression(draw, 2)
        within = draw(st.sampled_from(["", "", " WITHIN 1", " WITHIN 3"]))
        guard = _guard(draw, names) if len(names) > 0 and draw(st.booleans()) else ""
        lines.append(f"EVENT Comp{number} MATCH {expression}{within}{guard}")
        writing.known.append(f"Comp{number}")
        composites.append(f"Comp{number}")
    source: str = draw(st.sampled_from(["", f"FROM STREAM <{NS}s>\n"]))
    returned = draw(st.sampled_from([composites, [*composites, "La", "Lp"]]))
    return ObepText(f"PREFIX : <{NS}>\n{source}" + "\n".join(lines) + f"\nRETURN {', '.join(returned)} AS RDF STREAM")
