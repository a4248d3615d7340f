"""Every code an error or a warning can have: found in the source, shown as `tests/errors` pins it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import scepter

ROOT = Path(__file__).resolve().parents[2]
_CALLS = frozenset({"Diagnostic", "query_error", "option_error", "fail", "_warn", "_warning", "_error"})
"""What is called with a code and a message."""
_CODE = re.compile(r"[a-z]+(-[a-z]+)*")
_PINNED = re.compile(r"^(?:error|warning)\[([a-z-]+)\]")


def page() -> str:
    """A section per code, in order: what it says, and where pinned a whole rendering."""
    examples = pinned(ROOT / "tests" / "errors")
    return "\n\n".join(
        _section(code, texts, examples.get(code)) for code, texts in sorted(codes(Path(scepter.__file__).parent).items())
    )


def codes(source: Path) -> Mapping[str, tuple[str, ...]]:
    """The codes in the source, each with its messages; what a message fills in is shown as `…`."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(source.rglob("*.py")):
        for code, message in _in_tree(ast.parse(path.read_text("utf-8"))):
            found.setdefault(code, {}).update({message: None} if message else {})
    return {code: tuple(messages) for code, messages in found.items()}


def _in_tree(tree: ast.AST) -> Iterator[tuple[str, str | None]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 2 or _called(node.func) not in _CALLS:
            continue
        code = node.args[0]
        if isinstance(code, ast.Constant) and isinstance(code.value, str) and _CODE.fullmatch(code.value):
            yield code.value, _message(node.args[1])


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _message(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_message(part) or "…" for part in parts)
        case ast.BinOp(left, ast.Add(), right):
            return f"{_message(left) or '…'}{_message(right) or '…'}"
        case _:
            return None


def pinned(folder: Path) -> Mapping[str, str]:
    """Per code the shortest of the renderings that the tests pin."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*/*.txt")):
        text = path.read_text("utf-8")
        for told in re.split(r"\n(?=(?:error|warning)\[)", text):
            code = _PINNED.match(told)
            if code is not None and len(told) < len(found.get(code[1], told + " ")):
                found[code[1]] = told.rstrip("\n")
    return found


def _section(code: str, messages: Iterable[str], example: str | None) -> str:
    parts = [f"## {code}"]
    if example is None:
        parts += [f"- {_escaped(message)}" for message in messages] or ["- …"]
    else:
        parts.append(f"```text\n{example}\n```")
    return "\n\n".join(parts[:1]) + "\n\n" + "\n".join(parts[1:])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>\[\]{}|])", r"\\\1", text)
