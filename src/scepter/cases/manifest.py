"""`not-yet.yaml`: cases that are known not to pass yet, by language or path, each with its reason.

A listed case is run all the same: it is shown as skipped while it fails, and is an error once it passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scepter.cases.document import read_document

FILE_NAME = "not-yet.yaml"
LANGUAGES = ("ep-sparql", "spaseq", "obep", "rsep-ql", "sparkwave")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The reasons of one `not-yet.yaml`, by language and by path (a case file or a folder of them)."""

    path: Path
    languages: dict[str, str]
    paths: dict[Path, str]

    def reason(self, case: Path, language: str | None) -> str | None:
        """Why a case is not expected to pass, None if it is."""
        for listed in (case, *case.parents):
            if listed in self.paths:
                return self.paths[listed]
        return self.languages.get(language or "")


def load_manifest(path: Path) -> Manifest:
    """The manifest of a file. Raises QueryError with the place of what is wrong."""
    document = read_document(path)
    languages: dict[str, str] = {}
    paths: dict[Path, str] = {}
    for entry in document.entries(document.root, path.name):
        reason = document.text(entry.value, f"the reason for {entry.name}").strip()
        if not reason:
            document.fail("manifest-no-reason", f"{entry.name} is listed without a reason", entry.value)
        listed = (path.parent / entry.name).resolve()
        if entry.name in LANGUAGES:
            languages[entry.name] = reason
        elif listed.exists():
            paths[listed] = reason
        else:
            message = f"{entry.name} is neither a language nor a case below {path.parent}"
            document.fail("manifest-unknown", message, entry.key, f"the languages are {', '.join(LANGUAGES)}")
    return Manifest(path, languages, paths)
