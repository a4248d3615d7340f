"""SPARQL's own test tables: files of data and queries, one file per area of the language.

A file is a list of sections. `=== data` is the default graph of what follows, in Turtle, and `=== graph IRI` a named graph
beside it. `=== query NAME` is a query whose solutions are compared as a multiset, `=== ordered NAME` one whose ORDER BY leaves
no choice, so that they are compared as a sequence. `=== refused NAME` is no query at all. What another engine answers is the
expectation; where that engine departs from SPARQL or has no single answer, `=== expect` after the query says it: rows as
VALUES, a graph as Turtle, or a boolean. Lines that begin with `#` between sections are comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROLOGUE = "".join(
    f"PREFIX {name}: <{iri}>\n"
    for name, iri in {
        "": "http://example/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    }.items()
)
"""Stands before all data and every query."""


@dataclass
class Data:
    """A default graph and named graphs, in Turtle."""

    default: str
    named: dict[str, str] = field(default_factory=dict)


@dataclass
class QueryTest:
    """One query over some data."""

    name: str
    kind: str
    data: Data
    text: str
    expect: str | None = None


def read_area(path: Path) -> Iterator[QueryTest]:
    """The tests of a file."""
    data = Data("")
    test: QueryTest | None = None
    for head, body in _sections(path.read_text("utf-8")):
        word, _, rest = head.partition(" ")
        match word:
            case "data":
                data = Data(PROLOGUE + body)
            case "graph":
                data.named[rest] = PROLOGUE + body
            case "query" | "ordered" | "refused":
                if test is not None:
                    yield test
                test = QueryTest(rest, word, data, PROLOGUE + body)
            case "expect":
                assert test is not None and test.expect is None, f"{path.name}: an expectation of nothing"
                test.expect = body
            case _:
                raise AssertionError(f"{path.name}: no such section: {head}")
    if test is not None:
        yield test


def _sections(text: str) -> Iterator[tuple[str, str]]:
    for section in ("\n" + text).split("\n=== ")[1:]:
        head, _, body = section.partition("\n")
        lines = body.splitlines()
        while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
            lines.pop()
        yield head.strip(), "\n".join(lines) + "\n"
