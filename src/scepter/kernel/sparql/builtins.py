"""SPARQL 1.1's built-in functions (§17.4) on terms. The forms that do not evaluate all their arguments are in expressions."""

from __future__ import annotations

import hashlib
import math
import random
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias
from urllib.parse import quote, urljoin

from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.regex import compile_regex, expand_replacement
from scepter.rdf.terms import IRI, LANG_STRING, STRING, BlankNode, Literal, Term
from scepter.rdf.values import (
    Date,
    DateTime,
    ExpressionError,
    Number,
    Single,
    Time,
    boolean,
    number_of,
    to_literal,
    value_of,
    value_or_none,
)
from scepter.rdf.values.numeric import negate, round_half_up, to_double
from scepter.rdf.values.temporal import civil, day_time, divmod_seconds, zone_text

LONGEST = 16_000_000
"""Characters of a string that CONCAT, REPLACE and GROUP_CONCAT make."""
Arguments: TypeAlias = tuple[Term, ...]
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in: how many arguments it takes and what it makes of them."""

    call: Callable[[Arguments, Context], Term]
    least: int
    most: int | None


def _literal(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no literal")
    return term


def _string(term: Term) -> Literal:
    """A string literal, with or without language."""
    if isinstance(term, Literal) and term.datatype in (STRING, LANG_STRING):
        return term
    raise ExpressionError(f"{term} is no string")


def _simple(term: Term) -> str:
    """The text of a string literal without language."""
    if isinstance(term, Literal) and term.datatype == STRING:
        return term.lexical
    raise ExpressionError(f"{term} is no string without language")


def _like(model: Literal, text: str) -> Literal:
    return Literal(text, model.datatype, model.language)


def _compatible(arguments: Arguments) -> tuple[Literal, str]:
    """Two string literals that may be compared (SPARQL 1.1 §17.4.3.1.2)."""
    first, second = _string(arguments[0]), _string(arguments[1])
    if second.language is not None and second.language != first.language:
        raise ExpressionError(f"the languages of {first} and {second} differ")
    return first, second.lexical


def _number(term: Term) -> Number:
    return number_of(_literal(term))


def _str(arguments: Arguments, _: Context) -> Term:
    match arguments[0]:
        case IRI(text) | Literal(text):
            return Literal(text)
        case BlankNode() as node:
            raise ExpressionError(f"{node} has no text")


def _lang_matches(arguments: Arguments, _: Context) -> Term:
    tag, wanted = _simple(arguments[0]).lower(), _simple(arguments[1]).lower()
    if wanted == "*":
        return boolean(bool(tag))
    return boolean(tag == wanted or tag.startswith(wanted + "-"))


def _iri(arguments: Arguments, _: Context) -> Term:
    """IRI(text) or, as lowering writes it for a query with BASE, IRI(text, base)."""
    if isinstance(arguments[0], IRI):
        return arguments[0]
    text = _simple(arguments[0])
    if not _ABSOLUTE.match(text) and len(arguments) == 2 and isinstance(arguments[1], IRI):
        text = urljoin(arguments[1].value, text)
    if not _ABSOLUTE.match(text) or _NOT_IN_IRI.search(text):
        raise ExpressionError(f"{text!r} is no IRI")
    return IRI(text)


def _bnode(arguments: Arguments, context: Context) -> Term:
    if not arguments:
        return context.fresh()
    label = _simple(arguments[0])
    if label not in context.labels:
        context.labels[label] = context.fresh()
    return context.labels[label]


def _str_dt(arguments: Arguments, _: Context) -> Term:
    if not isinstance(arguments[1], IRI):
        raise ExpressionError(f"{arguments[1]} is no datatype")
    if arguments[1].value == LANG_STRING:
        raise ExpressionError("a string with language needs STRLANG")
    return Literal(_simple(arguments[0]), arguments[1].value)


def _str_lang(arguments: Arguments, _: Context) -> Term:
    text, language = _simple(arguments[0]), _simple(arguments[1])
    if _LANGUAGE_TAG.fullmatch(language) is None:
        raise ExpressionError(f"{language!r} is no language tag")
    return Literal(text, LANG_STRING, language.lower())


def _is_numeric(arguments: Arguments, _: Context) -> Term:
    term = arguments[0]
    value = value_or_none(term) if isinstance(term, Literal) else None
    return boolean(isinstance(value, (int, Decimal, float)) and not isinstance(value, bool))


def _abs(arguments: Arguments, _: Context) -> Term:
    number = _number(arguments[0])
    minus_zero = isinstance(number, float) and math.copysign(1, number) < 0
    return to_literal(negate(number) if number < 0 or minus_zero else number)


def _round_with(whole: Callable[[Number], int]) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        number = _number(arguments[0])
        match number:
            case int():
                return to_literal(number)
            case Decimal():
                return to_literal(Decimal(whole(number)))
            case _ if not math.isfinite(number):
                return to_literal(number)
            case _:
                result = math.copysign(float(whole(number)), number)
                return to_literal(Single(result) if isinstance(number, Single) else result)

    return call


def bounded(length: int) -> None:
    """Refuse a string that is longer than any may grow: a few that double themselves would fill every memory."""
    if length > LONGEST:
        raise ExpressionError(f"a string of more than {LONGEST:,} characters")


def _concat(arguments: Arguments, _: Context) -> Term:
    strings = [_string(term) for term in arguments]
    bounded(sum(len(s.lexical) for s in strings))
    text = "".join(s.lexical for s in strings)
    languages = {s.language for s in strings}
    language = languages.pop() if len(languages) == 1 else None
    return Literal(text) if language is None else Literal(text, LANG_STRING, language)


def _contains(test: Callable[[str, str], bool]) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        first, second = _compatible(arguments)
        return boolean(test(first.lexical, second))

    return call


def _str_before(arguments: Arguments, _: Context) -> Term:
    first, second = _compatible(arguments)
    before, found, _after = first.lexical.partition(second) if second else ("", "found", "")
    return _like(first, before) if found else Literal("")


def _str_after(arguments: Arguments, _: Context) -> Term:
    first, second = _compatible(arguments)
    _before, found, after = first.lexical.partition(second) if second else ("", "found", first.lexical)
    return _like(first, after) if found else Literal("")


def _mapped(function: Callable[[str], str]) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        text = _string(arguments[0])
        return _like(text, function(text.lexical))

    return call


def _substr(arguments: Arguments, _: Context) -> Term:
    """Characters from 1; the ends are rounded, and may lie outside (F&O fn:substring)."""
    source = _string(arguments[0])
    start = _position(arguments[1])
    end = start + _position(arguments[2]) if len(arguments) == 3 else math.inf
    if math.isnan(start) or math.isnan(end):
        return _like(source, "")
    size = len(source.lexical)
    low, high = int(min(max(start, 1), size + 1)), int(min(max(end, 1), size + 1))
    return _like(source, source.lexical[low - 1 : high - 1] if low < high else "")


def _position(term: Term) -> float:
    number = _number(term)
    return number if isinstance(number, float) and not math.isfinite(number) else to_double(round_half_up(number))


def _regex(arguments: Arguments, _: Context) -> Term:
    flags = _simple(arguments[2]) if len(arguments) == 3 else ""
    return boolean(compile_regex(_simple(arguments[1]), flags).found(_string(arguments[0]).lexical))


def _replace(arguments: Arguments, _: Context) -> Term:
    source, pattern, replacement = _string(arguments[0]), _simple(arguments[1]), _simple(arguments[2])
    flags = _simple(arguments[3]) if len(arguments) == 4 else ""
    compiled = compile_regex(pattern, flags)
    if compiled.found(""):
        raise ExpressionError(f"the pattern {pattern!r} matches the empty string")
    literal = "q" in flags
    template = replacement.replace("\\", "\\\\") if literal else expand_replacement(replacement, compiled.groups)
    return _like(source, compiled.replaced(template, source.lexical, LONGEST))


def _moment(term: Term) -> DateTime | Date | Time:
    value = value_of(_literal(term))
    if not isinstance(value, (DateTime, Date, Time)):
        raise ExpressionError(f"{term} is no date or time")
    return value


def _calendar(field: int) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        moment = _moment(arguments[0])
        if isinstance(moment, Time):
            raise ExpressionError(f"{moment} has no date")
        return to_literal(civil(moment.day)[field])

    return call


def _clock(unit: int, modulus: int) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        moment = _moment(arguments[0])
        if isinstance(moment, Date):
            raise ExpressionError(f"{moment} has no time of day")
        return to_literal(divmod_seconds(moment.seconds, unit)[0] % modulus)

    return call


def _seconds(arguments: Arguments, _: Context) -> Term:
    moment = _moment(arguments[0])
    if isinstance(moment, Date):
        raise ExpressionError(f"{moment} has no time of day")
    return to_literal(divmod_seconds(moment.seconds, 60)[1])


def _timezone(arguments: Arguments, _: Context) -> Term:
    zone = _moment(arguments[0]).zone
    if zone is None:
        raise ExpressionError(f"{arguments[0]} has no time zone")
    return to_literal(day_time(Decimal(zone * 60)))


def _hash(name: str) -> Callable[[Arguments, Context], Term]:
    def call(arguments: Arguments, _: Context) -> Term:
        return Literal(hashlib.new(name, _simple(arguments[0]).encode(), usedforsecurity=False).hexdigest())

    return call


def _is_kind(*kinds: type) -> Callable[[Arguments, Context], Term]:
    return lambda arguments, _: boolean(isinstance(arguments[0], kinds))


def _plus(arguments: Arguments, _: Context) -> Term:
    return to_literal(_number(arguments[0]))


def _timestamp(arguments: Arguments, context: Context) -> Term:
    """Not SPARQL's: the time of a streamed triple (C-SPARQL)."""
    if context.timestamp is None:
        raise ExpressionError("triples have no time here")
    return context.timestamp(*arguments)


