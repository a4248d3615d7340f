"""Random SPARQL 1.1 queries over more kinds of terms: functions, casts, dates, blank nodes, GRAPH, HAVING, ORDER BY, templates.

As in `sparql_queries` nothing hangs on an order that the query leaves open, and what is left out there is left out here.
Besides: `<` is asked of two numbers, two strings or two dates, since pyoxigraph orders all other terms too.
"""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import strategies as st

from property.sparql_queries import inline_data, variables

NAMED = {
    "http://example/g1": ":a :p :b . :b :q 1 . :c :p 'x'@en .",
    "http://example/g2": ":a :p :c . :b :q 2.5 . :c :q :g1 .",
}
_NUMBERS = ("0", "-3", "7", "2.5", "-0.5", "12")
_STRINGS = ('"abc"', '"Zoë"', '""', '"a b/c"', '"10"', '"foo bar foo"', '"2020-02-29T23:59:59Z"')
_TAGGED = ('"abc"@en', '"Zoë"@fr', '"colour"@en-GB')
_DATES = (
    '"2020-02-29T23:59:59Z"^^xsd:dateTime',
    '"2020-03-01T00:00:00.5+02:00"^^xsd:dateTime',
    '"1999-12-31T12:00:00"^^xsd:dateTime',
)
_OTHERS = ("true", "false", '"abc"^^:own', '"x"^^xsd:integer', "_:b1", "_:b2", ":a", ":b", ":c")
_SUBJECTS = (":a", ":b", ":c", "_:b1")
_PREDICATES = (":p", ":q", ":s")
NODES = ":a :r :b . :b :r :c . :c :r :a . :p :r :q . :s :r :r ."

constants = st.sampled_from((*_NUMBERS, *_STRINGS, *_TAGGED, *_DATES, "true", "false", ":a", ":b"))
_members = st.sampled_from((*_NUMBERS, *_STRINGS, *_TAGGED, *_DATES, *_OTHERS))
triples = st.builds(lambda s, p, o: f"{s} {p} {o} .", st.sampled_from(_SUBJECTS), st.sampled_from(_PREDICATES), _members)
graphs = st.lists(triples, min_size=2, max_size=10).map(lambda some: " ".join((*some, NODES)))

# ---- expressions, by the kind of value they mostly have

Texts: TypeAlias = st.SearchStrategy[str]
numbers: Texts = st.deferred(lambda: st.one_of(variables, st.sampled_from(_NUMBERS), _numeric))
strings: Texts = st.deferred(lambda: st.one_of(variables, st.sampled_from((*_STRINGS, *_TAGGED)), _textual))
dates: Texts = st.deferred(lambda: st.one_of(variables, st.sampled_from(_DATES), st.just("xsd:dateTime(STR(?x))")))
anything: Texts = st.deferred(lambda: st.one_of(variables, constants, _numeric, _textual, booleans))

_numeric: Texts = st.deferred(
    lambda: st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} {b})", numbers, st.sampled_from("+-*/"), numbers),
        st.builds(
            lambda f, a: f"{f}({a})",
            st.sampled_from(("ABS", "CEIL", "FLOOR", "ROUND", "xsd:integer", "xsd:decimal", "xsd:double")),
            anything,
        ),
        st.builds(lambda a: f"STRLEN({a})", strings),
        st.builds(lambda f, a: f"{f}({a})", st.sampled_from(("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")), dates),
    )
)
_textual: Texts = st.deferred(
    lambda: st.one_of(
        st.builds(
            lambda f, a: f"{f}({a})",
            st.sampled_from(("STR", "LANG", "DATATYPE", "xsd:string", "xsd:float", "xsd:boolean", "xsd:dateTime", "IRI")),
            anything,
        ),
        st.builds(lambda f, a: f"{f}({a})", st.sampled_from(("UCASE", "LCASE", "ENCODE_FOR_URI", "MD5", "SHA256")), strings),
        st.builds(lambda f, a, b: f"{f}({a}, {b})", st.sampled_from(("STRBEFORE", "STRAFTER", "CONCAT")), strings, strings),
        st.builds(
            lambda a, b, c: f"SUBSTR({a}, {b}{c})", strings, st.integers(0, 4), st.sampled_from(("", ", 0", ", 2", ", 9"))
        ),
        st.builds(lambda f, a: f"{f}({a})", st.sampled_from(("TZ", "TIMEZONE")), dates),
        st.builds(lambda a, b: f"STRDT(STR({a}), {b})", anything, st.sampled_from(("xsd:integer", "xsd:string", ":own"))),
        st.builds(lambda a, b: f'STRLANG(STR({a}), "{b}")', anything, st.sampled_from(("en", "de-AT"))),
        st.builds(
            lambda a, p, r: f'REPLACE({a}, "{p}", "{r}")',
            strings,
            st.sampled_from(("o+", "[a-c]", "(b)", "^f")),
            st.sampled_from(("-", "$0", "")),
        ),
    )
)
booleans: Texts = st.deferred(
    lambda: st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} {b})", anything, st.sampled_from(("=", "!=")), anything),
        _ordered(numbers, _NUMBERS),
        _ordered(strings.map("STR({})".format), _STRINGS),
        st.builds(lambda a, o, b: f"({a} {o} {b})", booleans, st.sampled_from(("&&", "||")), booleans),
        st.builds(lambda a: f"(!{a})", booleans),
        st.builds(lambda f, a, b: f"{f}({a}, {b})", st.sampled_from(("STRSTARTS", "STRENDS", "CONTAINS")), strings, strings),
        st.builds(lambda a, b: f'LANGMATCHES(LANG({a}), "{b}")', anything, st.sampled_from(("en", "*", "EN-gb", ""))),
        st.builds(lambda a, p: f"REGEX({a}, {p})", strings, st.sampled_from(('"^a"', '"O", "i"', '"b|z"', '"^$"'))),
        st.builds(lambda a, n, b, c: f"({a} {n}IN ({b}, {c}))", anything, st.sampled_from(("", "NOT ")), anything, anything),
        st.builds(lambda f, a: f"{f}({a})", st.sampled_from(("ISIRI", "ISLITERAL", "ISNUMERIC", "ISBLANK")), anything),
        st.builds(lambda v: f"BOUND({v})", variables),
        st.builds(lambda a, b: f"SAMETERM({a}, {b})", anything, anything),
        st.builds(lambda a, b, c: f"IF({a}, {b}, {c})", booleans, booleans, booleans),
        st.builds(lambda a, b: f"COALESCE({a}, {b})", booleans, booleans),
    )
)


