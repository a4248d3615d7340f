"""The notebook's cells run from top to bottom, each of them twice, and show the same the second time."""

from __future__ import annotations

import ast
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples/notebook/falls.ipynb"
SHOWN = ("_repr_html_", "_repr_svg_", "__repr__")


def cells() -> list[str]:
    found = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in code), "outputs are made by whoever runs it"
    return ["".join(cell["source"]) for cell in code]


MILLISECONDS = re.compile(r"\d+\.\d(?=&lt;/td&gt;&lt;/tr&gt;)")


def run(cell: str, names: dict[str, object]) -> str:
    """What a cell prints, and what a notebook shows of its last line."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # type: ignore[attr-defined]
    if value is None:
        return printed.getvalue()
    return printed.getvalue() + "".join(str(getattr(value, way)()) for way in SHOWN if hasattr(value, way))


@pytest.fixture(scope="module")
def shown() -> list[str]:
    names: dict[str, object] = {}
    told = []
    for cell in cells():
        told.append(run(cell, names))
        # a report tells the CPU that each operator took, which no two runs share
        assert MILLISECONDS.sub("", run(cell, names)) == MILLISECONDS.sub("", told[-1]), cell
    return told


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0, "spaseq query"),
        (1, ":ACME"),
        (2, "fell by"),
        (3, "the match would last too long, from 1: WITHIN 10 time units, by 1"),
        (4, "55 &lt; 0.7 * 60 = 42, by 13"),
        (5, "(1, 8, 'http://example/ACME')"),
        (6, "<iframe"),
    ],
)
def test_what_it_shows(shown: list[str], cell: int, text: str) -> None:
    assert text in shown[cell]
