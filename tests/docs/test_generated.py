"""What the site takes from the source: the grammars, the commands, the codes, the colours."""

from __future__ import annotations

import doctest
import re
from html import unescape
from pathlib import Path

import pytest
from pygments.token import Keyword, Name
from typer.testing import CliRunner

import scepter
from docsite import codes, commands, docstrings, ebnf, lexer
from scepter.cli.main import COMMANDS, app
from scepter.syntax.words import CORE, keywords


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@pytest.mark.parametrize("module", [ebnf, docstrings])
def test_examples_in_docstrings(module: object) -> None:
    found = doctest.testmod(module)  # type: ignore[arg-type]
    assert found.attempted
    assert not found.failed


# ---- grammars ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ebnf.GRAMMARS)
def test_every_name_in_a_grammar_is_a_link_to_its_rule(name: str) -> None:
    core = set(re.findall(r'id="(.+?)"', ebnf.page(CORE)))
    shown = ebnf.page(name)
    own = set(re.findall(r'id="(.+?)"', shown))
    links = re.findall(r'href="(.*?)#(.+?)"', shown)
    assert links
    assert not [anchor for page, anchor in links if anchor not in (core if page else own)]


@pytest.mark.parametrize("name", ebnf.GRAMMARS)
def test_every_rule_of_a_grammar_is_shown_once(name: str) -> None:
    grammar = ebnf.read(name)
    defined = re.findall(r"^(\w+) ::=", plain(ebnf.page(name)), re.MULTILINE)
    terminals = [pattern for pattern in grammar.terminals.values() if not keywords(pattern)]
    assert len(defined) == len(set(defined)) == len(grammar.rules) + len(grammar.extended) + len(terminals)


def test_a_rule_reads_as_ebnf() -> None:
    text = plain(ebnf.page("spaseq"))
    assert "Sequence ::= 'SEQ' '(' Steps ')'\n" in text
    assert "Within ::= 'WITHIN' SIGN? INTEGER 'EVENTS'\n    | 'WITHIN' Duration 'SLIDING'?\n" in text
    assert "Primary ::= as in SPARQL\n    | FUNCTION '(' FUNCTION '.' VAR ')'\n" in text
    assert "'->' | 'SEQ' | 'BEFORE'" in plain(ebnf.page("obep"))


def test_a_grammar_of_its_own() -> None:
    grammar = ebnf.parse(
        '// a comment\n\n?start: "a" (B | c)* -> name\n    | /x\\/y/\nB: "b"\nC.2: /c[\\/]?/i\n%extend other: start\n'
        "%ignore B\n"
    )
    assert [token.text for token in grammar.rules["start"]] == ["a", "(", "B", "|", "c", ")", "*", "|", "x\\/y"]
    assert set(grammar.extended) == {"other"}
    assert set(grammar.terminals) == {"B", "C"}


def test_what_is_no_grammar_is_refused() -> None:
    with pytest.raises(ValueError, match="no grammar"):
        ebnf.parse('start: "a" ~ 3\n')


@pytest.mark.parametrize("pattern", ["[0-9]+", "", r"select", r"(?:a|b)", r"[^\W\d]\w*"])
def test_patterns_that_are_no_keywords(pattern: str) -> None:
    assert keywords(pattern) == ()


# ---- commands and codes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_in_its_table(command: str) -> None:
    section = commands.page().split(f"## scepter {command}\n")[1].split("\n## ")[0]
    told = CliRunner().invoke(app, [command, "--help"]).output
    options = set(re.findall(r"^  (-k|--[\w-]+)", told, re.MULTILINE)) - {"--help"}
    assert options
    assert not [option for option in options if f"`{option}" not in section]


def test_codes_are_found_with_their_messages(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'raise query_error("no-such-thing", f"there is no {name}: " + "look", span)\n'
        'x = self._warn("odd", told, span)\nprint("not-a-code", "text")\nfail(code, "text")\n'
    )
    assert codes.codes(tmp_path) == {"no-such-thing": ("there is no …: look",), "odd": ()}


def test_a_message_is_found_where_it_is_bound_or_by_who_calls(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'def fault(span, message):\n    return Diagnostic("bad-text", message, span)\n\n'
        'def read():\n    text = "no text"\n    raise fault(0, text if empty else f"{n} texts")\n\n'
        'def other():\n    message = "bound"\n    fail("told", message)\n'
    )
    (tmp_path / "b.py").write_text('from x.a import fault\n\nfault(1, message="from elsewhere")\n')
    (tmp_path / "c.py").write_text('def fault(a, b): ...\n\nfault(1, "of another function")\n')
    assert codes.codes(tmp_path) == {"bad-text": ("no text", "… texts", "from elsewhere"), "told": ("bound",)}


def test_every_pinned_code_is_in_the_source() -> None:
    known = codes.codes(Path(scepter.__file__).parent)
    pinned = codes.pinned(codes.ROOT / "tests" / "errors")
    assert len(pinned) > 30
    assert not set(pinned) - set(known)
    assert {code for code, messages in known.items() if not messages} == {"case-bad-time", "timeline-graph"}


def test_every_public_name_is_in_the_reference() -> None:
    page = (codes.ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    shown = set(re.findall(r"^::: scepter\.(\w+)", page, re.MULTILINE))
    assert shown == set(scepter.__all__) - {"__version__"}


# ---- colours -------------------------------------------------------------------------------------------------------------


def test_words_of_the_languages_are_keywords_and_names_are_not() -> None:
    found = list(lexer.QueryLexer().get_tokens("WITHIN 10 SLIDING ?within :seq Withing MATCH { E1 SEQ E2 }"))
    assert [text for kind, text in found if kind is Keyword] == ["WITHIN", "SLIDING", "MATCH", "SEQ"]
    assert [text for kind, text in found if kind is Name] == ["Withing", "E1", "E2"]
