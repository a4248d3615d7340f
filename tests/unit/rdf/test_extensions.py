from __future__ import annotations

from scepter.rdf.extensions import EXTENSIONS
from scepter.rdf.readers import READERS


def test_every_extension_has_a_reader() -> None:
    assert tuple(READERS) == EXTENSIONS
