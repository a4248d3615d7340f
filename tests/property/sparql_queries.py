"""Random SPARQL 1.1 queries as text, each with one answer only: nothing hangs on an order that the query leaves open.

Left out is where pyoxigraph differs from SPARQL 1.1 (`test_sparql_twins` lists it, unit tests pin our answer): how often
alternatives and negated sets relate two terms, `<` between terms that are no numbers, GRAPH, tagged strings
as conditions, VALUES without rows in EXISTS, MINUS in EXISTS (whether a variable of the outer solution is shared). An aggregate
without GROUP BY has a solution to look at: over time, nothing has entered a group of nothing.
"""

from __future__ import annotations

from hypothesis import strategies as st

VARIABLES = ("?x", "?y", "?z")
_RESOURCES = (":a", ":b", ":c")
_LITERALS = ("1", "2", "1.5", "2.0", "1e0", "true", '"a"', '"1"')
_PREDICATES = (":p", ":q")

variables = st.sampled_from(VARIABLES)
_terms = st.sampled_from((*_RESOURCES, *_LITERALS))
triples = st.builds(lambda s, p, o: f"{s} {p} {o} .", st.sampled_from(_RESOURCES), st.sampled_from(_PREDICATES), _terms)
NODES = ":a :r :b . :b :r :c . :c :r :a . :p :r :q . :r :r :r ."
"""Every term is a node: at one that is none, pyoxigraph has no path of no length."""
graphs = st.lists(triples, min_size=1, max_size=9).map(lambda some: " ".join((*some, NODES)))

_subjects = st.one_of(variables, variables, variables, st.sampled_from(_RESOURCES))
_objects = st.one_of(variables, variables, variables, _terms)
_paths = st.sampled_from(
    (":p+", ":p*", ":p?", ":q*", "^:p", ":p/:q", ":p/:p", "^:p/:q", ":p|:q", "(:p|:q)+", "(:p|:q)*", "(:p/:q)?", "(^:p)*",
     "(:p?)/:q", ":p*/:q?", "(:p/:q)*")
)  # fmt: skip
_verbs = st.one_of(st.sampled_from((*_PREDICATES, *_PREDICATES)), variables)
patterns = st.builds(lambda s, v, o: f"{s} {v} {o} .", _subjects, _verbs, _objects)
_path_ends = st.one_of(variables, st.sampled_from(_RESOURCES))
path_patterns = st.builds(lambda s, v, o: f"{s} {v} {o} .", _path_ends, _paths, _path_ends)

_functions = st.sampled_from(("STR", "DATATYPE", "ISIRI", "ISLITERAL", "ISNUMERIC", "ABS", "CEIL", "FLOOR", "ROUND", "LANG"))
_numbers = st.sampled_from(("1", "1.5", "2", "0.25"))


def expressions(inner: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[str]:
    """Expressions; with `inner`, EXISTS of those groups too."""
    leaves = st.one_of(variables, variables, _terms)

    def wider(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        kinds = [
            st.builds(lambda a, o, b: f"({a} {o} {b})", part, st.sampled_from(("=", "!=")), part),
            st.builds(lambda a, o, b: f"({a} {o} {b})", _sums, st.sampled_from(("<", ">", "<=", ">=")), _numbers),
            st.builds(lambda a, o, b: f"({a} {o} {b})", part, st.sampled_from(("&&", "||", "+", "-", "*", "/")), part),
            st.builds(lambda a: f"(! {a})", part),
            st.builds(lambda a: f"(- {a})", part),
            st.builds(lambda f, a: f"{f}({a})", _functions, part),
            st.builds(lambda v: f"BOUND({v})", variables),
            st.builds(lambda a, b, c: f"IF({a}, {b}, {c})", part, part, part),
            st.builds(lambda a, b: f"COALESCE({a}, {b})", part, part),
            st.builds(lambda a, b: f"CONCAT(STR({a}), STR({b}))", part, part),
            st.builds(lambda a, b: f"SAMETERM({a}, {b})", part, part),
            st.builds(lambda a, n, b: f"({a} {n}IN ({b}, 1))", part, st.sampled_from(("", "NOT ")), part),
        ]
        if inner is not None:
            kinds.append(st.builds(lambda n, g: f"({n}EXISTS {g})", st.sampled_from(("", "NOT ")), inner))
        return st.one_of(kinds)

    return st.recursive(leaves, wider, max_leaves=3)


_sums = st.builds(lambda v, o, n: f"({v} {o} {n})", variables, st.sampled_from("+-*/"), _numbers)


@st.composite
def inline_data(draw: st.DrawFn) -> str:
    """VALUES of one or two variables, UNDEF among them."""
    names = draw(st.lists(variables, min_size=1, max_size=2, unique=True))
    cells = st.one_of(st.just("UNDEF"), _terms)
    rows = draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), min_size=1, max_size=3))
    return f"VALUES ({' '.join(names)}) {{ {' '.join('(' + ' '.join(row) + ')' for row in rows)} }}"


