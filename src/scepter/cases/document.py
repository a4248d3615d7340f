"""YAML read with its places: every mistake in a case file is told with file, line and column."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import yaml

from scepter.errors import Diagnostic, QueryError, Source, Span, nearest


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a mapping and its value, each with its place."""

    name: str
    key: yaml.Node
    value: yaml.Node


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file and its root node."""

    source: Source
    root: yaml.Node

    def fail(self, code: str, message: str, at: yaml.Node | Span, help: str | None = None) -> NoReturn:
        """Raise the QueryError that points at a node or a span."""
        span = at if isinstance(at, Span) else self._span(at)
        raise QueryError(Diagnostic(code, message, span, help), self.source)

    def _span(self, node: yaml.Node) -> Span:
        return Span(node.start_mark.index, node.end_mark.index)

    def entries(self, node: yaml.Node, what: str, known: Collection[str] | None = None) -> Iterator[Entry]:
        """The entries of a mapping in order; a key twice, or one that is not known, is an error."""
        if not isinstance(node, yaml.MappingNode):
            self.fail("case-not-a-mapping", f"{what} must be a mapping (key: value)", node)
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail("case-bad-key", f"a key of {what} must be a plain word", key)
            name = str(key.value)
            if name in seen:
                self.fail("case-duplicate-key", f"{name!r} stands twice in {what}", key)
            if known is not None and name not in known:
                close = nearest(name, known)
                hint = f"did you mean {close}?" if close else f"the keys are {', '.join(known)}"
                self.fail("case-unknown-key", f"{name!r} is no key of {what}", key, hint)
            seen.add(name)
            yield Entry(name, key, value)

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """The items of a sequence."""
        if not isinstance(node, yaml.SequenceNode):
            self.fail("case-not-a-list", f"{what} must be a list", node)
        return list(node.value)

    def empty(self, node: yaml.Node) -> bool:
        """Whether a key has no value."""
        return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null" and node.style is None

    def text(self, node: yaml.Node, what: str) -> str:
        """The text of a scalar as written, whatever YAML would make of it (`3` stays `3`, a dateTime its characters)."""
        if not isinstance(node, yaml.ScalarNode):
            self.fail("case-not-text", f"{what} must be text, not a list or a mapping", node)
        if self.empty(node):
            self.fail("case-no-value", f"{what} has no value", node)
        return str(node.value)

    def place(self, node: yaml.Node, line: int, column: int, width: int = 1) -> Span:
        """The span of a place inside a scalar's text (line and column 1-based), or of the scalar where YAML folded it."""
        start = node.start_mark
        lines = self.source.text.split("\n")
        content = str(node.value).split("\n")
        if not isinstance(node, yaml.ScalarNode) or not 0 < line <= len(content):
            return self._span(node)
        if node.style == "|":
            number, indent = start.line + line, _indent(lines[start.line + 1 :], content)
        elif len(content) == 1 and lines[start.line][start.column + _quote(node) :].startswith(content[0]):
            number, indent = start.line, start.column + _quote(node)
        else:
            return self._span(node)
        offset = sum(len(text) + 1 for text in lines[:number]) + indent + column - 1
        return Span(offset, offset + max(1, width))


def _quote(node: yaml.ScalarNode) -> int:
    return 1 if node.style in ("'", '"') else 0


def _indent(written: list[str], content: list[str]) -> int:
    for before, after in zip(written, content, strict=False):
        if after:
            return len(before.rstrip("\r")) - len(after)
    return 0


def read_document(path: Path) -> Document:
    """The YAML document of a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise QueryError(Diagnostic("case-not-readable", f"{path} cannot be read: {error.strerror}")) from None
    except UnicodeDecodeError as error:
        raise QueryError(Diagnostic("case-not-readable", f"{path} is no UTF-8 text (byte {error.start})")) from None
    return parse_document(text, str(path))


def parse_document(text: str, name: str) -> Document:
    """The YAML document of a text."""
    source = Source(name, text)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = None if mark is None else Span(mark.index, mark.index + 1)
        raise QueryError(Diagnostic("case-bad-yaml", f"this is no YAML: {error.problem}", span), source) from None
    except yaml.reader.ReaderError as error:
        span = Span(error.position, error.position + 1)
        raise QueryError(Diagnostic("case-bad-yaml", f"this is no YAML: {error.reason}", span), source) from None
    except RecursionError:
        raise QueryError(Diagnostic("case-bad-yaml", "this YAML is nested too deeply"), source) from None
    if root is None:
        raise QueryError(Diagnostic("case-empty", f"{name} is empty"), source)
    return Document(source, root)
