"""JSON and JSON lines as rows: each document, or each item that the mapping iterates over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any, Final

from scepter.lift.paths import Path, parse_path
from scepter.lift.rows import DocumentRows
from scepter.rdf.batch import DeadLetter
from scepter.rdf.limits import DEFAULT, BeyondLimit, ReadLimits, check_json, loads
from scepter.rdf.long_lines import SO_FAR, Lines, too_long, too_much
from scepter.rdf.readers import Document
from scepter.rdf.source import DeadLetterTaker

_ROWS: Final = 16384
_SHOWN: Final = 1000
_DECODER: Final = json.JSONDecoder()


def json_documents(
    file: IO[bytes], source: str, dead_letter: DeadLetterTaker, limits: ReadLimits = DEFAULT
) -> Iterator[list[Document]]:
    """The documents of JSON lines, or the one of a JSON file; of an array each of its items. Some at a time."""
    lines = Lines(file, limits.document)
    first_line, first = next(((n, text) for n, text in lines if text is None or text.strip()), (1, SO_FAR))
    head = None if first is None else first.lstrip(b"\xef\xbb\xbf \t\r")
    if head is None or (head.startswith(b"{") and _whole(head, limits)):
        lines.limit = limits.event
        yield from _of_lines(chain([(first_line, head)], lines), source, dead_letter, limits)
        return
    try:
        text = _joined(head, lines, limits.document)
    except BeyondLimit as error:
        dead_letter(DeadLetter(source, first_line, str(error)))
        return
    yield from _chunks(_of_text(text, first_line, source, dead_letter, limits))


def _whole(text: bytes, limits: ReadLimits) -> bool:
    try:
        loads(text, limits)
    except ValueError:
        # a line that is no document though it ends as one, or has another document behind it, is a broken line of JSON lines
        return text.rstrip().endswith(b"}") and text.count(b"\n") <= 1 and text.rstrip() != b"{"
    return True


def _joined(head: bytes, lines: Iterable[tuple[int, bytes | None]], limit: int) -> bytes:
    """All that is left of a file; BeyondLimit if that is too much."""
    parts, size = [head], len(head)
    for _, text in lines:
        if text is None or size + len(text) > limit:
            raise too_long(limit)
        parts.append(text)
        size += len(text)
    return b"".join(parts)


def _of_lines(
    lines: Iterable[tuple[int, bytes | None]], source: str, dead_letter: DeadLetterTaker, limits: ReadLimits
) -> Iterator[list[Document]]:
    some: list[Document] = []
    for line, text in lines:
        if text is None:
            dead_letter(DeadLetter(source, line, str(too_much(limits.event))))
        elif text.strip():
            try:
                some.append((line, loads(text, limits)))
            except ValueError as error:
                dead_letter(_letter(source, line, error, text))
        if some and (text == SO_FAR or len(some) == _ROWS):
            yield some
            some = []
    if some:
        yield some


def _letter(source: str, line: int | None, error: Exception, text: bytes) -> DeadLetter:
    # "Invalid control character at" goes on with a place in Python's own message
    reason = error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else str(error)
    reason = reason if isinstance(error, BeyondLimit) else f"not JSON: {reason}"
    return DeadLetter(source, line, reason, text[:_SHOWN].decode("utf-8", errors="replace").rstrip())


def _of_text(text: bytes, first_line: int, source: str, dead_letter: DeadLetterTaker, limits: ReadLimits) -> Iterator[Document]:
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
                yield line_at(at), loads(text, limits)
            return
        at = _blank(decoded, at + 1)
        while not decoded.startswith("]", at):
            item, end = _DECODER.raw_decode(decoded, at)
            refused = _refused(decoded[at:end], limits)
            if refused is None:
                yield line_at(at), item
            else:
                dead_letter(_letter(source, line_at(at), refused, decoded[at : min(end, at + _SHOWN)].encode()))
            at = _blank(decoded, end)
            if decoded.startswith(",", at):
                at = _blank(decoded, at + 1)
            elif not decoded.startswith("]", at):
                raise json.JSONDecodeError("Expecting ',' delimiter", decoded, at)
    except (ValueError, RecursionError) as error:
        place = error.pos if isinstance(error, json.JSONDecodeError) else at
        dead_letter(_letter(source, first_line + decoded.count("\n", 0, place), error, decoded[at : at + _SHOWN].encode()))


def _refused(item: str, limits: ReadLimits) -> BeyondLimit | None:
    """What is too much about an item of an array."""
    try:
        if len(item) > limits.depth:
            check_json(item.encode(), limits)
    except BeyondLimit as error:
        return error
    return None


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
