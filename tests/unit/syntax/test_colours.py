"""Colours: every keyword of a language's parser, no word of another, the same in pygments and in editors."""

from __future__ import annotations

import json
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from pygments.token import Error, Keyword, Name, Number, String

from scepter.syntax.colours import LEXERS, textmate
from scepter.syntax.words import GRAMMARS, language_words

ROOT = Path(__file__).parents[3]
QUERIES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix.removeprefix(".") in GRAMMARS.values())


def test_words_variables_and_names() -> None:
    text = 'select ?within :seq Withing WITHIN 10 "GPM" # SEQ\n{ A SEQ B } getDURATION()'
    found = [(kind, word) for kind, word in LEXERS["spaseq"]().get_tokens(text) if word.strip()]
    assert [word for kind, word in found if kind is Keyword] == ["select", "WITHIN", "SEQ"]
    assert [word for kind, word in found if kind is Name] == ["Withing", "A", "B"]
    assert (Name.Variable, "?within") in found and (String, '"GPM"') in found and (Number, "10") in found
    assert (Name.Function, "getDURATION") in found


def test_each_language_has_its_own_words() -> None:
    assert "GPM" in language_words("spaseq") and "GPM" not in language_words("sparkwave")
    assert {"SUBCLASSOF", "RETURN"} <= set(language_words("obep"))
    for language in GRAMMARS:
        assert {"SELECT", "FILTER", "PREFIX"} <= set(language_words(language))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.name)
def test_the_examples_have_no_faults(path: Path) -> None:
    language = next(name for name, extension in GRAMMARS.items() if path.suffix == f".{extension}")
    text = path.read_text("utf-8")
    tokens = list(LEXERS[language]().get_tokens(text))
    assert not [word for kind, word in tokens if kind is Error]
    assert "".join(word for _, word in tokens).strip() == text.strip()
    assert any(kind is Keyword for kind, _ in tokens)


@pytest.mark.parametrize("language", GRAMMARS)
def test_the_files_for_editors_are_those_of_the_grammars(language: str, update_fixtures: bool) -> None:
    path = ROOT / "editors" / "vscode" / "syntaxes" / f"{GRAMMARS[language]}.tmLanguage.json"
    made = json.dumps(textmate(language), indent=2, ensure_ascii=False) + "\n"
    if update_fixtures:
        path.write_text(made, "utf-8")
    assert path.read_text("utf-8") == made, "run tools/editors"
    for rule in textmate(language)["patterns"]:
        re.compile(rule["match"])


def test_an_editor_finds_every_file() -> None:
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))["contributes"]
    assert {each["id"] for each in package["languages"]} == set(GRAMMARS.values())
    for grammar in package["grammars"]:
        described = json.loads((ROOT / "editors" / "vscode" / grammar["path"]).read_text("utf-8"))
        assert described["scopeName"] == grammar["scopeName"]


def test_pygments_is_told() -> None:
    found = {each.value for each in entry_points(group="pygments.lexers") if "scepter" in each.value}
    expected = {f"scepter.syntax.colours:{lexer.__name__}" for lexer in LEXERS.values()}
    declared = set(re.findall(r'"(scepter\.syntax\.colours:\w+)"', (ROOT / "pyproject.toml").read_text("utf-8")))
    assert declared == expected
    assert not found or found == expected  # none where the installation is older than this file
