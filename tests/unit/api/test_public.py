"""The public names: all there, all explained, none that fails from the depths when it is called wrongly."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scepter
from scepter import IRI, Event, Literal
from scepter.errors import ScepterError

QUERY = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
TWO = (
    "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> FROM STREAM T <http://e/t> "
    "WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x ?p ?o } DEFINE GPM B ON T { ?x ?p ?q } }"
)
GRAPH = "<http://e/a> <http://e/p> 1 ."


def test_completion_offers_the_public_names_and_nothing_else() -> None:
    offered = [name for name in dir(scepter) if not name.startswith("_")]
    assert offered == sorted(name for name in scepter.__all__ if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(set(scepter.__all__) - {"__version__"}))
def test_every_public_name_is_explained(name: str) -> None:
    public = getattr(scepter, name)
    assert inspect.signature(public).parameters
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        for member, value in inspect.getmembers(public, inspect.isfunction):
            assert member.startswith("_") or value.__module__.partition(".")[0] != "scepter" or inspect.getdoc(value), member


@pytest.mark.parametrize("name", sorted(set(scepter.__all__) - {"__version__"}))
def test_every_public_name_has_an_example(name: str) -> None:
    assert doctest.DocTestParser().get_examples(inspect.getdoc(getattr(scepter, name)) or "")


def query(text: str = QUERY) -> scepter.Query:
    return scepter.parse(text)


def engine() -> scepter.Engine:
    return scepter.Engine(query())


def event(**more: Any) -> Event:
    return Event(**{"stream": "http://e/s", "graph": GRAPH, "start": 1, **more})


NOT_A_FILE = "/no/such/file.nq"
WRONG: dict[str, Callable[[], object]] = {
    "parse a number": lambda: scepter.parse(5),  # type: ignore[arg-type]
    "parse nothing": lambda: scepter.parse(None),  # type: ignore[arg-type]
    "parse an empty text": lambda: scepter.parse(""),
    "parse bytes": lambda: scepter.parse(b"SELECT"),  # type: ignore[arg-type]
    "parse a file that is not there": lambda: scepter.parse(Path("/no/such/query.spaseq")),
    "parse a folder": lambda: scepter.parse(Path("/")),
    "parse the name of a file": lambda: scepter.parse(__file__),
    "an unknown language": lambda: scepter.parse(QUERY, "sparql"),
    "a language that is no text": lambda: scepter.parse(QUERY, 7),  # type: ignore[arg-type]
    "an unknown format": lambda: query().explain("pdf"),
    "run_local of text": lambda: scepter.run_local(QUERY, []),  # type: ignore[arg-type]
    "run_local of nothing": lambda: scepter.run_local(None, []),  # type: ignore[arg-type]
    "no streams": lambda: query().run(None),
    "a number as stream": lambda: query().run(7),
    "a file that is not there": lambda: query().run({"S": NOT_A_FILE}),
    "standard input": lambda: query().run("-"),
    "one event": lambda: query().run(event()),
    "events that are none": lambda: query().run(["a", "b"]),
    "an event of another stream": lambda: query().run([event(stream="http://e/t")]),
    "an unknown stream": lambda: query().run({"Q": []}),
    "a stream by number": lambda: query().run({5: []}),
    "a stream twice": lambda: query().run({"S": [], "http://e/s": []}),
    "a stream that is missing": lambda: query(TWO).run({"S": []}),
    "two streams, one source": lambda: query(TWO).run([]),
    "a table without its columns": lambda: query().run(__import__("pyarrow").table({"a": [1]})),
    "a table of other graphs": lambda: query().run(__import__("pyarrow").table({"start": [1], "end": [1], "graph": ["x"]})),
    "an unknown scheme": lambda: query().run("ftp://host/file"),
    "a diagnosis of nothing": lambda: query().diagnose(None),
    "a report into a folder": lambda: query().report([event()], "/"),
    "a report into no folder": lambda: query().report([event()], "/no/such/folder/x.html"),
    "a policy": lambda: query().run([], policy=7),
    "a time unit": lambda: query().run([], time_unit=7),
    "an unknown time unit": lambda: query().run([], time_unit="fortnight"),
    "a start": lambda: query().run([], start=[]),
    "instants": lambda: query().run([], evaluate_at=5),
    "instants as text": lambda: query().run([], evaluate_at="8,10"),
    "a delay": lambda: query().run([], max_delay=object()),
    "derivations": lambda: query().run([], max_derivations=-1),
    "a background": lambda: query().run([], background=7),
    "a background of numbers": lambda: query().run([], background={None: [7]}),
    "a background that is not there": lambda: query().run([], background=NOT_A_FILE),
    "a background that is a folder": lambda: query().run([], background="/"),
    "a background that is no Turtle": lambda: query().run([], background="no\nTurtle"),
    "an ontology": lambda: query().run([], ontology=7),
    "an ontology that is not there": lambda: query().run([], ontology=NOT_A_FILE),
    "an engine of text": lambda: scepter.Engine(QUERY),  # type: ignore[arg-type]
    "an engine with a wrong background": lambda: scepter.Engine(query(), background=7),  # type: ignore[arg-type]
    "pushing text": lambda: engine().push("a"),  # type: ignore[arg-type]
    "pushing one as many": lambda: engine().push_all(event()),  # type: ignore[arg-type]
    "pushing a number as many": lambda: engine().push_all(5),  # type: ignore[arg-type]
    "advancing to nothing": lambda: engine().advance(None),  # type: ignore[arg-type]
    "advancing to a word": lambda: engine().advance("soon"),
    "an event of no stream": lambda: event(stream=None),
    "an event of a number": lambda: event(graph=5),
    "an event of pairs": lambda: event(graph=[(IRI("http://e/a"), IRI("http://e/p"))]),
    "an event of texts": lambda: event(graph=[("a", "b", "c")]),
    "an event of a literal": lambda: event(graph=[(Literal("a"), IRI("http://e/p"), Literal("b"))]),
    "an event of broken Turtle": lambda: event(graph="<a"),
    "an event of nothing": lambda: event(graph=""),
    "an event at no time": lambda: engine().push(event(start=None)),
    "an event at a truth value": lambda: event(start=True),
    "an event at a float": lambda: event(start=1.5),
    "an event that ends before it starts": lambda: event(start=5, end=1),
    "an event of two kinds of time": lambda: event(start=5, end="2026-01-01T00:00:00Z"),
    "an event with a number as name": lambda: event(name=5),
    "an event with prefixes of the wrong type": lambda: event(prefixes=[]),
    "Spark is not the second argument": lambda: scepter.run(query(), {"S": NOT_A_FILE}, None),  # type: ignore[arg-type]
    "Spark is text": lambda: scepter.run(query(), "local[2]", {"S": NOT_A_FILE}),  # type: ignore[arg-type]
    "Spark, and a query of text": lambda: scepter.run(QUERY, None, {}),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_told_with_the_fix(what: str) -> None:
    with pytest.raises(ScepterError) as caught:
        WRONG[what]()
    assert caught.value.code
    assert "object at 0x" not in str(caught.value) or what == "a delay"


def test_the_way_from_run_to_run_local_is_told() -> None:
    with pytest.raises(scepter.OptionError, match=r"scepter\.run_local\(query, streams\)"):
        scepter.run(query(), {"S": NOT_A_FILE}, None)  # type: ignore[arg-type]
