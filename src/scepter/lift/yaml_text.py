"""YAML that is read within bounds: its aliases may make gigabytes of a few lines, and its brackets may nest at will."""

from __future__ import annotations

from typing import Any, Final

import yaml

MOST_NODES: Final = 100_000
"""Parts of a text, each alias counted as what it stands for."""


def load(text: str) -> Any:
    """What a text of YAML holds; raises YAMLError, also where it is too deep or too large once its aliases are expanded."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _size(root, {})
        return yaml.safe_load(text)
    except RecursionError:
        raise yaml.YAMLError("it nests too deep") from None


def _size(node: yaml.Node, known: dict[int, int | None]) -> int:
    """The parts of a node with its aliases expanded: each node is looked at once."""
    if id(node) in known:
        size = known[id(node)]
        if size is None:
            raise yaml.YAMLError("an alias stands within what it names")
        return size
    known[id(node)] = None
    size = 1
    if isinstance(node, yaml.MappingNode):
        size += sum(_size(key, known) + _size(value, known) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_size(each, known) for each in node.value)
    if size > MOST_NODES:
        raise yaml.YAMLError(f"its aliases expand to more than {MOST_NODES:,} parts")
    known[id(node)] = size
    return size
