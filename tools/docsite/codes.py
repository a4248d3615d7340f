"""Every code an error or a warning can have: found in the source, shown as `tests/errors` pins it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    calls = [call for path in sorted(source.rglob("*.py")) for call in _calls_of(path)]
    found: dict[str, dict[str, None]] = {}
    for call in calls:
        if call.name not in _CALLS or len(call.node.args) < 2:
            continue
        code = call.node.args[0]
        if isinstance(code, ast.Constant) and isinstance(code.value, str) and _CODE.fullmatch(code.value):
            found.setdefault(code.value, {}).update(dict.fromkeys(_texts(call.node.args[1], call, calls)))
    return {code: tuple(messages) for code, messages in found.items()}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, and where it is: a message may be a name that the function around it binds."""

    node: ast.Call
    name: str
    around: ast.FunctionDef | None
    module: str
    imported: frozenset[tuple[str, str]]
    """The names that the module takes from others, each after the last part of the other's name."""

    def reaches(self, function: ast.FunctionDef, module: str) -> bool:
        """Whether this calls the function of that module."""
        return self.name == function.name and (self.module == module or (module, function.name) in self.imported)


def _calls_of(path: Path) -> Iterator[_Call]:
    tree = ast.parse(path.read_text("utf-8"))
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
    imported = frozenset((str(node.module).rpartition(".")[2], alias.name) for node in imports for alias in node.names)

    def below(node: ast.AST, around: ast.FunctionDef | None) -> Iterator[_Call]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield _Call(child, _called(child.func), around, path.stem, imported)
            yield from below(child, child if isinstance(child, ast.FunctionDef) else around)

    return below(tree, None)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _texts(node: ast.expr, call: _Call, calls: Sequence[_Call]) -> Iterator[str]:
    """What a message can say: written in the call, bound before it, or given by who calls the function around it."""
    match node:
        case ast.IfExp(_, body, orelse):
            yield from _texts(body, call, calls)
            yield from _texts(orelse, call, calls)
        case ast.Name(name) if call.around is not None:
            bound = [value for value in ast.walk(call.around) if isinstance(value, ast.Assign) and _binds(value, name)]
            for assignment in bound:
                yield from _texts(assignment.value, call, calls)
            if not bound:
                yield from _from_callers(name, call.around, call.module, calls)
        case _ if re.search(r"\w", text := _message(node) or ""):
            yield re.sub("…+", "…", text)


def _binds(assignment: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in assignment.targets)


def _from_callers(parameter: str, function: ast.FunctionDef, module: str, calls: Sequence[_Call]) -> Iterator[str]:
    names = [argument.arg for argument in function.args.args if argument.arg != "self"]
    if parameter not in names:
        return
    at = names.index(parameter)
    for call in calls:
        if call.around is not function and call.reaches(function, module):
            named = [keyword.value for keyword in call.node.keywords if keyword.arg == parameter]
            for argument in [*call.node.args[at : at + 1], *named]:
                yield from _texts(argument, call, calls)


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
        parts += [f"- {_escaped(message)}" for message in messages] or ["The message is the one of the reader that was called."]
    else:
        parts.append(f"```text\n{example}\n```")
    return "\n\n".join(parts[:1]) + "\n\n" + "\n".join(parts[1:])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_>\[\]{}|])", r"\\\1", text).replace("<", "&lt;")
