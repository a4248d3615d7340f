"""What a document says can be run: its fenced blocks, and the commands in them.

A `sh` block is run as it stands, a `python` block in one program per document; a `text` block right after it is what it prints.
Blocks of other kinds are left alone, among them `shell` and `py`: set-ups and pieces, which a test cannot repeat.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Container, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from typer.testing import CliRunner

from scepter.cli.main import app

_FENCE = re.compile(r"^```([\w ]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its kind, its text, and where the text stands in the document."""

    kind: str
    text: str
    start: int
    end: int


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    return [Block(found[1], found[2], found.start(2), found.end(2)) for found in _FENCE.finditer(document)]


def section(document: str, title: str) -> str:
    """The part of a document below a heading, up to the next heading of its level or a higher one."""
    found = re.search(rf"^(#+) {re.escape(title)}\n", document, re.MULTILINE)
    assert found is not None, f"there is no heading {title!r}"
    rest = document[found.end() :]
    following = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: following.start()] if following else rest


def commands(document: str, kinds: Container[str] = ("sh",)) -> list[tuple[Block, Block | None]]:
    """The blocks to be run, each with the `text` block behind it."""
    found = blocks(document)
    following = [*found, None][1:]
    return [
        (block, after if after is not None and after.kind == "text" else None)
        for block, after in zip(found, following, strict=True)
        if block.kind in kinds
    ]


def run(text: str) -> str:
    """Run the commands of a block in the current folder; what they print, on either channel. A failure fails the test."""
    return "".join(_scepter(shlex.split(piece)[1:]) if plain else _bash(piece) for plain, piece in pieces(text))


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    r"""A block cut into plain calls of `scepter`, for which no process has to start, and what only a shell understands.

    >>> list(pieces("scepter check a.spaseq\ncat > b <<'END'\nscepter run\nEND\nls\n"))
    [(True, 'scepter check a.spaseq'), (False, "cat > b <<'END'\nscepter run\nEND\nls\n")]
    """
    shell, until = "", None
    for line in text.replace("\\\n", " ").splitlines():
        if until is None and line.startswith("scepter ") and not set(line) & set("<>|&;$"):
            if shell:
                yield False, shell
            shell = ""
            yield True, line
            continue
        here = re.search(r"<<'(\w+)'", line)
        until = None if line == until else here[1] if here else until
        shell += f"{line}\n"
    if shell:
        yield False, shell


def _bash(text: str) -> str:
    found = subprocess.run(
        ["bash", "-euc", text],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout
    return found.stdout


def run_python(text: str, names: dict[str, object]) -> str:
    """Run a piece of a program with the names of the pieces before it; what it prints."""
    with redirect_stdout(StringIO()) as printed:
        exec(compile(text, "<document>", "exec"), names)
    return printed.getvalue()


def _scepter(arguments: list[str]) -> str:
    """`scepter` in this process: the same program without the time it takes to start."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def with_output(document: str, printed: list[tuple[Block, str]]) -> str:
    """The document with other texts in some of its blocks."""
    for block, text in sorted(printed, key=lambda each: -each[0].start):
        document = document[: block.start] + text + document[block.end :]
    return document
