"""Feeds the engine a timeline written in one line and says what came when."""

from __future__ import annotations

from scepter import Engine, Event, Match, parse

S, T = "http://e/s", "http://e/t"
PREFIXES = {"": "http://e/"}


def query(seq: str, window: str = "WITHIN 10 SLIDING", select: str = "SELECT *", **bodies: str) -> str:
    """A query whose GPM `A` is `?a :a ?va` unless a body is given, and so on for each letter of the sequence."""
    letters = dict.fromkeys(c for c in seq if c.isalpha())
    gpms = "\n".join(f"DEFINE GPM {c} ON S {{ {bodies.get(c, f'?{c.lower()} :{c.lower()} ?v{c.lower()}')} }}" for c in letters)
    return f"PREFIX : <http://e/> {select} {window} FROM STREAM S <{S}> WHERE {{ SEQ ({seq})\n{gpms} }}"


def events(timeline: str, stream: str = S) -> list[Event]:
    """`1a 2b=7 2b@y=3`: at 1 `:x :a 0`, at 2 `:x :b 7` and `:y :b 3`; `3a|b` is one event, `1-4a` an interval."""
    found = []
    for word in timeline.split():
        digits = len(word) - len(word.lstrip("0123456789-"))
        start, _, end = word[:digits].partition("-")
        triples = []
        for part in word[digits:].split("|"):
            head, _, value = part.partition("=")
            kind, _, subject = head.partition("@")
            triples.append(f":{subject or 'x'} :{kind} {value or 0} .")
        found.append(Event(stream, " ".join(triples), int(start), int(end or start), name=word, prefixes=PREFIXES))
    return found


def shown(match: Match) -> str:
    """The parts of a match with the times of their events: `A1 B2 B3`."""
    parts = [f"{part}{event.end}" for part, selected in match.events.items() for event in selected]  # type: ignore[attr-defined]
    return " ".join(parts)


def feed(text: str, timeline: str, **options: object) -> list[str]:
    """`when: match` for each match, in the order they came; `end` is the close of the stream."""
    engine = Engine(parse(text, "spaseq"), **options)  # type: ignore[arg-type]
    said = [f"{event.end}: {shown(match)}" for event in events(timeline) for match in engine.push(event)]
    return said + [f"end: {shown(match)}" for match in engine.close()]