def _ordered(part: Texts, others: tuple[str, ...]) -> Texts:
    """A comparison whose other side says of what kind the two have to be."""
    return st.builds(lambda a, o, b: f"({a} {o} {b})", part, st.sampled_from(("<", ">", "<=", ">=")), st.sampled_from(others))


# ---- patterns

_ends = st.one_of(variables, variables, st.sampled_from((":a", ":b", ":c")))
_verbs = st.one_of(st.sampled_from((*_PREDICATES, ":r")), st.sampled_from((*_PREDICATES, ":r")), variables)
_objects = st.one_of(_ends, constants)
_paths = st.sampled_from(
    (
        ":p/:r",
        "^:r",
        "(:p|:s)*",
        ":r+",
        ":r?/:q",
        "^:p/:s",
        "!:p",
        "!(:r)",
        "!^:r",
        "(:r/:r)+",
        "(^:r|:p)+",
        "(:p?/^:q?)",
        "(!:r)*",
    )
)


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """Triples that share a subject, in one of Turtle's short forms."""
    s, p, o = draw(_ends), draw(_verbs), draw(_objects)
    match draw(st.sampled_from(("plain", "plain", "list", "objects", "anonymous", "path"))):
        case "plain":
            return f"{s} {p} {o} ."
        case "list":
            return f"{s} {p} {o} ; {draw(_verbs)} {draw(_objects)} ."
        case "objects":
            return f"{s} {p} {o} , {draw(_objects)} ."
        case "anonymous":
            return f"[ {p} {o} ] {draw(_verbs)} {draw(_objects)} ."
        case _:
            return f"{s} {draw(_paths)} {draw(_ends)} ."


_in_graphs = st.builds(
    lambda g, s, p, o: f"GRAPH {g} {{ {s} {p} {o} }}", st.sampled_from(("?g", ":g1", ":g2", "?x")), _ends, _verbs, _objects
)


_anchors = st.sampled_from(("?x :p ?y .", "?x :q ?y .", "?x ?p ?y .", "?y :r ?x .", "?x :p ?z .", "?x :s ?y ."))
"""Every group matches a streamed triple of variables alone: static triples by themselves are no match (rule 1)."""


@st.composite
def groups(draw: st.DrawFn, depth: int = 2, *, minus: bool = True) -> str:
    """A group graph pattern, nested so deep."""
    parts = [draw(_anchors)]
    parts += [draw(st.one_of(blocks(), blocks(), blocks(), inline_data(), _in_graphs)) for _ in range(draw(st.integers(0, 1)))]
    if depth:
        inner, asked = groups(depth - 1, minus=minus), groups(depth - 1, minus=False)
        nested = [
            st.builds("OPTIONAL {}".format, inner),
            st.builds("{} UNION {}".format, inner, inner),
            *([st.builds("MINUS {}".format, inner)] if minus else []),
            st.builds("FILTER ({})".format, booleans),
            st.builds(lambda n, g: f"FILTER {n}EXISTS {g}", st.sampled_from(("", "NOT ")), asked),
            st.builds(lambda e, n: f"BIND ({e} AS ?v{depth}{n})", anything, st.integers(0, 4)),
            st.builds(lambda e, n: f"BIND ({e} AS ?v{depth}{n})", anything, st.integers(5, 9)),
            st.builds("{{ {} }}".format, sub_selects(depth - 1, minus=minus)),
        ]
        parts += [draw(st.one_of(nested)) for _ in range(draw(st.integers(1, 2)))]
    return "{ " + " ".join(draw(st.permutations(parts))) + " }"


