"""Random schema statements and data for them."""

from __future__ import annotations

from hypothesis import strategies as st

from naive.entailment import DOMAIN, INVERSE_OF, RANGE, SUB_CLASS_OF, SUB_PROPERTY_OF, SYMMETRIC, A
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple

CLASSES = [IRI(f"http://e/C{i}") for i in range(4)]
PROPERTIES = [IRI(f"http://e/p{i}") for i in range(4)]
THINGS: list[Term] = [IRI("http://e/x"), IRI("http://e/y"), BlankNode("b")]


def statements(properties: list[IRI]) -> st.SearchStrategy[Triple]:
    classes, properties_ = st.sampled_from(CLASSES), st.sampled_from(properties)
    return st.one_of(
        st.builds(Triple, classes, st.just(SUB_CLASS_OF), classes),
        st.builds(Triple, properties_, st.sampled_from([SUB_PROPERTY_OF, INVERSE_OF]), properties_),
        st.builds(Triple, properties_, st.sampled_from([DOMAIN, RANGE]), classes),
        st.builds(Triple, properties_, st.just(A), st.just(SYMMETRIC)),
    )


def data(properties: list[IRI]) -> st.SearchStrategy[Triple]:
    things = st.sampled_from(THINGS)
    objects = st.one_of(things, st.just(Literal("l")), st.sampled_from(CLASSES))
    return st.one_of(
        st.builds(Triple, things, st.just(A), st.sampled_from(CLASSES)),
        st.builds(Triple, things, st.sampled_from(properties), objects),
    )
