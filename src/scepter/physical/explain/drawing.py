"""A plan as a picture: Mermaid's notation, and SVG drawn by hand.

In the SVG states stand in a row. A transition to the next state is an arrow in the gap between the two, which is as wide as its
text; one that leaves out optional atoms is an arc above; an iteration is a loop below. Units that are trees of operators are
drawn as such, indented. Text is set in a monospaced font, so that its width is known without measuring it.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from scepter.physical.explain.automaton import Automaton, State, StateKind, Transition
from scepter.physical.explain.description import Description, UnitFacts
from scepter.physical.explain.outline import Box
from scepter.physical.explain.wording import conditions

_LETTER, _LINE, _SIZE = 7.3, 16.0, 12
_MARGIN, _STATE_HEIGHT, _GAP = 24.0, 40.0, 36.0
_LABEL_LETTERS, _NOTE_LETTERS = 36, 96
_STEP = 28.0
"""How far an operator stands to the right of the one above it."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MERMAID_CODES = {c: f"#{ord(c)};" for c in '#"<>&;`|{}[]\\'}


def to_mermaid(description: Description) -> str:
    """A Mermaid flowchart, one subgraph per query."""
    drawn = any(unit.automaton is not None for unit in description.units)
    lines = ["flowchart LR" if drawn else "flowchart TD"]
    for unit in description.units:
        lines += _mermaid_tree(unit) if unit.automaton is None else _mermaid_automaton(unit, unit.automaton)
    return "\n".join(lines) + "\n"


def _mermaid_automaton(unit: UnitFacts, automaton: Automaton) -> list[str]:
    name = f"q{unit.number}"
    lines = [f'  subgraph {name}["{_mermaid(unit.title)}"]', "    direction LR"]
    lines += [f"    {name}s{state.id}{_mermaid_shape(state)}" for state in automaton.states]
    for transition in automaton.transitions:
        label = "<br/>".join(_mermaid(line) for line in conditions(transition))
        lines.append(f'    {name}s{transition.source} -->|"{label}"| {name}s{transition.target}')
    return [*lines, "  end"]


def _mermaid_tree(unit: UnitFacts) -> list[str]:
    name = f"q{unit.number}"
    boxes, links = [], []
    for number, (node, _, parent) in enumerate(_flat(unit.tree)):
        boxes.append(f'    {name}n{number}["{"<br/>".join(map(_mermaid, (node.label, *node.details)))}"]')
        if parent is not None:
            links.append(f"    {name}n{parent} --- {name}n{number}")
    return [f'  subgraph {name}["{_mermaid(unit.title)}"]', "    direction TB", *boxes, *links, "  end"]


def _flat(root: Box) -> list[tuple[Box, int, int | None]]:
    """The nodes of a tree, each before its children, with its depth and its parent's place in the list."""
    found: list[tuple[Box, int, int | None]] = []
    pending: list[tuple[Box, int, int | None]] = [(root, 0, None)]
    while pending:
        node, depth, parent = pending.pop()
        pending += ((child, depth + 1, len(found)) for child in reversed(node.children))
        found.append((node, depth, parent))
    return found


def _mermaid(text: str) -> str:
    return "".join(_MERMAID_CODES.get(c, c) for c in text)


def _mermaid_shape(state: State) -> str:
    label = _mermaid(state.label)
    match state.kind:
        case StateKind.START:
            return f'(["{label}"])'
        case StateKind.ATOM:
            return f'["{label}"]'
        case StateKind.MATCH:
            return f'((("{label}")))'


def to_svg(description: Description) -> str:
    """One SVG picture, the queries below each other."""
    drawings: list[_Drawing | _TreeDrawing] = [
        _TreeDrawing(unit) if unit.automaton is None else _Drawing(unit, unit.automaton) for unit in description.units
    ]
    width = max((d.width for d in drawings), default=0.0)
    body, top = [], 0.0
    for drawing in drawings:
        body.append(f'<g transform="translate(0 {top:.0f})">\n' + "\n".join(drawing.elements) + "\n</g>")
        top += drawing.height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {width:.0f} {top:.0f}">\n<title>{_xml(description.language)} plan</title>\n{_STYLE}\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


