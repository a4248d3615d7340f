"""Wrong types to every public function, one argument at a time: told with the fix, never an error from the depths."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scepter
from scepter import Event, ScepterError

PREFIXES = {"": "http://example/"}
QUERY = """PREFIX : <http://example/> SELECT ?x WITHIN 10 FROM STREAM S <http://example/s>
    WHERE { SEQ (A) DEFINE GPM A ON S { ?x :v ?v FILTER (?v > 1) } }"""
EVENTS = [Event("http://example/s", ":a :v 2 .", 1, prefixes=PREFIXES)]
MAP = """
prefixes: {ex: "http://example/"}
time: $(t)
mappings: {m: {s: ex:a, po: [[ex:v, $(v), xsd:integer]]}}
"""
WRONG: dict[str, object] = {
    "a number": 3,
    "a float": 2.5,
    "bytes": b"\xff\xfe",
    "a list of nothing": [None],
    "a dictionary": {1: 2},
    "an object": object(),
    "a class": int,
    "a function": len,
    "text that means nothing": "\x00{",
    "a file that is not there": Path("/nowhere/at/all"),
    "a word longer than any file's name": "x" * 300,
    "what a file holds": "<http://example/a> <http://example/v> 2 .\n" * 8,
    "true": True,
    "a set": {"x"},
}


def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public callable, with arguments that are right."""
    query = scepter.parse(QUERY)
    matches = scepter.run_local(query, EVENTS)
    engine = scepter.Engine(query)
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "parse": (scepter.parse, {"text": QUERY}),
        "run_local": (scepter.run_local, {"query": query, "streams": EVENTS}),
        "run": (scepter.run, {"query": query, "spark": None, "streams": EVENTS}),
        "each_batch": (scepter.each_batch, {"write": print, "spark": None, "checkpoint": "state"}),
        "events": (scepter.events, {"rows": [{"t": 1, "v": 2}], "map": MAP}),
        "Engine": (scepter.Engine, {"query": query}),
        "Event": (scepter.Event, {"stream": "http://example/s", "graph": ":a :v 2 .", "start": 1, "prefixes": PREFIXES}),
        "Query.run": (query.run, {"streams": EVENTS}),
        "Query.diagnose": (query.diagnose, {"streams": EVENTS}),
        "Query.report": (query.report, {"streams": EVENTS}),
        "Query.explain": (query.explain, {}),
        "Engine.advance": (engine.advance, {"time": 5}),
        "Engine.push": (engine.push, {"event": EVENTS[0]}),
        "Engine.push_all": (engine.push_all, {"events": EVENTS}),
        "Matches.to_pandas": (matches.to_pandas, {}),
        "Matches.to_arrow": (matches.to_arrow, {}),
    }
    return found


def tries() -> Iterator[tuple[str, str]]:
    for name, (function, right) in calls().items():
        parameters = inspect.signature(function).parameters
        for parameter in parameters.values():
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                yield name, parameter.name
        assert set(right) <= set(parameters), name


def test_every_public_function_is_tried() -> None:
    functions = {name for name in dir(scepter) if inspect.isfunction(getattr(scepter, name)) and not name.startswith("_")}
    assert functions <= {name for name in calls() if "." not in name}
    assert {"Engine", "Event"} <= set(calls())


@pytest.mark.parametrize(("name", "parameter"), list(tries()))
def test_a_wrong_type_is_told(name: str, parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, right = calls()[name]
    for kind, wrong in WRONG.items():
        try:
            function(**{**right, parameter: wrong})
        except ScepterError as error:
            assert error.code and str(error).startswith("error["), f"{parameter}={kind}"
        except Exception as error:
            raise AssertionError(f"{name}({parameter}={kind}): {type(error).__name__}: {error}") from error
