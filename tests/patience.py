"""How long tests wait. They wait for what they need, whatever the machine has to do besides: nothing is concluded from time,
but that something never comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 900
"""Seconds."""
_LOOK = 0.02
_Found = TypeVar("_Found")


def awaited(found: Callable[[], _Found | None], told: Callable[[], object] = lambda: "it did not come") -> _Found:
    """What is found, as soon as it is there; `told` is what is known where it never comes."""
    give_up = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < give_up, told()
        time.sleep(_LOOK)
    return value
