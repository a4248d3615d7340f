"""The grammars the parsers are built from, as EBNF in the W3C's notation, with every name a link to its rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib import resources

from scepter.syntax import words
from scepter.syntax.words import CORE, keywords

GRAMMARS = (CORE, *words.GRAMMARS.values())

_STATEMENT = re.compile(r"^(?P<directive>%extend |%override |)[?!]?(?P<name>[A-Za-z_]+)(?:\.-?\d+)?:", re.MULTILINE)
_TOKEN = re.compile(r'\s+|"(?P<text>[^"]+)"|/(?P<pattern>(?:[^/\\]|\\.)+)/i?s?|->\s*\w+|(?P<name>\w+)|(?P<operator>[()|?*+])')


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a rule's right side: a name, a text to be written as it stands, an operator, or a regular expression."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of one file, in its order, and the regular expressions of its terminals."""

    rules: Mapping[str, tuple[Token, ...]]
    extended: Mapping[str, tuple[Token, ...]]
    """What the file adds to rules of the core."""
    terminals: Mapping[str, str]


def read(name: str) -> Grammar:
    """The grammar of a file beside the parsers."""
    return parse(resources.files("scepter.syntax").joinpath(f"{name}.lark").read_text("utf-8"))


def parse(text: str) -> Grammar:
    """The grammar in a text of lark's."""
    text = re.sub(r"^\s*//.*$|^%ignore .*$", "", text, flags=re.MULTILINE)
    found = list(_STATEMENT.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    rules: dict[str, tuple[Token, ...]] = {}
    extended: dict[str, tuple[Token, ...]] = {}
    terminals: dict[str, str] = {}
    for each, end in zip(found, ends, strict=True):
        name, tokens = each["name"], tuple(_tokens(text[each.end() : end]))
        if name.isupper():
            (token,) = tokens
            terminals[name] = token.text if token.kind == "pattern" else re.escape(token.text)
        elif each["directive"] == "%extend ":
            extended[name] = tokens
        else:
            rules[name] = tokens
    return Grammar(rules, extended, terminals)


def _tokens(text: str) -> Iterable[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"no grammar: {text[at : at + 40]!r}")
        at = found.end()
        if found.lastgroup is not None:
            yield Token(found.lastgroup, found[found.lastgroup])


def page(language: str) -> str:
    """The rules of a language as HTML; the rules of the core are links to its page."""
    own, core = read(language), read(CORE)
    writer = _Writer(own, core, "" if language == CORE else "../sparql-core/")
    lines = [writer.rule(name, tokens) for name, tokens in own.rules.items()]
    lines += [writer.rule(name, tokens, more=True) for name, tokens in own.extended.items()]
    lines += [writer.terminal(name, pattern) for name, pattern in own.terminals.items() if not keywords(pattern)]
    return f'<pre class="ebnf">{"".join(lines)}</pre>'


class _Writer:
    """Writes rules; knows on which page each name stands."""

    def __init__(self, own: Grammar, core: Grammar, core_page: str) -> None:
        self._own, self._core, self._core_page = own, core, core_page

    def rule(self, name: str, tokens: tuple[Token, ...], more: bool = False) -> str:
        """`Name ::= …`, an alternative per line where the rule is a choice; `more` than the core's alternatives."""
        lines = [f'<a href="{self._core_page}#g-{name}">as in SPARQL</a>'] if more else []
        depth, line = 0, ""
        for token in tokens:
            match token.kind, token.text:
                case "operator", "|" if depth == 0:
                    lines.append(line)
                    line = ""
                    continue
                case "operator", "(" | ")":
                    depth += 1 if token.text == "(" else -1
                case _:
                    pass
            line = _joined(line, self._token(token))
        choices = "\n    | ".join([*lines, line])
        return f'<span id="g-{name}">{self._shown(name)}</span> ::= {choices}\n'

    def terminal(self, name: str, pattern: str) -> str:
        """A terminal by its regular expression."""
        return f'<span id="g-{name}">{name.lstrip("_")}</span> ::= /{escape(pattern)}/\n'

    def _token(self, token: Token) -> str:
        if token.kind == "text":
            return _literal(token.text)
        if token.kind in ("operator", "pattern"):
            return escape(token.text)
        found = keywords(self._own.terminals.get(token.text) or self._core.terminals.get(token.text) or "")
        if found:
            choice = " | ".join(map(_literal, found))
            return choice if len(found) == 1 else f"({choice})"
        here = token.text in {**self._own.rules, **self._own.extended, **self._own.terminals}
        return f'<a href="{"" if here else self._core_page}#g-{token.text}">{self._shown(token.text)}</a>'

    def _shown(self, name: str) -> str:
        """Two rules that differ by an underscore alone: the one that leaves no trace in the tree is the part of the other."""
        return shown(name) + ("Part" if name.startswith("_") and name.lstrip("_") in self._own.rules else "")


def shown(name: str) -> str:
    """A rule's name as the W3C writes such names.

    >>> shown("_group_body"), shown("INTEGER")
    ('GroupBody', 'INTEGER')
    """
    return name.lstrip("_") if name.isupper() else "".join(part.capitalize() for part in name.split("_"))


def _literal(text: str) -> str:
    quote = '"' if "'" in text else "'"
    return f"<b>{quote}{escape(text, quote=False)}{quote}</b>"


def _joined(line: str, token: str) -> str:
    """Operators stand at what they repeat, parentheses at what they hold."""
    tight = token in ("?", "*", "+", ")") or line.endswith("(") or not line
    return line + token if tight else f"{line} {token}"
