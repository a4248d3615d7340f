"""`Together`: where the answers of units that share operators part. It holds the rows of each until they are taken."""

from __future__ import annotations

from collections.abc import Sequence

from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import Rows, concat, empty
from scepter.physical.nodes.nodes import Schema
from scepter.physical.planning.sharing import Together


class Forked(Stateless):
    """The end of several plans. What it holds is taken within the step that brought it, so that it is no state."""

    def __init__(self, node: Together) -> None:
        self.schema: Schema = node.schema
        self._widths = [len(each.schema.variables) for each in node.inputs]
        self._held: list[list[Rows]] = [[] for _ in self._widths]
        self._nothing = empty(0)

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        for held, rows in zip(self._held, inputs, strict=True):
            if len(rows):
                held.append(rows)
        return self._nothing

    def taken(self) -> list[Rows]:
        """The rows of each unit since this was last asked."""
        found = [concat(held, width) for held, width in zip(self._held, self._widths, strict=True)]
        self._held = [[] for _ in self._widths]
        return found
