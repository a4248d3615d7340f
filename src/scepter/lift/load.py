"""A mapping file, by its ending or its text: YARRRML or RML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scepter.errors import option_error
from scepter.lift.model import Mapping
from scepter.lift.rml import read_rml
from scepter.lift.yarrrml import read_yarrrml


def load_mapping(given: str | Path | Mapping) -> Mapping:
    """The mapping of a file; a text with a line break is the mapping itself."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str) and "\n" in given:
        return read_mapping(given, "mapping")
    if not str(given).strip():
        raise option_error("mapping", "the mapping is empty", help="give the path of a YARRRML or RML file, or its text")
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise option_error("no-such-file", f"--map: there is no file {path}") from None
    except (OSError, ValueError) as error:
        told = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = getattr(error, "strerror", None) or told
        raise option_error("not-readable", f"--map: {path} cannot be read: {reason}") from None
    return read_mapping(text, str(path))


def read_mapping(text: str, name: str) -> Mapping:
    """The mapping of a text; Turtle is told by the ending of its name, else by the namespaces it uses."""
    if name.lower().endswith((".ttl", ".rml", ".nt")) or (
        not name.lower().endswith((".yml", ".yaml")) and ("w3id.org/rml/" in text or "/ns/r2rml#" in text)
    ):
        return replace(read_rml(text, name), text=text)
    return replace(read_yarrrml(text, name), text=text)
