"""RDF Messages: datasets that are one message each, and the logs that hold them one behind the other.

The draft of the W3C group for RDF stream processing (https://w3c-cg.github.io/rsp/spec/messages). A message without named
graphs is one event, whose time stands inside; with named graphs each of them is an event, as in any document. An empty message
is a sign of life, and no event. Blank nodes belong to their message. A message that is malformed is a dead letter as a whole,
and the next one is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

import pyoxigraph as ox

from scepter.rdf.batch import DeadLetter
from scepter.rdf.letters import SHOWN
from scepter.rdf.limits import BeyondLimit, ReadLimits, check_json, check_turtle
from scepter.rdf.rdf12 import spelled

_DEFAULT: Final = ox.DefaultGraph()
_DIRECTIVE: Final = re.compile(
    rb"(?i:@?prefix)\s+(?P<prefix>[^\s:]*+):\s*<(?P<iri>[^<>\s]*)>|(?i:@?base)\s*<(?P<base>[^<>\s]*)>"
)
# What must be passed over as a whole to see a delimiter where one may stand: strings, IRIs, comments.
_TOKEN: Final = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*"""'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?:[^'\\\n]|\\.)*'"
    rb"|<[^<>\"{}|^`\s]*>"
    rb"|#[^\n]*"
    rb"|(?P<directive>@(?:prefix|base)\b|(?<![^\s.}>])(?:prefix|base)(?=[\s<]))"
    rb"|(?P<message>@message\s*\.|(?<![^\s.}>])MESSAGE(?=[\s#<_@\[({]|\Z))"
    rb"|(?P<open>\{)|(?P<close>\})"
    rb"|[\w:%-][\w:.%-]*",
    re.IGNORECASE | re.DOTALL,
)


def by_graph(quads: Iterable[ox.Quad]) -> Iterator[bytes]:
    """The events of a dataset as N-Quads, one after the other in the order of their graphs' first appearance. What the default
    graph says of a name goes with the name's graph."""
    graphs: dict[str, list[str]] = {}
    for quad in quads:
        if quad.graph_name == _DEFAULT:
            graphs.setdefault(str(quad.subject), []).append(f"{quad.subject} {quad.predicate} {spelled(quad.object)} .\n")
        else:
            name = str(quad.graph_name)
            graphs.setdefault(name, []).append(f"{quad.subject} {quad.predicate} {spelled(quad.object)} {name} .\n")
    for lines in graphs.values():
        yield "".join(lines).encode()


def message_events(quads: list[ox.Quad]) -> bytes:
    """The events of a message as N-Quads. One without named graphs is called by the IRI that all others hang on."""
    if not all(quad.graph_name == _DEFAULT for quad in quads):
        return b"".join(by_graph(quads))
    inner = {quad.object for quad in quads}
    roots = [quad.subject for quad in quads if isinstance(quad.subject, ox.NamedNode) and quad.subject not in inner]
    # read as a log of one message, whose name is its first subject
    quads.sort(key=lambda quad: not roots or quad.subject != roots[0])
    lines = "".join(f"{quad.subject} {quad.predicate} {spelled(quad.object)} .\n" for quad in quads)
    return f'VERSION "1.2-messages"\n{lines}'.encode()


MADE_NOTHING: Final = "the context makes no triple of it"
"""How the reason begins of a document in which a context that was given knows nothing."""
UNNAMED: Final = "JSON-LD that makes no triple: no context names its keys; plain JSON takes --map or --context"
"""The reason of a document that brings no context, and has none above it."""


def is_unnamed(document: bytes) -> bool:
    """Whether a document of JSON-LD that makes no triple has something to say all the same, in keys that nobody explains.

    >>> is_unnamed(b'{"value": 1}'), is_unnamed(b'{"@id": "http://e/a"}')
    (True, False)
    """
    try:
        found = json.loads(document)
    except (ValueError, RecursionError):
        return False
    parts = found if isinstance(found, list) else [found]
    return any(isinstance(part, dict) and any(not key.startswith("@") for key in part) for part in parts)


TO_FETCH: Final = "its context would have to be fetched: write it into the document"


def is_to_fetch(error: SyntaxError) -> bool:
    """Whether the parser of JSON-LD asked for a document of the web."""
    return "LoadDocumentCallback" in error.msg


def json_ld_fault(document: bytes, error: SyntaxError) -> str:
    """Why a document is no JSON-LD, in the places of the document itself: a context may have been put before it."""
    if is_to_fetch(error):
        return TO_FETCH
    try:
        json.loads(document)
    except json.JSONDecodeError as fault:
        return f"not JSON: {fault.msg.removesuffix(' at')}"
    except (ValueError, RecursionError):  # not UTF-8, or too deep for Python: the parser's words are good enough
        pass
    return f"not JSON-LD: {error.msg}"


