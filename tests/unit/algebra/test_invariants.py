"""Each invariant has a query that keeps to it and one, a small change away, that does not."""

from __future__ import annotations

import pytest

from scepter.algebra.invariants import INVARIANTS, InvariantError, check
from scepter.algebra.query import Program, Query
from scepter.algebra.text import parse_node

STREAMS = '((stream :s (alias "S")) (stream :t))'


def query(steps: str, *, select: str = "(select ?x)", rest: str = "", streams: str = STREAMS) -> Query:
    return parse_node(f"PREFIX : <http://e/>\n(query {select} {streams} (sequence {steps}) {rest})", Query)


def scan(label: str, *variables: str, filters: str = "", stream: str = ":s") -> str:
    triples = " ".join(f"(triple ?{v} :p{v} ?o{v})" for v in variables)
    return f'(scan "{label}" {stream} (bgp {triples}) (filters {filters}))'


A = scan("A", "x")
B = scan("B", "y")
SUM_OF_B = '(< 9 (iteration-aggregate "SUM" "B" ?y))'
KLEENE = f'(iteration {scan("B", "y", filters="(> ?y (previous ?y))")} strict "y" "oy")'

KEPT = [
    query(f"(step {A})"),
    query(f"(step {A}) (step next {A})"),
    query(f"(step {A}) (step any {scan('B', 'y', filters='(> ?y ?x)')})"),
    query(f"(step (negation {B})) (step strict {A})"),
    query(f"(step {A}) (step next (negation {scan('B', 'y', filters='(= ?x ?y)')}))", rest="(window (tumbling 5s))"),
    query(f"(step (conjunction {A} {scan('B', 'y', filters='(= ?x ?y)')}))"),
    query(f"(step (disjunction {A} {B}))", select="(select ?x ?y)"),
    query(f"(step (optional {A})) (step strict {scan('C', 'z', filters='(= ?x ?z)')})"),
    query(f"(step {A}) (step strict {KLEENE})", select='(select ?x (?n (iteration-aggregate "COUNT" "B" ?y)) (?m (+ ?n 1)))'),
    query(f"(step {KLEENE}) (step strict {scan('A', 'x', filters=SUM_OF_B)})"),
    query(f"(step {A}) (step next {scan('B', 'x', stream=':t')})", rest="(window (counting 3)) (partition ?x)"),
    query(f"(step {A})", select="(construct (triple ?x :q ?_:fresh) (into :t))"),
    query(f"(step {A})", select="(ask)"),
    query(f"(step {scan('A', 'x', filters='(exists (bgp (triple ?unbound :p ?x)))')})"),
    query('(step (scan "A" :s (group (bgp (triple ?x :p ?v)) ((?x ?x)) (?n (aggregate "SUM" ?v)))))'),
    query('(step (scan "A" :s (slice (project (values (?x ?y) (1 none)) ?x) (limit 0))))'),
]


@pytest.mark.parametrize("kept", KEPT, ids=range(len(KEPT)))
def test_what_is_kept(kept: Query) -> None:
    check(kept)
    check(Program((kept, kept)))