_STYLE = f"""<style>
text {{ font: {_SIZE}px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2933 }}
.title {{ font-weight: bold; font-size: 14px }}
.how {{ font-weight: bold; fill: #0b4f8a }}
.absent {{ fill: #9b1c1c }}
.note {{ fill: #52606d }}
.state {{ fill: #e8f1fa; stroke: #0b4f8a; stroke-width: 1.5 }}
.end {{ fill: #e6f6ec; stroke: #1b7f3b; stroke-width: 1.5 }}
.edge {{ fill: none; stroke: #52606d; stroke-width: 1.5 }}
.paper {{ fill: #ffffff; fill-opacity: 0.9 }}
</style>
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">
<path d="M 0 1 L 10 5 L 0 9 z" fill="#52606d"/></marker></defs>"""


@dataclass(frozen=True, slots=True)
class _Label:
    """The text at a transition: its lines, each with its class."""

    lines: tuple[tuple[str, str], ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Box:
    """Where a state stands."""

    left: float
    width: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def right(self) -> float:
        return self.left + self.width


class _Canvas:
    """Elements of a picture, and the size they take."""

    def __init__(self) -> None:
        self.elements: list[str] = []
        self.width = self.height = 0.0

    def _rectangle(self, left: float, top: float, width: float, height: float, kind: str, radius: float) -> None:
        place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.elements.append(f'<rect class="{kind}" {place} rx="{radius:.0f}"/>')

    def _path(self, path: str) -> None:
        self.elements.append(f'<path class="edge" d="{path}" marker-end="url(#arrow)"/>')

    def _text(self, x: float, y: float, text: str, kind: str, *, middle: bool = False) -> None:
        style = (f' class="{kind}"' if kind else "") + (' text-anchor="middle"' if middle else "")
        leading = len(text) - len(text.lstrip())  # SVG drops leading blanks
        self.elements.append(f'<text x="{x + leading * _LETTER:.1f}" y="{y:.1f}"{style}>{_xml(text.strip())}</text>')

    def _sentences(self, sentences: Iterable[str], top: float) -> float:
        """Sentences below each other; how far down they and the margin reach."""
        for sentence in sentences:
            for line in textwrap.wrap(sentence[:1].upper() + sentence[1:], _NOTE_LETTERS, subsequent_indent="  "):
                self._text(_MARGIN, top, line, "absent" if sentence.startswith("Warning") else "note")
                top += _LINE
        return top + _MARGIN / 2


class _Drawing(_Canvas):
    """One query's picture."""

    def __init__(self, unit: UnitFacts, automaton: Automaton) -> None:
        super().__init__()
        self._states = automaton.states
        transitions = automaton.transitions
        self._steps = [t for t in transitions if t.target == t.source + 1]
        self._arcs = sorted((t for t in transitions if t.target > t.source + 1), key=lambda t: (t.target - t.source, t.source))
        self._loops = [t for t in transitions if t.target == t.source]
        self._labels = {id(t): _label(t) for t in transitions}
        self._boxes = self._place()
        self.width = max(self._boxes[-1].right + _MARGIN, 2 * _MARGIN + _NOTE_LETTERS * _LETTER)
        top = self._heading(unit.title, next((n.removeprefix("result: ") for n in unit.notes if n.startswith("result: ")), ""))
        top += max((self._labels[id(t)].height for t in self._steps), default=0.0)
        levels = self._levels()
        top += sum(self._level_heights(levels).values())
        self._axis = top + _STATE_HEIGHT / 2 + 12
        self._draw(levels)
        below = max((self._labels[id(t)].height + 40 for t in self._loops), default=0.0)
        self.height = self._notes(unit, self._axis + _STATE_HEIGHT / 2 + below + 28)

    # ---- where things stand

    def _place(self) -> list[_Box]:
        widths = [max(_STATE_HEIGHT, _length(state.label) + 28) for state in self._states]
        loops = {t.source: self._labels[id(t)].width for t in self._loops}
        gaps = [_GAP + 12] * (len(widths) - 1)
        for t in self._steps:
            gaps[t.source] = max(gaps[t.source], self._labels[id(t)].width + _GAP)
        for i in range(len(gaps)):
            loops_meet = (loops.get(i, 0) + loops.get(i + 1, 0) - widths[i] - widths[i + 1]) / 2 + _GAP
            gaps[i] = max(gaps[i], loops_meet)
        for t in self._arcs:
            span = sum(gaps[t.source : t.target]) + sum(widths[t.source + 1 : t.target])
            gaps[t.source] += max(0.0, self._labels[id(t)].width + _GAP - span)
        boxes, left = [], max(_MARGIN, _MARGIN + (loops.get(0, 0) - widths[0]) / 2)
        for i, width in enumerate(widths):
            boxes.append(_Box(left, width))
            left += width + (gaps[i] if i < len(gaps) else 0)
        return boxes

    def _levels(self) -> dict[int, int]:
        """The level of each arc, so that arcs over the same stretch lie above each other, the longer ones higher."""
        levels: dict[int, int] = {}
        for n, arc in enumerate(self._arcs):
            below = [levels[id(o)] for o in self._arcs[:n] if o.source < arc.target and arc.source < o.target]
            levels[id(arc)] = max(below, default=-1) + 1
        return levels

    def _level_heights(self, levels: dict[int, int]) -> dict[int, float]:
        heights: dict[int, float] = {}
        for arc in self._arcs:
            level = levels[id(arc)]
            heights[level] = max(heights.get(level, 0.0), self._labels[id(arc)].height + 18)
        return heights

    # ---- drawing

    def _heading(self, heading: str, result: str) -> float:
        self._text(_MARGIN, 28, heading, "title")
        top = 28.0
        for line in textwrap.wrap(result, _NOTE_LETTERS):
            top += _LINE
            self._text(_MARGIN, top + 2, line, "note")
        return top + 20

    def _draw(self, levels: dict[int, int]) -> None:
        for t in self._steps:
            self._step(t)
        self._draw_arcs(levels)
        for t in self._loops:
            self._loop(t)
        for state, box in zip(self._states, self._boxes, strict=True):
            self._state(state, box)

    def _step(self, t: Transition) -> None:
        start, end, label = self._boxes[t.source].right, self._boxes[t.target].left, self._labels[id(t)]
        self._path(f"M {start:.1f} {self._axis:.1f} L {end - 1:.1f} {self._axis:.1f}")
        self._block(label, (start + end) / 2, self._axis - 8 - label.height)

    def _draw_arcs(self, levels: dict[int, int]) -> None:
        heights = self._level_heights(levels)
        clear = max((self._labels[id(t)].height for t in self._steps), default=0.0)
        base = self._axis - max(clear + 8, _STATE_HEIGHT / 2) - 8
        blocks: list[tuple[_Label, float, float]] = []
        for arc in self._arcs:
            level = levels[id(arc)]
            y = base - sum(heights[lower] for lower in range(level))
            start, end = self._feet(arc, levels)
            roof = self._axis - _STATE_HEIGHT / 2
            self._path(
                f"M {start:.1f} {roof:.1f} L {start:.1f} {y + 8:.1f} Q {start:.1f} {y:.1f} {start + 8:.1f} {y:.1f} "
                f"L {end - 8:.1f} {y:.1f} Q {end:.1f} {y:.1f} {end:.1f} {y + 8:.1f} L {end:.1f} {roof - 1:.1f}"
            )
            label = self._labels[id(arc)]
            blocks.append((label, (start + end) / 2, y - 6 - label.height))
        for label, middle, top in blocks:  # after all arcs, so that no line crosses a text
            self._block(label, middle, top)

    def _feet(self, arc: Transition, levels: dict[int, int]) -> tuple[float, float]:
        """Where an arc leaves and lands: higher arcs stand outside of lower ones, so that feet do not cross."""
        leaving = sorted((o for o in self._arcs if o.source == arc.source), key=lambda o: -levels[id(o)])
        landing = sorted((o for o in self._arcs if o.target == arc.target), key=lambda o: levels[id(o)])
        source, target = self._boxes[arc.source], self._boxes[arc.target]
        out = source.middle + (leaving.index(arc) + 1) * source.width / 2 / (len(leaving) + 1)
        into = target.left + (landing.index(arc) + 1) * target.width / 2 / (len(landing) + 1)
        return out, into

    def _loop(self, t: Transition) -> None:
        box, floor = self._boxes[t.source], self._axis + _STATE_HEIGHT / 2
        out, into, depth = box.middle + 10, box.middle - 10, floor + 34
        curve = f"C {out + 26:.1f} {depth:.1f} {into - 26:.1f} {depth:.1f} {into:.1f} {floor + 1:.1f}"
        self._path(f"M {out:.1f} {floor:.1f} {curve}")
        self._block(self._labels[id(t)], box.middle, floor + 32)

    def _state(self, state: State, box: _Box) -> None:
        top = self._axis - _STATE_HEIGHT / 2
        kind = "end" if state.kind is StateKind.MATCH else "state"
        radius = 8 if state.kind is StateKind.ATOM else _STATE_HEIGHT / 2
        self._rectangle(box.left, top, box.width, _STATE_HEIGHT, kind, radius)
        if state.kind is StateKind.MATCH:
            self._rectangle(box.left + 4, top + 4, box.width - 8, _STATE_HEIGHT - 8, kind, radius - 4)
        self._text(box.middle, self._axis + 4, state.label, "", middle=True)

    def _notes(self, unit: UnitFacts, top: float) -> float:
        notes = [note for note in unit.notes if note.partition(": ")[0] in ("window", "partitioning", "release")]
        return self._sentences(
            [*(note[:1].upper() + note[1:] for note in notes), *(f"Warning: {each}" for each in unit.warnings)], top
        )

    def _block(self, label: _Label, middle: float, top: float) -> None:
        self._rectangle(middle - label.width / 2 - 4, top, label.width + 8, label.height, "paper", 3)
        for number, (line, kind) in enumerate(label.lines):
            self._text(middle, top + (number + 1) * _LINE - 4, line, kind, middle=True)


class _TreeDrawing(_Canvas):
    """A tree of operators: a box each, below the one that takes its solutions and to the right of that one's edge."""

    def __init__(self, unit: UnitFacts) -> None:
        super().__init__()
        self._text(_MARGIN, 28, unit.title, "title")
        self.width = 2 * _MARGIN + _NOTE_LETTERS * _LETTER
        places: list[tuple[float, float]] = []
        top = 44.0
        for node, depth, parent in _flat(unit.tree):
            left = _MARGIN + depth * _STEP
            if parent is not None:
                self._link(*places[parent], left, top + _LINE)
            bottom = self._box(node, left, top)
            places.append((left, bottom))
            top = bottom + 10
        self.height = self._sentences(unit.notes, top + _LINE)

    def _box(self, node: Box, left: float, top: float) -> float:
        lines = [(line, "how") for line in textwrap.wrap(node.label, _NOTE_LETTERS)]
        lines += [
            (line, "") for detail in node.details for line in textwrap.wrap(detail, _NOTE_LETTERS, subsequent_indent="  ")
        ]
        width = max(_length(line) for line, _ in lines) + 20
        bottom = top + len(lines) * _LINE + 12
        self._rectangle(left, top, width, bottom - top, "state", 6)
        for number, (line, kind) in enumerate(lines, 1):
            self._text(left + 10, top + number * _LINE + 2, line, kind)
        self.width = max(self.width, left + width + _MARGIN)
        return bottom

    def _link(self, left: float, bottom: float, child: float, middle: float) -> None:
        """From below a box down its edge, where nothing of its subtree stands, to a child."""
        x = left + _STEP / 2
        self.elements.append(
            f'<path class="edge" d="M {x:.1f} {bottom:.1f} L {x:.1f} {middle:.1f} L {child:.1f} {middle:.1f}"/>'
        )


def _label(transition: Transition) -> _Label:
    lines: list[tuple[str, str]] = []
    for number, sentence in enumerate(conditions(transition)):
        kind = "how" if number == 0 else "absent" if sentence.startswith("unless ") else ""
        lines += [(line, kind) for line in textwrap.wrap(sentence.strip(), _LABEL_LETTERS)]
    return _Label(tuple(lines), max(_length(line) for line, _ in lines), len(lines) * _LINE)


def _length(text: str) -> float:
    """The width of a text; letters of East Asian scripts take two places."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) * _LETTER


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text), quote=False)
