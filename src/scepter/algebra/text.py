"""The algebra as text that a person reads, and that parses back to the same nodes.

    PREFIX : <http://example/>
    (sequence
      (step (scan "A" :power (bgp (triple ?h :pow ?p)) (filters (> ?p 3))))
      (step next (scan "B" :weather (bgp (triple ?w :value ?v)))))

Every node is a list: its tag, then its flags (a selection, `distinct`, `negated`), then its fields in order, the last one
without parentheses of its own if it is a tuple, then the fields that differ from their default as `(name value …)`.
Variables and constants are written as themselves, terms as in Turtle. `(op a b c)` is `(op (op a b) c)`. The forms are derived
from the dataclasses, so that a new node needs no code here. Spans are left out.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import reduce
from typing import Any, TypeVar, overload

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.forms import OPERATORS, Field, Form, alternatives, describe, enum_of, form_of, is_repeated, tags
from scepter.algebra.sexpr import Atom, Doc, Item, Kind, Listing, fault, layout, read
from scepter.algebra.walk import Algebra, is_node
from scepter.errors import QueryError, Source, Span, nearest
from scepter.rdf.terms import IRI, LANG_STRING, STRING, WELL_KNOWN_PREFIXES, XSD, BlankNode, Literal, Term, escape, unescape
from scepter.timeline import MICROSECONDS, TIME_UNITS, Duration

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[\w:.\-]+")
_LOCAL_NAME = re.compile(r"\w[\w\-]*")
_SHORT_LITERALS = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}
_DURATION = re.compile(r"(-?[0-9]{1,30})(us|ms|s|min|h|d| units)")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOTHING = object()
_PREFIX_LINE = re.compile(r"\s*PREFIX\s+([\w\-]*):\s*<([^<>\s]*)>", re.IGNORECASE)


def format_node(node: Algebra, prefixes: Mapping[str, str] | None = None) -> str:
    """The text of a node; IRIs are shortened by the prefixes, which then head the text.

    >>> from scepter.algebra.expressions import And, Compare, Constant, Variable
    >>> print(format_node(And(Variable("x"), Compare("<", Variable("y"), Constant(Literal("3", XSD + "integer"))))))
    (and ?x (< ?y 3))
    """
    return _Writer(prefixes or {}).text(node)


class _Writer:
    def __init__(self, prefixes: Mapping[str, str]) -> None:
        given = {**WELL_KNOWN_PREFIXES, **prefixes}
        self._prefixes = sorted(((iri, name) for name, iri in given.items() if iri), key=lambda p: (-len(p[0]), p))
        self._declared = {name: iri for name, iri in prefixes.items() if WELL_KNOWN_PREFIXES.get(name) != iri}
        self._used: set[str] = set()

    def text(self, node: Algebra) -> str:
        body = layout(self._doc(node))
        header = [f"PREFIX {name}: {_iri(iri)}\n" for name, iri in self._declared.items() if name in self._used]
        return "".join(header) + body

    def _doc(self, value: Any) -> Doc:
        match value:
            case None:
                return "none"
            case bool():
                return str(value).lower()
            case Enum():
                return str(value.value)
            case int():
                return str(value)
            case str():
                return f'"{escape(value)}"'
            case Duration():
                return _duration(value)
            case Variable(name):
                return "?" + _name(name)
            case Constant(term):
                return self._term(term)
            case IRI() | BlankNode() | Literal():
                return self._term(value)
            case (Variable() as column, None):
                return self._doc(column)
            case tuple():
                return [self._doc(item) for item in value]
            case _ if is_node(value):
                return self._node(value)
        raise TypeError(f"{value!r} has no place in the algebra")

    def _node(self, node: Any) -> Doc:
        form = form_of(type(node))
        if form.chains:
            return self._chain(node, form.tag)
        values = [getattr(node, f.name) for f in form.fields]
        tag = form.tag
        if values and isinstance(values[0], str) and OPERATORS.get(values[0]) is form.kind:
            tag = values.pop(0)
        doc: list[Doc] = [tag]
        for flag in form.flags:
            if (value := getattr(node, flag.name)) != flag.default:
                doc.append(flag.name if value is True else self._doc(value))
        doc += [self._doc(value) for value in values]
        if form.rest is not None:
            doc += [self._doc(item) for item in getattr(node, form.rest.name)]
        return doc + [
            self._keyword(f, getattr(node, f.name)) for f in form.keywords.values() if getattr(node, f.name) != f.default
        ]

    def _chain(self, node: Any, tag: str) -> Doc:
        kind, operands = type(node), []
        while type(node) is kind:
            operands.append(self._doc(node.right))
            node = node.left
        return [tag, self._doc(node), *reversed(operands)]

    def _keyword(self, field: Field, value: Any) -> Doc:
        return [field.name, *(self._doc(item) for item in (value if is_repeated(field.hint) else (value,)))]

    def _term(self, term: Term) -> str:
        match term:
            case IRI(value):
                return self._short(value) or _iri(value)
            case BlankNode(label):
                return "_:" + _name(label)
            case Literal(lexical, datatype, None):
                if (pattern := _SHORT_LITERALS.get(datatype)) and pattern.fullmatch(lexical):
                    return lexical
                plain = str(Literal(lexical))
                return plain if term == Literal(lexical) else f"{plain}^^{self._short(datatype) or _iri(datatype)}"
            case Literal():
                return str(term)
        typing.assert_never(term)

    def _short(self, iri: str) -> str | None:
        for namespace, prefix in self._prefixes:
            if iri.startswith(namespace) and _LOCAL_NAME.fullmatch(iri, len(namespace)):
                self._used.add(prefix)
                return f"{prefix}:{iri[len(namespace) :]}"
        return None


def _iri(value: str) -> str:
    return "<" + _NOT_IN_IRI.sub(lambda m: f"\\u{ord(m.group()):04X}", value) + ">"


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else f'"{escape(name)}"'


def _duration(duration: Duration) -> str:
    if duration.bare:
        return f"{duration.amount} units"
    unit = next(u for u in reversed(TIME_UNITS) if duration.amount % MICROSECONDS[u] == 0)
    return f"{duration.amount // MICROSECONDS[unit]}{unit}"


@overload
def parse_node(text: str, *, name: str = ...) -> Algebra: ...
@overload
def parse_node(text: str, kind: type[T], *, name: str = ...) -> T: ...
def parse_node(text: str, kind: Any = None, *, name: str = "<algebra>") -> Any:
    """The node a text says, the inverse of `format_node`; with `kind`, it must be of that type.

    >>> parse_node("(or ?x ?y ?z)") == parse_node("(or (or ?x ?y) ?z)")
    True

    Raises QueryError, with the place, on text that is none.
    """
    source = Source(name, text)
    prefixes, body = _split_prefixes(source)
    items = read(body)
    if len(items) != 1:
        span = items[1].span if items else Span(len(text), len(text))
        raise fault(source, span, "more than one node" if items else "no node: the text is empty")
    return _Reader(source, prefixes).build(items[0], Algebra if kind is None else kind)


def _split_prefixes(source: Source) -> tuple[dict[str, str], Source]:
    """The prefixes that head a text, and the text with them blanked out, so that places stay right."""
    prefixes = dict(WELL_KNOWN_PREFIXES)
    at = 0
    while match := _PREFIX_LINE.match(source.text, at):
        try:
            prefixes[match.group(1)] = unescape(match.group(2))
        except ValueError as error:
            raise fault(source, Span(*match.span(2)), str(error)) from None
        at = match.end()
    return prefixes, Source(source.name, re.sub(r"\S", " ", source.text[:at]) + source.text[at:])


class _Reader:
    def __init__(self, source: Source, prefixes: Mapping[str, str]) -> None:
        self._source = source
        self._prefixes = prefixes

    def _fault(self, item: Item, message: str, help: str | None = None) -> QueryError:
        return fault(self._source, item.span, message, help)

    def _expected(self, item: Item, hint: Any) -> QueryError:
        return self._fault(item, f"expected {describe(hint)}")

    def build(self, item: Item, hint: Any) -> Any:
        choices = alternatives(hint)
        if isinstance(item, Atom):
            return self._atom(item, hint, choices)
        shape = next((c for c in choices if typing.get_origin(c) is tuple), None)
        return self._tuple(item, shape) if shape is not None else self._node(item, hint, choices)

    def _tuple(self, item: Listing, hint: Any) -> tuple[Any, ...]:
        shape = typing.get_args(hint)
        if is_repeated(hint):
            return tuple(self.build(i, shape[0]) for i in item.items)
        if len(item.items) != len(shape):
            raise self._expected(item, hint)
        return tuple(self.build(i, s) for i, s in zip(item.items, shape, strict=True))

    def _node(self, item: Listing, hint: Any, choices: tuple[Any, ...]) -> Any:
        if not item.items or not isinstance(tag := item.items[0], Atom):
            raise self._expected(item, hint)
        kind = OPERATORS.get(tag.text) or tags().get(tag.text)
        if kind is None:
            close = nearest(tag.text, tags())
            raise self._fault(tag, f"no node is called {tag.text}", f"did you mean {close}?" if close else None)
        if kind not in choices:
            raise self._expected(item, hint)
        form = form_of(kind)
        operands = item.items[1:]
        if form.chains:
            return self._chain(item, form, operands)
        given = {form.fields[0].name: tag.text} if tag.text in OPERATORS else {}
        return kind(**given, **self._fields(item, form, operands, len(given)))

    def _chain(self, item: Listing, form: Form, operands: tuple[Item, ...]) -> Any:
        if len(operands) < 2:
            raise self._fault(item, f"({form.tag} …) needs two operands or more")
        left, right = form.fields
        first = self.build(operands[0], left.hint)
        return reduce(lambda whole, operand: form.kind(whole, self.build(operand, right.hint)), operands[1:], first)

    def _fields(self, item: Listing, form: Form, operands: tuple[Item, ...], skip: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        at = 0
        while at < len(operands) and self._flag(operands[at], form, values):
            at += 1
        for field in form.fields[skip:]:
            if at == len(operands):
                raise self._fault(item, f"({form.tag} …) lacks its {field.name}: {describe(field.hint)}")
            values[field.name] = self.build(operands[at], field.hint)
            at += 1
        rest: list[Any] = []
        for operand in operands[at:]:
            if not self._keyword(operand, form, values):
                if form.rest is None:
                    raise self._fault(operand, f"({form.tag} …) takes nothing here")
                rest.append(self.build(operand, typing.get_args(form.rest.hint)[0]))
        return values if form.rest is None else {**values, form.rest.name: tuple(rest)}

    def _flag(self, operand: Item, form: Form, values: dict[str, Any]) -> bool:
        if not isinstance(operand, Atom) or operand.kind is not Kind.SYMBOL:
            return False
        for flag in form.flags:
            enum = enum_of(flag.hint)
            members = {flag.name: True} if enum is None else {str(member.value): member for member in enum}
            if operand.text in members and flag.name not in values:
                values[flag.name] = members[operand.text]
                return True
        return False

    def _keyword(self, operand: Item, form: Form, values: dict[str, Any]) -> bool:
        if not isinstance(operand, Listing) or not operand.items or not isinstance(name := operand.items[0], Atom):
            return False
        if (field := form.keywords.get(name.text)) is None:
            return False
        if field.name in values:
            raise self._fault(operand, f"{field.name} is given twice")
        arguments = operand.items[1:]
        if is_repeated(field.hint):
            values[field.name] = tuple(self.build(a, typing.get_args(field.hint)[0]) for a in arguments)
        elif len(arguments) == 1:
            values[field.name] = self.build(arguments[0], field.hint)
        else:
            raise self._fault(operand, f"expected ({field.name} x) where x is {describe(field.hint)}")
        return True

    def _atom(self, atom: Atom, hint: Any, choices: tuple[Any, ...]) -> Any:
        if atom.kind is Kind.VARIABLE:
            return self._variable(atom, hint, choices)
        if atom.kind is Kind.SYMBOL and (found := self._word(atom, choices)) is not _NOTHING:
            return found
        if atom.kind is Kind.STRING and str in choices:
            return self._plain_string(atom)
        if Constant in choices:
            return Constant(self._term(atom, hint))
        if any(c in choices for c in (IRI, BlankNode, Literal)) and type(term := self._term(atom, hint)) in choices:
            return term
        raise self._expected(atom, hint)

    def _variable(self, atom: Atom, hint: Any, choices: tuple[Any, ...]) -> Any:
        variable = Variable(self._name(atom, atom.text[1:]))
        if Variable in choices:
            return variable
        if any(
            typing.get_args(c)[:1] == (Variable,) and types.NoneType in alternatives(typing.get_args(c)[-1]) for c in choices
        ):
            return (variable, None)  # a column that is the variable itself
        raise self._expected(atom, hint)

    def _word(self, atom: Atom, choices: tuple[Any, ...]) -> Any:
        """A symbol that is no term: none, a truth value, an integer, a duration or a member of an enumeration."""
        text = atom.text
        if text == "none" and types.NoneType in choices:
            return None
        if bool in choices and text in ("true", "false"):
            return text == "true"
        if int in choices and re.fullmatch(r"-?[0-9]{1,100}", text):
            return int(text)
        if Duration in choices and (match := _DURATION.fullmatch(text)):
            amount, unit = int(match.group(1)), match.group(2)
            return Duration(amount, bare=True) if unit == " units" else Duration(amount * MICROSECONDS[unit])
        members = {str(m.value): m for c in choices if (enum := enum_of(c)) for m in enum}
        return members.get(text, _NOTHING)

    def _plain_string(self, atom: Atom) -> str:
        if not atom.text.endswith('"'):
            raise self._fault(atom, "expected a string, found a literal with a datatype or a language")
        return self._unescaped(atom, atom.text[1:-1])

    def _name(self, atom: Atom, text: str) -> str:
        return self._unescaped(atom, text[1:-1]) if text.startswith('"') else text

    def _unescaped(self, atom: Atom, text: str) -> str:
        try:
            return unescape(text)
        except ValueError as error:
            raise self._fault(atom, str(error)) from None

    def _term(self, atom: Atom, hint: Any) -> Term:
        match atom.kind:
            case Kind.IRI:
                return IRI(self._unescaped(atom, atom.text[1:-1]))
            case Kind.BLANK:
                return BlankNode(self._name(atom, atom.text[2:]))
            case Kind.STRING:
                return self._literal(atom)
            case Kind.SYMBOL:
                for datatype, pattern in _SHORT_LITERALS.items():
                    if pattern.fullmatch(atom.text):
                        return Literal(atom.text, datatype)
                if ":" in atom.text:
                    return IRI(self._expanded(atom, atom.text))
        raise self._expected(atom, hint)

    def _literal(self, atom: Atom) -> Literal:
        close = atom.text.rindex('"')
        lexical, suffix = self._unescaped(atom, atom.text[1:close]), atom.text[close + 1 :]
        if suffix.startswith("@"):
            return Literal(lexical, LANG_STRING, suffix[1:].lower())
        if suffix.startswith("^^<"):
            return Literal(lexical, self._unescaped(atom, suffix[3:-1]))
        return Literal(lexical, self._expanded(atom, suffix[2:]) if suffix else STRING)

    def _expanded(self, atom: Atom, name: str) -> str:
        prefix, _, local = name.partition(":")
        if prefix not in self._prefixes:
            raise self._fault(atom, f"the prefix {prefix}: is not declared", f"begin the text with: PREFIX {prefix}: <…>")
        return self._prefixes[prefix] + local
