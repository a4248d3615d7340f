"""`explain`: a query's plan as text, JSON, Mermaid or SVG."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from enum import Enum

from scepter.errors import nearest, option_error
from scepter.physical.explain.automaton import Automaton
from scepter.physical.explain.description import NOT_RUN, Description, Ran, StreamFacts, UnitFacts, describe
from scepter.physical.explain.drawing import to_mermaid, to_svg
from scepter.physical.explain.outline import Box
from scepter.physical.explain.wording import conditions
from scepter.physical.metrics import StageRun
from scepter.physical.plan import PhysicalPlan

_WIDTH = 100
_COLUMN = 14
"""Where the text begins, right of its heading."""


def explain(
    plan: PhysicalPlan,
    language: str,
    format: str = "text",
    prefixes: Mapping[str, str] | None = None,
    ran: Ran = NOT_RUN,
) -> str:
    """A plan as `text`, `mermaid`, `json` or `svg`, without a last line end; `prefixes` shorten its IRIs, `ran` tells what
    its operators did in a run.

    Raises OptionError `unknown-format` for any other format.
    """
    if not isinstance(format, str) or (write := _FORMATS.get(format)) is None:
        close = nearest(str(format), _FORMATS)
        raise option_error(
            "unknown-format",
            f"a plan cannot be shown as {format}",
            help=f"did you mean {close}?" if close else f"the formats are {', '.join(_FORMATS)}",
        )
    return write(describe(plan, language, prefixes or {}, ran)).rstrip("\n")


def _to_json(description: Description) -> str:
    return json.dumps(asdict(description), indent=2, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{value!r} has no place in the description of a plan")


# ---- text


def _to_text(description: Description) -> str:
    blocks = [f"{unit.title}\n{'=' * len(unit.title)}\n\n{_unit(unit)}" for unit in description.units]
    if description.stages:
        blocks.append(
            "\n".join(["Run on Spark", *(_entry(s.name, _stage(s), indent=2, column=30) for s in description.stages)])
        )
    if description.peak_memory is not None:
        whose = "one of Spark's workers" if description.stages else "this process"
        blocks.append(f"Memory        {description.peak_memory / 1e6:,.0f} MB, the most that {whose} had")
    return "\n\n".join(blocks)


def _stage(stage: StageRun) -> Iterator[str]:
    yield stage.total.text()
    if stage.skew.places > 1:
        yield stage.skew.text()
        most = max(stage.tasks, key=lambda task: task.work.cpu)
        yield f"most CPU: place {most.place}, {most.work.text()}"


def _unit(unit: UnitFacts) -> str:
    entries = [_entry("Streams", [_stream(s) for s in unit.streams] or ["every one given"])]
    told: dict[str, list[str]] = {}
    for note in unit.notes:
        subject, _, sentence = note.partition(": ")
        told.setdefault(subject, []).append(sentence)
    entries += [_entry(subject.capitalize(), sentences) for subject, sentences in told.items()]
    if unit.warnings:
        entries.append(_entry("Warning", unit.warnings))
    blocks = ["\n".join(entries), "\n".join(["Operators", *_tree(unit.tree)])]
    if unit.automaton is not None:
        blocks.append(_automaton(unit.automaton))
    if unit.algebra is not None:
        blocks.append("\n".join(["Algebra", textwrap.indent(unit.algebra, "  ")]))
    return "\n\n".join(blocks) + "\n"


def _entry(heading: str, paragraphs: Iterable[str], indent: int = 0, column: int = _COLUMN) -> str:
    """A heading and, in a column beside it, paragraphs."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += _wrapped(paragraph, _WIDTH - column)
    left = " " * indent + heading
    if len(left) >= column:
        return "\n".join([left, *(" " * column + line for line in lines)])
    first, *rest = lines or [""]
    return "\n".join([f"{left:{column}}{first}".rstrip(), *(" " * column + line for line in rest)])


def _wrapped(paragraph: str, width: int) -> list[str]:
    indent = " " * (len(paragraph) - len(paragraph.lstrip()) + 2)
    return textwrap.wrap(paragraph, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _stream(stream: StreamFacts) -> str:
    alias = "" if stream.alias is None else f"{stream.alias} = "
    origin = "" if stream.constructed_by is None else f", constructed by query {stream.constructed_by}"
    return f"{alias}<{stream.iri}>{origin}"


def _column(headings: Iterable[str]) -> int:
    """Where the text begins beside headings that are indented by two."""
    return min(30, max(map(len, headings)) + 4)


def _automaton(automaton: Automaton) -> str:
    labels = {state.id: state.label for state in automaton.states}
    arrows = {id(t): f"{labels[t.source]} ─▶ {labels[t.target]}" for t in automaton.transitions}
    column = _column(arrows.values())
    entries = (_entry(arrows[id(t)], conditions(t), indent=2, column=column) for t in automaton.transitions)
    return "\n".join(["Automaton", *entries])


def _tree(root: Box) -> Iterator[str]:
    """The lines of a tree, each operator below the one that takes its solutions."""
    pending = [(root, "  ", "  ")]
    while pending:
        node, lead, below = pending.pop()
        yield from _hung(node.label, lead, below)
        beside = below + ("│  " if node.children else "   ")
        for detail in node.details:
            yield from _hung(detail, beside, beside)
        children = [(child, f"{below}├─ ", f"{below}│  ") for child in node.children[:-1]]
        children += [(child, f"{below}└─ ", f"{below}   ") for child in node.children[-1:]]
        pending += reversed(children)


def _hung(text: str, first: str, rest: str) -> list[str]:
    """A text to the right of its place in the tree; however deep that is, some letters fit beside it."""
    width = max(40, _WIDTH - len(first))
    lines = textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    head, *tail = lines or [""]
    return [(first + head).rstrip(), *(rest + line for line in tail)]


_FORMATS: Mapping[str, Callable[[Description], str]] = {
    "text": _to_text,
    "mermaid": to_mermaid,
    "json": _to_json,
    "svg": to_svg,
}
