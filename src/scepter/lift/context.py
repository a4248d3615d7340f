"""A JSON-LD context applied to plain JSON: the second way to make events of documents, where a mapping is the first.

Each document is a message of newline-delimited JSON-LD that the context stands above; what the context does not name makes no
triple. The time is a property like any other, which `--time-property` names.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import pyoxigraph as ox

from scepter.errors import OptionError, a_type, option_error
from scepter.lift.documents import json_documents
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.limits import DEFAULT, BeyondLimit, check_json, loads
from scepter.rdf.messages import JsonMessages
from scepter.rdf.readers import Document, Reader, Reading, message_batches

_JSON: Final = frozenset({".json", ".jsonl", ".ndjson"})
_START: Final = b"{["


@dataclass(frozen=True, slots=True)
class ContextReaders:
    """A context as readers of JSON."""

    text: str
    """The context itself, as JSON."""
    name: str = "context"

    @property
    def option(self) -> tuple[str, str]:
        """As `format("rdf")` takes it."""
        return "context", self.text

    def reader(self, extension: str) -> Reader | None:
        """The reader of JSON and JSON lines; other files are read as they are."""
        return self._json if extension in _JSON else None

    def sniff(self, head: bytes) -> str | None:
        """JSON is told by its first character."""
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return ".jsonl" if start and start in _START else None

    def laid_out(self, text: bytes) -> bytes:
        """The triples of some documents as N-Quads."""
        messages = JsonMessages(self.name, lambda letter: None, DEFAULT, self.text)
        found = json_documents(io.BytesIO(text), self.name, lambda letter: None)
        read = (messages.read(json.dumps(each).encode(), None) for some in found for _, each in some)
        return b"".join(line for text in read for line in text.splitlines(keepends=True) if not line.startswith(b"VERSION"))

    def documents(self, documents: Iterable[Document], reading: Reading) -> Iterator[EventBatch]:
        """The events of documents that were read already."""
        messages = JsonMessages(reading.source_name, reading.dead_letter, reading.run.limits, self.text)
        yield from message_batches(_texts(messages, documents, reading), reading)

    def _json(self, file: IO[bytes], reading: Reading) -> Iterator[EventBatch]:
        found = json_documents(file, reading.source_name, reading.dead_letter, reading.run.limits)
        yield from self.documents((document for some in found for document in some), reading)


def _texts(messages: JsonMessages, documents: Iterable[Document], reading: Reading) -> Iterator[tuple[bytes, int | None]]:
    for line, found in documents:
        try:
            text = _written(found)
        except (TypeError, ValueError, RecursionError) as error:  # a dictionary at hand may have keys, or itself, within
            reading.dead_letter(DeadLetter(reading.source_name, line, f"not JSON: {error}"))
        else:
            yield messages.read(text, line), line


def _written(document: Any) -> bytes:
    """A document as JSON. Of rows of a program, NaN is a cell without a value, as in a table."""
    try:
        return json.dumps(document, default=str, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_without_nan(document), default=str, allow_nan=False).encode()


def _without_nan(given: Any) -> Any:
    match given:
        case dict():
            return {key: _without_nan(value) for key, value in given.items()}
        case list():
            return [_without_nan(value) for value in given]
        case float() if math.isnan(given):
            return None
    return given


def load_context(given: object) -> ContextReaders:
    """The context of a file, of a text of JSON, or of a dictionary; one in a document is what stands under its `@context`.

    >>> load_context({"@context": {"t": "http://example/t"}}).text
    '{"t": "http://example/t"}'
    """
    if isinstance(given, ContextReaders):
        return given
    if isinstance(given, (Mapping, list)):
        return _checked(given, "context")
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        return _checked(_parsed(given, "context"), "context")
    if not isinstance(given, (str, Path)):
        raise _wrong(f"context cannot be {type(given).__name__}", "give the path of a JSON-LD file, its text, or a dictionary")
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise option_error("no-such-file", f"--context: there is no file {path}") from None
    except (OSError, ValueError) as error:
        told = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = getattr(error, "strerror", None) or told
        raise option_error("not-readable", f"--context: {path} cannot be read: {reason}") from None
    return _checked(_parsed(text, str(path)), str(path))


def no_table(stream: str) -> OptionError:
    """The error for a table under a context."""
    return _wrong(f"a context makes events of JSON, and the stream {stream} is a table", "give a mapping for it: map=…")


def _wrong(message: str, help: str) -> OptionError:
    return option_error("context", message, help=help)


def _parsed(text: str, name: str) -> Any:
    try:
        return loads(text.encode("utf-8", errors="surrogatepass"), DEFAULT)
    except BeyondLimit as error:
        raise _wrong(f"{name} is no JSON-LD context: {error}", "see JSON-LD 1.1, section 4.1") from None
    except ValueError as error:
        raise _wrong(f"{name} is not JSON: {error}", 'a context is JSON: {"@context": {"name": "http://…"}}') from None


def _checked(found: Any, name: str) -> ContextReaders:
    """What is wrong with a context is told before any data is read."""
    context = found["@context"] if isinstance(found, Mapping) and "@context" in found else found
    for each in context if isinstance(context, list) else [context]:
        if isinstance(each, str):
            raise _wrong(f"{name}: the context <{each}> would have to be fetched", "save it, and give the file")
        if not isinstance(each, Mapping):
            raise _wrong(f"{name} holds no context but {a_type(each)}", 'write {"@context": {"name": "http://…"}}')
    try:
        text = json.dumps(context)
        check_json(text.encode(), DEFAULT)
        # a context that is wrong is told only where something is read under it
        list(ox.parse(f'{{"@context":{text},"@graph":[{{"urn:scepter:p":1}}]}}', format=ox.RdfFormat.JSON_LD))
    except (SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise _wrong(
            f"{name} is no JSON-LD context: {getattr(error, 'msg', None) or error}", "see JSON-LD 1.1, section 4.1"
        ) from None
    return ContextReaders(text, name)
