"""Query text in, algebra text out. `pytest --update-fixtures` writes the second half of each block anew; read the diff.

A fixture file holds blocks: `=== title`, the text, `---`, the algebra. In `bodies/` the text is the body of a GPM and the
algebra its scan; in `queries/` it is a whole query and its program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from scepter.algebra.query import Query, Scan
from scepter.algebra.text import format_node
from scepter.algebra.walk import find
from scepter.lower import lower

FOLDER = Path(__file__).parent / "fixtures"
PREFIXES = {"": "http://example/"}
QUERY = """PREFIX : <http://example/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ASK FROM STREAM S :s WHERE {{ SEQ (A) DEFINE GPM A ON S {{
{body}
}} }}"""


@dataclass
class Block:
    title: str
    text: str
    expected: str


def read(path: Path) -> list[Block]:
    blocks = []
    for part in path.read_text("utf-8").split("=== ")[1:]:
        title, _, rest = part.partition("\n")
        text, _, expected = rest.partition("\n---\n")
        blocks.append(Block(title, text.removesuffix("\n---"), expected.rstrip("\n")))
    return blocks


def scan_text(body: str) -> str:
    atom = next(find(lower(QUERY.format(body=body), "spaseq").program, Query)).pattern.steps[0].atom
    assert isinstance(atom, Scan)
    return without_prefixes(format_node(atom, PREFIXES))


def program_text(text: str) -> str:
    return without_prefixes(format_node(lower(text, "spaseq").program, PREFIXES))


def without_prefixes(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("PREFIX"))


def check(path: Path, lowered: Callable[[str], str], update: bool) -> None:
    blocks = read(path)
    assert blocks
    if update:
        path.write_text("\n\n".join(f"=== {b.title}\n{b.text}\n---\n{lowered(b.text)}" for b in blocks) + "\n", "utf-8")
        blocks = read(path)
    for block in blocks:
        assert lowered(block.text) == block.expected, block.title


@pytest.mark.parametrize("path", sorted((FOLDER / "bodies").glob("*.txt")), ids=lambda path: path.stem)
def test_bodies(path: Path, update_fixtures: bool) -> None:
    check(path, scan_text, update_fixtures)


@pytest.mark.parametrize("path", sorted((FOLDER / "queries").glob("*.txt")), ids=lambda path: path.stem)
def test_queries(path: Path, update_fixtures: bool) -> None:
    check(path, program_text, update_fixtures)
