"""Docstrings for the site: an example in one is shown as the session it is."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SESSION = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)


class Sessions(Extension):
    """Fences the examples of docstrings."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called for each thing that has been read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    r"""The text with each session of an interpreter in a block.

    >>> fenced("Adds.\n\n>>> 1 + 1\n2\n\nMore.")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.'
    """
    return _SESSION.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text).rstrip("\n")
