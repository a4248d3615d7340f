"""Examples in the documents: a block `yaml case` is a case file that the tests run; the site shows query, streams and result.

What every example of a page would repeat is left out of it: `language` is the page's, the prefix `:` is `http://example/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

FENCE = re.compile(r"^```yaml case\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{2,} (?P<title>.+)$", re.MULTILINE)
_NOTE = re.compile(r"^expect[\w-]*: +# (.+)$", re.MULTILINE)
"""Why the result is what it is: a comment behind `expect:`."""
_PREFIX = "http://example/"


@dataclass(frozen=True, slots=True)
class CaseBlock:
    """An example: under which heading it stands, and its text."""

    heading: str
    text: str

    def file(self, language: str) -> str:
        """The block as the text of a case file."""
        given = yaml.safe_load(self.text)
        defaults = {"language": language, "prefixes": {"": _PREFIX}}
        missing = {key: value for key, value in defaults.items() if key not in given}
        return (yaml.safe_dump(missing) if missing else "") + self.text


def case_blocks(document: str) -> Iterator[CaseBlock]:
    """The examples of a document, in order."""
    headings = list(_HEADING.finditer(document))
    for found in FENCE.finditer(document):
        above = [each["title"] for each in headings if each.start() < found.start()]
        yield CaseBlock(above[-1] if above else "", found["text"])


def render(document: str) -> str:
    """The document with its examples as a reader wants them."""
    return FENCE.sub(lambda found: _render(yaml.safe_load(found["text"]), _NOTE.search(found["text"])), document)


def _render(case: Mapping[str, Any], note: re.Match[str] | None) -> str:
    parts = [_fenced("sparql", case["query"], "Query")]
    parts += [_fenced("turtle", text, f"Stream {_short(iri)}") for iri, text in case.get("streams", {}).items()]
    for iri, text in case.get("background", {}).items():
        parts.append(_fenced("turtle", text, f"Background {_short(iri)}".rstrip()))
    if "ontology" in case:
        parts.append(_fenced("turtle", case["ontology"], "Ontology"))
    if "options" in case:
        parts.append("Options: " + ", ".join(f"`--{name} {_option(value)}`" for name, value in case["options"].items()))
    parts += _result(case)
    if note is not None:
        parts.append(f"({note[1]})")
    return "\n\n".join(parts)


def _result(case: Mapping[str, Any]) -> Iterator[str]:
    if "expect" in case:
        yield _table(case["expect"]) if case["expect"] else "Result: no match."
    for key in ("expect-graphs", "expect-events"):
        for each in case.get(key, ()):
            what = f" · {each['event']}" if "event" in each else ""
            title = f"Result [{each['start']}, {each['end']}]{what}"
            yield _fenced("turtle", each.get("graph") or each["assertions"], title)
        if key in case and not case[key]:
            yield "Result: no match."
    if "expect-boolean" in case:
        told = case["expect-boolean"]
        yield (
            f"Result: **{str(told).lower()}**"
            if isinstance(told, bool)
            else f"Result: **true**, at [{told['start']}, {told['end']}]"
        )
    if "expect-error" in case:
        yield f"Refused before the run: *{case['expect-error']}*"


def _table(rows: list[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [
        "| " + " | ".join(name if name in ("start", "end") else f"?{name}" for name in names) + " |",
        "|" + " --- |" * len(names),
    ]
    lines += ["| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |" for row in rows]
    return "Result:\n\n" + "\n".join(lines)


def _cell(value: object) -> str:
    return f"`{value}`".replace("|", "\\|") if isinstance(value, str) and value else str(value)


def _option(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _short(iri: str) -> str:
    return f":{iri.removeprefix(_PREFIX)}" if iri.startswith(_PREFIX) else iri


def _fenced(kind: str, text: str, title: str) -> str:
    return f'```{kind} title="{title}"\n{text.rstrip()}\n```'