_aggregates = st.one_of(
    st.just("COUNT(*)"),
    st.builds(lambda f, d, v: f"{f}({d}{v})", st.sampled_from(("SUM", "AVG")), st.sampled_from(("", "DISTINCT ")), numbers),
    st.builds(lambda d, v: f"COUNT({d}{v})", st.sampled_from(("", "DISTINCT ")), variables),
    st.builds(lambda f, v: f"{f}(STRLEN(STR({v})))", st.sampled_from(("MIN", "MAX", "SUM")), variables),
    st.builds(lambda v: f'STRLEN(GROUP_CONCAT(STR({v}); SEPARATOR = ", "))', variables),
    st.builds(lambda v: f"MIN(STR({v}))", variables),
)


@st.composite
def sub_selects(draw: st.DrawFn, depth: int, *, minus: bool = True) -> str:
    """A SELECT inside a group: of expressions, of groups by expressions with HAVING, or the first rows in an order."""
    group = draw(groups(depth, minus=minus))
    match draw(st.sampled_from(("expressions", "grouped", "grouped", "cut"))):
        case "expressions":
            distinct = draw(st.sampled_from(("", "DISTINCT ")))
            return f"SELECT {distinct}?x ({draw(anything)} AS ?w{depth}) {group}"
        case "grouped":
            key = draw(
                st.one_of(
                    st.just("?x"), st.builds(f"({{}} AS ?k{depth})".format, st.one_of(_textual, booleans)), st.just("?x ?y")
                )
            )
            shown = {"?x": "?x", "?x ?y": "?x ?y"}.get(key, f"?k{depth}")
            having = draw(st.sampled_from(("", " HAVING (COUNT(*) > 1)", " HAVING (COUNT(?y) * 2 < 5) (COUNT(*) != 3)")))
            aggregate = draw(st.one_of(_aggregates, st.builds("({} + COUNT(*))".format, _aggregates)))
            return f"SELECT {shown} ({aggregate} AS ?w{depth}) {group} GROUP BY {key}{having}"
        case _:
            # What is shown orders the rows: those that are cut are the same ones.
            last = f"LIMIT {draw(st.integers(0, 4))}{draw(st.sampled_from(('', ' OFFSET 1')))}"
            order = f"ORDER BY {draw(st.sampled_from(('STR(?x) DESC(STR(?y))', 'DESC(STR(?y)) STR(?x)')))}"
            return f"SELECT DISTINCT (STR(?x) AS ?x1) (STR(?y) AS ?y1) {group} {order} {last}"


@st.composite
def selects(draw: st.DrawFn) -> str:
    """A whole SELECT, maybe with VALUES behind it."""
    behind = draw(st.sampled_from(("", "", ' VALUES ?x { :a "abc" 7 UNDEF }')))
    if draw(st.booleans()):
        return draw(sub_selects(2)) + behind
    shown = draw(st.sampled_from(("*", "*", "*", "DISTINCT ?x ?y", "?x (STR(?y) AS ?w)")))
    return f"SELECT {shown} {draw(groups(2))}{behind}"


constructs = st.builds(
    lambda template, group: f"CONSTRUCT {{ {template} }} WHERE {group}",
    st.sampled_from(
        (
            "?x :made [ :of ?y ; :and ?z ]",
            "_:n :x ?x . _:n :y ?y . _:m :of _:n",
            "?x ?y ?z . :n :of ?w1",
            ":list :is ( ?x ?y )",
            "?x :made ?y , 1 ; a :Thing",
        )
    ),
    groups(2),
)

_static = st.builds(
    lambda g, s, p, o: f"GRAPH {g} {{ {s} {p} {o} }}",
    st.sampled_from(("?g", "?h", ":g1")),
    _ends,
    _verbs,
    st.one_of(_ends, variables),
)
static_selects = st.builds(
    "SELECT * {{ {{ {} }} {} {{ {} }} {} }}".format,
    _static,
    st.sampled_from(("", "OPTIONAL", "UNION", "MINUS")),
    _static,
    st.sampled_from(("", "FILTER (?g = :g2)", "FILTER (!BOUND(?y) || ISIRI(?y))", "BIND (STR(?x) AS ?w)")),
)
"""All triples stand in GRAPH: such a query answers once, at the first instant (rule 1)."""

_ranked = st.sampled_from((":a", ":b", ":c", "1", "2.5", "-3", "40", "_:b1"))
ranked_graphs = st.lists(
    st.builds(lambda s, p, o: f"{s} {p} {o} .", st.sampled_from(_SUBJECTS), st.sampled_from((":p", ":q")), _ranked),
    min_size=2,
    max_size=9,
).map(" ".join)
ordered_selects = st.builds(
    lambda x, y, cut: f"SELECT ?y ?x {{ ?s :p ?x OPTIONAL {{ ?s :q ?y }} }} ORDER BY {x} {y}{cut}",
    st.sampled_from(("?x", "DESC(?x)", "ASC(?x)")),
    st.sampled_from(("?y", "DESC(?y)")),
    st.sampled_from(("", " LIMIT 3", " OFFSET 1")),
)
"""No value, one blank node, IRIs, numbers: terms that SPARQL orders wholly (15.1)."""