ODD = '(compare "~" ?x 1)'
BROKEN = [
    ("steps", query(""), "a sequence has no steps"),
    ("steps", query(f"(step any {A})"), "the first step has the selection any"),
    ("steps", query(f"(step {A}) (step {B})"), "step 2 has no selection"),
    (
        "steps",
        query(f"(step (negation {A})) (step any (negation {B}))", rest="(window (sliding 5s))"),
        "every step is a negation",
    ),
    ("steps", query(f"(step (conjunction {A} (disjunction {B} (optional {B}))))"), "a Disjunction holds a Optional"),
    ("labels", query(f"(step {A}) (step any {scan('A', 'y')})"), "two different scans are labelled A"),
    (
        "streams",
        query(f"(step {A})", streams="((stream :t))"),
        "the scan A reads <http://e/s>, which the query does not declare",
    ),
    ("streams", query(f"(step {A})", streams="((stream :s) (stream :s))"), "the stream <http://e/s> is declared twice"),
    (
        "streams",
        query(f"(step {A})", streams='((stream :s (alias "S")) (stream :t (alias "S")))'),
        "the alias S is declared twice",
    ),
    ("filters", query(f"(step {scan('A', 'x', filters='(> ?x ?y)')}) (step any {B})"), "a filter of A uses ?y"),
    ("filters", query(f"(step (negation {B})) (step any {scan('A', 'x', filters='?y')})"), "a filter of A uses ?y"),
    ("filters", query(f"(step (disjunction {B} {scan('A', 'x', filters='?y')}))"), "a filter of A uses ?y"),
    ("filters", query(f"(step (conjunction {scan('A', 'x', filters='?y')} {B}))"), "a filter of A uses ?y"),
    ("iterations", query(f'(step (iteration {A} next "x" "x"))'), "?x is local to A twice"),
    ("iterations", query(f'(step (iteration {A} next "q"))'), "?q is local to A, which does not bind it"),
    (
        "iterations",
        query(f'(step {A}) (step any (iteration {scan("B", "x")} strict "x"))'),
        "?x is local to B and bound before it",
    ),
    ("iterations", query(f"(step {scan('A', 'x', filters='(previous ?x)')})"), "a filter of A uses PREV(?x)"),
    (
        "iterations",
        query(f"(step {B}) (step any (iteration {scan('A', 'x', filters='(previous ?y)')} strict))"),
        "uses PREV(?y)",
    ),
    ("iterations", query(f"(step {A})", select="(select (?v (previous ?x)))"), "PREV(?x) stands in the result"),
    (
        "iterations",
        query(f"(step {A})", select='(select (?n (iteration-aggregate "SUM" "A" ?x)))'),
        "SUM(A.?x) refers to no earlier",
    ),
    (
        "iterations",
        query(f"(step (iteration {A} next))", select='(select (?n (iteration-aggregate "SAMPLE" "A" ?x)))'),
        "SAMPLE is no",
    ),
    ("iterations", query(f"(step (iteration {scan('B', 'y', filters=SUM_OF_B)} next))"), "SUM(B.?y) refers to no earlier"),
    ("windows", query(f"(step {A})", rest="(window (tumbling 0s))"), "a window of 0 d"),
    ("windows", query(f"(step {A})", rest="(window (sliding -5 units))"), "a window of -5 time units"),
    ("windows", query(f"(step {A})", rest="(window (counting 0))"), "a window of 0 events"),
    ("windows", query(f"(step {A}) (step any (optional {B}))"), "B is a trailing Optional and there is no window to close"),
    ("partition", query(f"(step {A}) (step any {B})", rest="(partition ?x)"), "the scan B does not bind ?x"),
    (
        "partition",
        query(f"(step {A}) (step any (negation {B})) (step any {A})", rest="(partition ?x)"),
        "the scan B does not bind ?x",
    ),
    ("partition", query(f"(step {A})", rest="(partition ?x ?x)"), "?x is named twice"),
    ("result", query(f"(step {A})", select="(select ?x ?x)"), "the column ?x is there twice"),
    ("result", query(f"(step {A})", select="(select ?q)"), "the column ?q uses ?q, which nothing binds"),
    ("result", query(f"(step {A})", select="(select (?m (+ ?n 1)) (?n ?x))"), "the column ?m uses ?n, which nothing binds"),
    ("result", query(f"(step (negation {B})) (step any {A})", select="(select ?y)"), "the column ?y uses ?y"),
    ("result", query(f"(step {A})", select="(construct (triple ?x :q ?q))"), "the template uses ?q, which nothing binds"),
    ("expressions", query(f"(step {scan('A', 'x', filters=ODD)})"), "'~' compares nothing"),
    ("expressions", query(f"(step {A})", select='(select (?n (arithmetic "%" ?x 1)))'), "'%' is no arithmetic"),
    ("expressions", query(f"(step {A})", select='(select (?n (aggregate "SUM" ?x)))'), "SUM stands outside a Group"),
    ("expressions", query('(step (scan "A" :s (group (bgp) () (?x (aggregate "MODE" none)))))'), "'MODE' is no set function"),
    ("patterns", query('(step (scan "A" :s (values (?x) (1 2))))'), "a row of 2 terms for 1 variables"),
    ("patterns", query('(step (scan "A" :s (values (?x ?x))))'), "VALUES names ?x twice"),
    ("patterns", query('(step (scan "A" :s (extend (bgp (triple ?x :p 1)) ?x 2)))'), "?x is bound again"),
    ("patterns", query('(step (scan "A" :s (project (bgp (triple ?x :p 1)) ?x ?x)))'), "?x is projected twice"),
    ("patterns", query('(step (scan "A" :s (slice (bgp (triple ?x :p 1)) (offset -1))))'), "a slice from -1 of None"),
    ("patterns", query('(step (scan "A" :s (slice (bgp (triple ?x :p 1)) (limit -1))))'), "a slice from 0 of -1"),
]


@pytest.mark.parametrize(("invariant", "broken", "detail"), BROKEN, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(BROKEN)])
def test_what_is_broken_is_named(invariant: str, broken: Query, detail: str) -> None:
    with pytest.raises(InvariantError) as caught:
        check(broken, after="some_rule")
    assert (caught.value.invariant, caught.value.after) == (invariant, "some_rule")
    assert str(caught.value).startswith(f"after some_rule, {invariant}: ")
    assert detail in str(caught.value)


def test_every_invariant_has_a_query_that_breaks_it() -> None:
    assert {name for name, _, _ in BROKEN} == set(INVARIANTS)


def test_a_program_is_checked_query_by_query() -> None:
    with pytest.raises(InvariantError, match=r"^windows: "):
        check(Program((KEPT[0], query(f"(step {A})", rest="(window (counting -1))"))))
