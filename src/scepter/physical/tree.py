"""What every format of `explain` draws: labelled boxes below each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """An operator: what it is called, what there is to say about it, and what it takes."""

    label: str
    details: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()