@st.composite
def groups(draw: st.DrawFn, depth: int = 2, *, paths: bool = True, minus: bool = True) -> str:
    """A group graph pattern, nested so deep."""
    leaves = [patterns, patterns, inline_data()] + ([path_patterns] if paths else [])
    elements = [draw(st.one_of(leaves)) for _ in range(draw(st.integers(0 if depth else 1, 2)))]
    if depth:
        inner = groups(depth - 1, paths=paths, minus=minus)
        asked = groups(depth - 1, paths=paths, minus=False)
        nested = [
            st.builds(lambda g: f"OPTIONAL {g}", inner),
            st.builds(lambda a, b: f"{a} UNION {b}", inner, inner),
            *([st.builds(lambda g: f"MINUS {g}", inner)] if minus else []),
            st.builds(lambda e: f"FILTER {e}", expressions(asked).map(lambda e: f"({e})")),
            st.builds(lambda n, g: f"FILTER {n}EXISTS {g}", st.sampled_from(("", "NOT ")), asked),
            st.builds(lambda e, n: f"BIND ({e} AS ?v{depth}{n})", expressions(), st.integers(0, 4)),
            st.builds(lambda s: f"{{ {s} }}", sub_selects(depth - 1, paths=paths, minus=minus)),
            inner,
        ]
        elements += [draw(st.one_of(nested)) for _ in range(draw(st.integers(0, 2)))]
    return "{ " + " ".join(draw(st.permutations(elements))) + " }"


_aggregates = st.one_of(
    st.just("COUNT(*)"),
    st.builds(
        lambda f, d, v: f"{f}({d}{v})", st.sampled_from(("COUNT", "SUM", "AVG")), st.sampled_from(("", "DISTINCT ")), variables
    ),
    st.builds(lambda f, v: f"{f}({v} * 1)", st.sampled_from(("MIN", "MAX")), variables),
)


@st.composite
def sub_selects(draw: st.DrawFn, depth: int, *, paths: bool = True, minus: bool = True) -> str:
    """A SELECT inside a group: plain, DISTINCT, of groups with HAVING, or of all its rows in an order, cut."""
    group = draw(groups(depth, paths=paths, minus=minus))
    kind = draw(st.sampled_from(("plain", "distinct", "grouped", "whole")))
    if kind in ("plain", "distinct"):
        names = draw(st.lists(variables, min_size=1, max_size=2, unique=True))
        return f"SELECT {'DISTINCT ' if kind == 'distinct' else ''}{' '.join(names)} {group}"
    aggregate = draw(_aggregates)
    if kind == "whole":
        return f"SELECT ({aggregate} AS ?w{depth}) {{ {{ :a :r ?r }} UNION {group} }}"
    key = draw(variables)
    having = draw(st.sampled_from(("", " HAVING (COUNT(*) > 1)")))
    return f"SELECT {key} ({aggregate} AS ?w{depth}) {group} GROUP BY {key}{having}"


@st.composite
def selects(draw: st.DrawFn, *, paths: bool = True) -> str:
    """A whole SELECT."""
    if draw(st.booleans()):
        return draw(sub_selects(2, paths=paths))
    return f"SELECT {draw(st.sampled_from(('', 'DISTINCT ')))}?x ?y ?z ?w0 ?w1 {draw(groups(2, paths=paths))}"


@st.composite
def asks(draw: st.DrawFn) -> str:
    """An ASK, of a pattern or of how many solutions it has."""
    group = draw(groups(2))
    if draw(st.booleans()):
        return f"ASK {group}"
    return f"ASK {{ {{ SELECT (COUNT(*) AS ?n) {{ {{ :a :r ?r }} UNION {group} }} }} FILTER (?n = {draw(st.integers(0, 4))}) }}"


constructs = st.builds(
    lambda group: f"CONSTRUCT {{ ?x :made ?y . ?z :made ?w1 . :n :of ?x }} {group}",
    st.one_of(groups(2), sub_selects(2).map("{{ {} }}".format)),
)
