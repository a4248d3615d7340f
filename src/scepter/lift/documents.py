"""JSON and JSON lines as rows: each document, or each item that the mapping iterates over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, Any, Final

from scepter.lift.paths import Path, parse_path
from scepter.lift.rows import DocumentRows
from scepter.rdf.batch import DeadLetter
from scepter.rdf.readers import Document
from scepter.rdf.source import DeadLetterTaker

_ROWS: Final = 16384
_BLOCK: Final = 1 << 20
_SHOWN: Final = 1000
_SO_FAR: Final = b""
"""Behind the lines that one reading gave: who waits for more has these first."""
_DECODER: Final = json.JSONDecoder()


def json_documents(file: IO[bytes], source: str, dead_letter: DeadLetterTaker) -> Iterator[list[Document]]:
    """The documents of JSON lines, or the one of a JSON file; of an array each of its items. Some at a time."""
    lines = _lines(file)
    first_line, first = next(((n, text) for n, text in lines if text.strip()), (1, b""))
    head = first.lstrip(b"\xef\xbb\xbf \t\r")
    if head.startswith(b"{") and _whole(head):
        yield from _of_lines(first_line, head, lines, source, dead_letter)
        return
    rest = [head, *(text for _, text in lines)]
    yield from _chunks(_of_text(b"".join(rest), first_line, source, dead_letter))


def _whole(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        # a line that is no document though it ends as one, or has another document behind it, is a broken line of JSON lines
        return text.rstrip().endswith(b"}") and text.count(b"\n") <= 1 and text.rstrip() != b"{"
    return True


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    rest, number = b"", 1
    while more := read(_BLOCK):
        whole, newline, rest = (rest + more).rpartition(b"\n")
        if newline:
            for text in whole.split(b"\n"):
                yield number, text + b"\n"
                number += 1
            yield number, _SO_FAR
    if rest:
        yield number, rest


def _of_lines(
    number: int, first: bytes, lines: Iterator[tuple[int, bytes]], source: str, dead_letter: DeadLetterTaker
) -> Iterator[list[Document]]:
    some: list[Document] = []
    for line, text in chain([(number, first)], lines):
        if text.strip():
            try:
                some.append((line, json.loads(text)))
            except (ValueError, RecursionError) as error:
                dead_letter(_letter(source, line, error, text))
        if some and (text == _SO_FAR or len(some) == _ROWS):
            yield some
            some = []
    if some:
        yield some


def _letter(source: str, line: int | None, error: Exception, text: bytes) -> DeadLetter:
    # "Invalid control character at" goes on with a place in Python's own message
    reason = error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else str(error)
    return DeadLetter(source, line, f"not JSON: {reason}", text[:_SHOWN].decode("utf-8", errors="replace").rstrip())


def _of_text(text: bytes, first_line: int, source: str, dead_letter: DeadLetterTaker) -> Iterator[Document]:
    """The items of an array one by one, up to where it is broken; or the one document."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        dead_letter(DeadLetter(source, None, f"bytes that are not UTF-8: {error.reason}"))
        return
    at = len(decoded) - len(decoded.lstrip())
    line = first_line
    counted = 0

    def line_at(place: int) -> int:
        nonlocal line, counted
        line += decoded.count("\n", counted, place)
        counted = place
        return line

    try:
        if not decoded[at:].startswith("["):
            if decoded[at:].strip():
                yield line_at(at), json.loads(decoded)
            return
        at = _blank(decoded, at + 1)
        while not decoded.startswith("]", at):
            item, end = _DECODER.raw_decode(decoded, at)
            yield line_at(at), item
            at = _blank(decoded, end)
            if decoded.startswith(",", at):
                at = _blank(decoded, at + 1)
            elif not decoded.startswith("]", at):
                raise json.JSONDecodeError("Expecting ',' delimiter", decoded, at)
    except (ValueError, RecursionError) as error:
        place = error.pos if isinstance(error, json.JSONDecodeError) else at
        dead_letter(_letter(source, first_line + decoded.count("\n", 0, place), error, decoded[at : at + _SHOWN].encode()))


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _chunks(documents: Iterator[Document]) -> Iterator[list[Document]]:
    some: list[Document] = []
    for document in documents:
        some.append(document)
        if len(some) >= _ROWS:
            yield some
            some = []
    if some:
        yield some


def document_rows(documents: Iterable[Document], iterator: str | None) -> DocumentRows:
    """The items of documents that a mapping iterates over. The items of an array are the documents already."""
    path = Path(()) if iterator is None else parse_path(iterator)
    if path.steps[:1] == (None,):
        path = Path(path.steps[1:])
    items: list[Any] = []
    lines: list[int | None] = []
    for line, document in documents:
        found = path.items(document)
        items += found
        lines += [line] * len(found)
    return DocumentRows(items, lines)