class JsonMessages:
    """The messages of newline-delimited JSON-LD, each read under the context that was given last: before all of them, or by a
    document that holds `@context` and nothing else."""

    _CONTEXT: Final = re.compile(rb'\s*\{\s*"@context"')

    def __init__(
        self, source: str, dead_letter: Callable[[DeadLetter], None], limits: ReadLimits, context: str | None = None
    ) -> None:
        self._source = source
        self._dead_letter = dead_letter
        self._limits = limits
        self._context = None if context is None else context.encode()
        self._plain = context is not None
        """Whether documents are plain JSON, which means something by the given context alone."""

    def read(self, text: bytes, line: int | None) -> bytes:
        """The events of one document as N-Quads; nothing of a context, an empty message, or what is a dead letter."""
        document = text
        try:
            check_json(text, self._limits)
            if text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
                self._refuse(text, line, "a document that is no object")
                return b""
            if self._CONTEXT.match(text) and self._takes(text):
                return b""
            if self._context is not None:
                # as the draft wraps it: a context of the message's own is processed behind the one above
                text = b'{"@context":%s,"@graph":%s}' % (self._context, text)
            quads = list(ox.parse(text, format=ox.RdfFormat.JSON_LD))
            if self._plain and not quads and json.loads(document):
                self._refuse(document, line, f'{MADE_NOTHING}: keys need a term or "@vocab", an "@id" that is relative "@base"')
            elif not quads and is_unnamed(document):
                self._refuse(document, line, UNNAMED)
            return message_events(quads)
        except BeyondLimit as error:
            self._refuse(document, line, str(error))
        except SyntaxError as error:
            self._refuse(document, line, json_ld_fault(document, error))
        except (ValueError, RecursionError) as error:
            self._refuse(document, line, f"not readable as JSON-LD: {error}")
        return b""

    def _takes(self, text: bytes) -> bool:
        """Whether a document is a context for those behind it."""
        found = json.loads(text)
        if not isinstance(found, dict) or found.keys() != {"@context"}:
            return False
        self._context = json.dumps(found["@context"]).encode()
        return True

    def _refuse(self, text: bytes, line: int | None, reason: str) -> None:
        shown = text[:SHOWN].decode("utf-8", errors="replace").rstrip()
        self._dead_letter(DeadLetter(self._source, line, reason, shown))


def log_events(
    text: bytes, format: ox.RdfFormat, source: str, dead_letter: Callable[[DeadLetter], None], limits: ReadLimits
) -> Iterator[tuple[bytes, int]]:
    """The messages of a log in Turtle or TriG as N-Quads, each with the line it begins on."""
    for body, header, line in _messages(text):
        try:
            check_turtle(body, limits)
            quads = list(ox.parse(header + body, format=format))
        except BeyondLimit as error:
            dead_letter(DeadLetter(source, line, str(error)))
        except SyntaxError as error:
            shown = body[:SHOWN].decode("utf-8", errors="replace").strip()
            place = line + max(error.lineno or 1, 1) - 1
            dead_letter(DeadLetter(source, place, f"not {format.name}: {error.msg.split(': ', 1)[-1]}", shown))
        except (OSError, ValueError) as error:
            dead_letter(DeadLetter(source, line, f"not readable as {format.name}: {error}"))
        else:
            if quads:
                yield message_events(quads), line


@dataclass(slots=True)
class _Directives:
    """The prefixes and the base that messages so far have declared; they rule those behind."""

    base: str = ""
    prefixes: dict[str, str] = field(default_factory=dict)

    def declare(self, directive: re.Match[bytes]) -> None:
        """One more; IRIs are resolved against the base that rules now."""
        iri = urljoin(self.base, (directive["base"] or directive["iri"] or b"").decode("utf-8", errors="replace"))
        if directive["prefix"] is None:
            self.base = iri
        else:
            self.prefixes[directive["prefix"].decode("utf-8", errors="replace")] = iri

    def header(self) -> bytes:
        """All of them in one line, so that lines of errors are the message's own."""
        base = f"BASE <{self.base}> " if self.base else ""
        return (base + "".join(f"PREFIX {name}: <{iri}> " for name, iri in self.prefixes.items())).encode()


def _messages(text: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """The text of each message, the directives of those before it, and its own first line."""
    above = _Directives()
    own: list[re.Match[bytes]] = []
    begin, line, depth = 0, 1, 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "directive" if (whole := _DIRECTIVE.match(text, token.start())) is not None:
                own.append(whole)
            case "message" if depth <= 0:
                yield text[begin : token.start()], above.header(), line
                for directive in own:
                    above.declare(directive)
                line += text.count(b"\n", begin, token.end())
                begin, depth = token.end(), 0
                own.clear()
    yield text[begin:], above.header(), line
