"""What the README shows is what happens: its commands, its five queries and its links."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.markdown import blocks, commands, run, section, with_output

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
# heading → extension, name of the stream in the query
LANGUAGES = {
    "EP-SPARQL": ("epsparql", "http://example/prices"),
    "SPAseq": ("spaseq", "Prices"),
    "OBEP": ("obep", "http://example/prices"),
    "RSEP-QL": ("rsepql", ":prices"),
    "Sparkwave": ("sparkwave", "http://example/prices"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stream(document: str) -> str:
    """The command of the README that writes prices.trig."""
    return next(block.text for block, _ in commands(document) if "prices.trig <<" in block.text)


def test_first_query(folder: Path, update_fixtures: bool) -> None:
    document = README.read_text("utf-8")
    printed = []
    for block, expected in commands(document):
        text = run(block.text)
        if expected is None:
            assert text == ""
        elif update_fixtures:
            printed.append((expected, text))
        else:
            assert text == expected.text
    if update_fixtures:
        README.write_text(with_output(document, printed), "utf-8")
    assert {path.name for path in folder.iterdir()} == {"prices.trig", "fall.spaseq"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_pattern_in_each_language(language: str, folder: Path) -> None:
    document = README.read_text("utf-8")
    (query,) = (block.text for block in blocks(section(document, language)) if block.kind == "sparql")
    extension, name = LANGUAGES[language]
    run(stream(document))
    (folder / f"fall.{extension}").write_text(query, "utf-8")
    run(f"scepter run fall.{extension} --stream {name}=prices.trig --engine local --format jsonl --output found.jsonl")
    (match,) = map(json.loads, (folder / "found.jsonl").read_text("utf-8").splitlines())
    assert (match["start"], match["end"]) == (1, 8)
    if language == "OBEP":
        assert ["<http://example/ACME>", "<http://example/price>", '"65"^^<http://www.w3.org/2001/XMLSchema#integer>'] in match[
            "graph"
        ]
    else:
        assert {name: term["value"] for name, term in match["bindings"].items()} == {
            "company": "http://example/ACME", "before": "100", "after": "65",
        }  # fmt: skip


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(document: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)\)", (ROOT / document).read_text("utf-8"))
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert not missing