FUNCTIONS: dict[str, Function] = {
    "+": Function(_plus, 1, 1),
    "STR": Function(_str, 1, 1),
    "LANG": Function(lambda a, _: Literal(_literal(a[0]).language or ""), 1, 1),
    "LANGMATCHES": Function(_lang_matches, 2, 2),
    "DATATYPE": Function(lambda a, _: IRI(_literal(a[0]).datatype), 1, 1),
    "IRI": Function(_iri, 1, 2),
    "URI": Function(_iri, 1, 2),
    "BNODE": Function(_bnode, 0, 1),
    "RAND": Function(lambda _, __: to_literal(random.random()), 0, 0),
    "ABS": Function(_abs, 1, 1),
    "CEIL": Function(_round_with(math.ceil), 1, 1),
    "FLOOR": Function(_round_with(math.floor), 1, 1),
    "ROUND": Function(_round_with(round_half_up), 1, 1),
    "CONCAT": Function(_concat, 0, None),
    "STRLEN": Function(lambda a, _: to_literal(len(_string(a[0]).lexical)), 1, 1),
    "UCASE": Function(_mapped(str.upper), 1, 1),
    "LCASE": Function(_mapped(str.lower), 1, 1),
    "ENCODE_FOR_URI": Function(lambda a, _: Literal(quote(_string(a[0]).lexical, safe="-_.~")), 1, 1),
    "CONTAINS": Function(_contains(str.__contains__), 2, 2),
    "STRSTARTS": Function(_contains(str.startswith), 2, 2),
    "STRENDS": Function(_contains(str.endswith), 2, 2),
    "STRBEFORE": Function(_str_before, 2, 2),
    "STRAFTER": Function(_str_after, 2, 2),
    "YEAR": Function(_calendar(0), 1, 1),
    "MONTH": Function(_calendar(1), 1, 1),
    "DAY": Function(_calendar(2), 1, 1),
    "HOURS": Function(_clock(3600, 24), 1, 1),
    "MINUTES": Function(_clock(60, 60), 1, 1),
    "SECONDS": Function(_seconds, 1, 1),
    "TIMEZONE": Function(_timezone, 1, 1),
    "TZ": Function(lambda a, _: Literal(zone_text(_moment(a[0]).zone)), 1, 1),
    "TIMESTAMP": Function(_timestamp, 3, 3),
    "NOW": Function(lambda _, context: context.now(), 0, 0),
    "UUID": Function(lambda _, __: IRI(f"urn:uuid:{uuid.uuid4()}"), 0, 0),
    "STRUUID": Function(lambda _, __: Literal(str(uuid.uuid4())), 0, 0),
    "MD5": Function(_hash("md5"), 1, 1),
    "SHA1": Function(_hash("sha1"), 1, 1),
    "SHA256": Function(_hash("sha256"), 1, 1),
    "SHA384": Function(_hash("sha384"), 1, 1),
    "SHA512": Function(_hash("sha512"), 1, 1),
    "STRLANG": Function(_str_lang, 2, 2),
    "STRDT": Function(_str_dt, 2, 2),
    "SAMETERM": Function(lambda a, _: boolean(a[0] == a[1]), 2, 2),
    "ISIRI": Function(_is_kind(IRI), 1, 1),
    "ISURI": Function(_is_kind(IRI), 1, 1),
    "ISBLANK": Function(_is_kind(BlankNode), 1, 1),
    "ISLITERAL": Function(_is_kind(Literal), 1, 1),
    "ISNUMERIC": Function(_is_numeric, 1, 1),
    "REGEX": Function(_regex, 2, 3),
    "SUBSTR": Function(_substr, 2, 3),
    "REPLACE": Function(_replace, 3, 4),
}
