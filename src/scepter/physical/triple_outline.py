"""The plans of queries over the triples of streams: operators, windows, and what of the schema they use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery, Extent, LastTriples, PeriodicQuery, Range
from scepter.algebra.expressions import Constant
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import PathPattern, Pattern, TriplePattern
from scepter.algebra.query import Stream
from scepter.algebra.walk import find
from scepter.algebra.windows import Report
from scepter.ontology.schema import Schema, SchemaLink
from scepter.physical.tree import Node
from scepter.rdf.terms import IRI, TYPE, Term, Triple

_MOST_BELOW = 8
_DEEPEST = 4
"""So much of a network is drawn; the counts are of all of it."""


def extents(query: ContinuousQuery, notation: Notation) -> Iterator[str]:
    """How long the triples of each stream count, and what is static."""
    yield from (f"stream {_stream(s.stream, notation)}: {_counts(s.extent)}" for s in query.sources)
    if not query.sources:
        yield f"every stream given: {_counts(query.otherwise)}"
    if query.graphs:
        yield f"static data and schema: {', '.join(notation.term(name) for name in query.graphs)}"


def _counts(extent: Extent) -> str:
    match extent:
        case Range(duration):
            return f"a triple counts for {duration}"
        case LastTriples(count):
            return f"a triple counts while it is among the last {count}"
        case None:
            return "a triple counts for ever"
        case _:
            assert_never(extent)


def continuous_notes(query: ContinuousQuery, notation: Notation) -> Iterator[str]:
    """When matches are reported, and what of the schema is used."""
    lasting = [source.extent for source in query.sources] or [query.otherwise]
    unbounded = "; a stream without a window is never forgotten" if None in lasting else ""
    yield "evaluated: continuously; a match is reported once, when its last triple is known"
    yield f"release: triples are dropped when they count no more{unbounded}"
    yield _schema(query.pattern, notation)


def periodic_notes(query: PeriodicQuery, notation: Notation) -> Iterator[str]:
    """When it is evaluated, and what of the schema is used."""
    steps = " and ".join(dict.fromkeys(str(source.step) for source in query.sources))
    when = "whose window holds an event" if query.report is Report.CONTENT_CHANGE else "from the first event on"
    yield f"evaluated: at every multiple of {steps} {when}, over all windows and static data at once"
    yield _schema(query.pattern, notation)


def _stream(stream: Stream, notation: Notation) -> str:
    return stream.alias or notation.term(stream.iri)


# ---- the schema


def _schema(pattern: Pattern, notation: Notation) -> str:
    """Which words of the patterns keep a part of the schema; a path or a variable as predicate can use all of it."""
    triples = list(find(pattern, TriplePattern))
    if next(find(pattern, PathPattern), None) is not None or not all(isinstance(t.predicate, Constant) for t in triples):
        return "schema: all of it is used, as a pattern can match any predicate"
    words: dict[str, None] = {}
    for triple in triples:
        assert isinstance(triple.predicate, Constant)
        if triple.predicate.term != IRI(TYPE):
            words[notation.term(triple.predicate.term)] = None
        elif not isinstance(triple.object, Constant):
            words["every class"] = None
        else:
            words[notation.term(triple.object.term)] = None
    return f"schema: reduced before the run to what the patterns use: {', '.join(words) or 'nothing'}"


def networks(pattern: Pattern, notation: Notation, ontology: Sequence[Triple]) -> Iterator[Node]:
    """The schema as it is given and as it is run (the paper's epsilon network before and after its pre-processing)."""
    full = Schema.from_triples(ontology)
    if not full:
        return
    uses: list[TriplePattern | PathPattern] = [*find(pattern, TriplePattern), *find(pattern, PathPattern)]
    for name, schema in (("as given", full), ("reduced", full.reduced(uses))):
        yield Node(f"Schema {name}", (str(schema.describe()),), tuple(_network(schema.links(), notation)))


def _network(links: Sequence[SchemaLink], notation: Notation) -> Iterator[Node]:
    """Each word below those that it leads to; a word that leads to several stands below each, its own links below the first."""
    below: defaultdict[Term, list[SchemaLink]] = defaultdict(list)
    for link in links:
        below[link.high].append(link)
    lows = {link.low for link in links if link.low != link.high}
    seen: set[Term] = set()

    def drawn(word: Term, how: str, depth: int) -> Node:
        label = f"{how} {notation.term(word)}" if how else notation.term(word)
        if word in seen:
            return Node(label)
        seen.add(word)
        return Node(label, (), tuple(children(word, depth + 1)))

    def children(word: Term, depth: int) -> Iterator[Node]:
        own = below.get(word, [])
        shown = own[:_MOST_BELOW] if depth < _DEEPEST else []
        for link in shown:
            yield drawn(link.low, f"◂ {link.rule}", depth)
        if len(own) > len(shown):
            yield Node(f"… {len(own) - len(shown)} more")

    roots = [word for word in list(below) if word not in lows]
    reached = _reached(roots, below)
    for word in list(below):
        if word not in reached:  # a circle has no root
            roots.append(word)
            reached |= _reached([word], below)
    for word in roots[:_MOST_BELOW]:
        yield drawn(word, "", 0)
    if len(roots) > _MOST_BELOW:
        yield Node(f"… {len(roots) - _MOST_BELOW} more")


def _reached(roots: Sequence[Term], below: dict[Term, list[SchemaLink]]) -> set[Term]:
    found = set(roots)
    pending = list(roots)
    while pending:
        for link in below.get(pending.pop(), ()):
            if link.low not in found:
                found.add(link.low)
                pending.append(link.low)
    return found
