"""What RDF 1.2 adds is refused by its name; every format that is read: tests/unit/io/test_rdf12_everywhere.py."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from scepter.rdf import lexing
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import document_batches
from scepter.rdf.hashing import TermKey
from scepter.rdf.letters import REASONS
from scepter.rdf.limits import ReadLimits
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.rdf12 import DIRECTION, TRIPLE_TERM, beyond_rdf11

TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"

STREAMS = {
    "a.nq": f'<urn:e> {TIME} "1"^^{INTEGER} .\n'
    "<http://e/a> <http://e/q> {} <urn:e> .\n<http://e/a> <http://e/ok> <http://e/b> <urn:e> .\n",
    "a.trig": f"<urn:e> {TIME} 1 .\n<urn:e> {{{{ <http://e/a> <http://e/q> {{}} ; <http://e/ok> <http://e/b> }}}}\n",
}
TERMS = {TRIPLE_TERM: "<<( <http://e/b> <http://e/p> <http://e/c> )>>", DIRECTION: '"x"@en--ltr'}


@pytest.mark.parametrize("reason", list(TERMS))
@pytest.mark.parametrize("name", list(STREAMS))
def test_a_stream_gives_the_rest_and_a_dead_letter(name: str, reason: str) -> None:
    text = STREAMS[name].format(TERMS[reason]).encode()
    letters: list[DeadLetter] = []
    if name.endswith(".nq"):
        reader = NQuadsReader(TermKey.fixed(), 0, name, dead_letter=letters.append)
        reader.feed(text)
        batches = [reader.finish()]
    else:
        batches = list(document_batches(text, ox.RdfFormat.TRIG, TermKey.fixed(), 0, name, letters.append))
    assert sum(len(batch.subject) for batch in batches if batch is not None) == 1  # the triple that is none of RDF 1.2's
    assert [letter.reason for letter in letters] == [reason]


@pytest.mark.parametrize("mixed", [False, True])
def test_what_is_counted_has_the_reason_of_what_is_shown(mixed: bool) -> None:
    letters: list[DeadLetter] = []
    run = ReadState(limits=ReadLimits(letters=2))
    reader = NQuadsReader(TermKey.fixed(), 0, "a.nq", dead_letter=letters.append, run=run)
    lines = [b"<http://e/a> <http://e/p> <<( <http://e/b> <http://e/p> <http://e/c> )>> <http://e/g> .\n"] * 5
    lines[1] = b"<http://e/a> <http://e/p> <http://e/b c> <http://e/g> .\n" if mixed else lines[1]
    reader.feed(b"".join(lines))
    reader.finish()
    plain = REASONS[lexing.BAD_IRI]
    second, rest = (plain, plain) if mixed else (TRIPLE_TERM, TRIPLE_TERM)
    assert [(letter.reason, letter.count) for letter in letters] == [(TRIPLE_TERM, 1), (second, 1), (rest, 3)]


def test_a_string_may_hold_anything() -> None:
    assert beyond_rdf11(b'<urn:a> <urn:b> "<<( \\" \\"x\\"@en--ltr" nonsense .') is None
