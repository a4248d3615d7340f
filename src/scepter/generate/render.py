"""Blocks of events as text: one template per block, filled row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

import numpy as np

from scepter.generate.draws import Indices
from scepter.generate.model import Field, FormatName, Shape, TimeName
from scepter.rdf.terms import IRI, PROV, XSD, BlankNode, Literal, parse_term

_GENERATED = f"<{PROV}generatedAtTime>"
_ORIGIN = np.datetime64("2026-01-01T00:00:00", "ms")


@dataclass(frozen=True, slots=True)
class Block:
    """Successive events of a stream, in time order."""

    index: Indices
    """Their numbers within the stream."""
    names: list[str]
    """Graph names in N-Triples form."""
    times: Indices
    """Milliseconds."""
    shape: Shape


@dataclass(frozen=True, slots=True)
class Format:
    """How a stream file is put together."""

    extension: str
    render: Callable[[Block, list[str]], list[str]]
    """The text of each event of a block, given the events' time literals."""
    head: str = ""
    between: str = ""
    foot: str = ""


def time_literals(times: Indices, kind: TimeName) -> list[str]:
    """The times as literals in N-Triples form."""
    match kind:
        case "integer":
            return [f'"{time}"^^<{XSD}integer>' for time in times.tolist()]
        case "datetime":
            texts: list[str] = np.datetime_as_string(_ORIGIN + times.astype("timedelta64[ms]"), unit="ms").tolist()
            return [f'"{text}Z"^^<{XSD}dateTime>' for text in texts]
        case _:
            assert_never(kind)


def _nquads(block: Block, literals: list[str]) -> list[str]:
    parts: list[Field] = []
    for subject, predicate, value in block.shape:
        parts += [subject, " ", predicate, " ", value, " ", block.names, " .\n"]
    parts += [block.names, f" {_GENERATED} ", literals, " .\n"]
    return _fill(parts, len(block.names))


def _ntriples(block: Block, literals: list[str]) -> list[str]:
    ((subject, predicate, value),) = block.shape
    return _fill([subject, " ", predicate, " ", value, " ", literals, " .\n"], len(block.names))


def _trig(block: Block, literals: list[str]) -> list[str]:
    parts: list[Field] = [block.names, " {\n"]
    for subject, predicate, value in block.shape:
        parts += ["  ", subject, " ", predicate, " ", value, " .\n"]
    parts += ["}\n", block.names, " prov:generatedAtTime ", literals, " .\n"]
    return _fill(parts, len(block.names))


def _jsonld(block: Block, literals: list[str]) -> list[str]:
    parts: list[Field] = ['{"@id": ', _json(block.names, _json_name), f', "{PROV}generatedAtTime": ']
    parts += [_json(literals, _json_node), ', "@graph": [']
    for number, (subject, predicate, value) in enumerate(block.shape):
        parts += [", " if number else "", '{"@id": ', _json(subject, _json_name), ", "]
        parts += [_json(predicate, _json_name), ": ", _json(value, _json_node), "}"]
    parts.append("]}")
    return _fill(parts, len(block.names))


def _json(field: Field, rendering: Callable[[str], str]) -> Field:
    return rendering(field) if isinstance(field, str) else [rendering(text) for text in field]


@lru_cache(maxsize=65_536)
def _json_name(text: str) -> str:
    term = parse_term(text)
    return json.dumps(term.value if isinstance(term, IRI) else text)


@lru_cache(maxsize=65_536)
def _json_node(text: str) -> str:
    match parse_term(text):
        case IRI(value):
            return json.dumps({"@id": value})
        case BlankNode(label):
            return json.dumps({"@id": f"_:{label}"})
        case Literal(lexical, _, str(language)):
            return json.dumps({"@value": lexical, "@language": language})
        case Literal(lexical, datatype):
            return json.dumps({"@value": lexical, "@type": datatype})
        case unreachable:
            assert_never(unreachable)


def _fill(parts: list[Field], rows: int) -> list[str]:
    template = "".join("%s" if isinstance(part, list) else part.replace("%", "%%") for part in parts)
    columns = [part for part in parts if isinstance(part, list)]
    texts = [template % row for row in zip(*columns, strict=True)]
    if len(texts) != rows:
        raise ValueError(f"{len(texts)} rows for {rows} events")
    return texts


FORMATS: Mapping[FormatName, Format] = {
    "nquads": Format(".nq", _nquads),
    "trig": Format(".trig", _trig, head=f"PREFIX prov: <{PROV}>\n"),
    "jsonld": Format(".jsonld", _jsonld, head="[\n", between=",\n", foot="\n]\n"),
    "ntriples": Format(".nt", _ntriples),
}
"""`ntriples` is the timestamped form for events of one triple."""
