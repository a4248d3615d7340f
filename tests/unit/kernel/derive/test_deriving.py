"""Rounds of rules in pieces: the same answers, and an end for rules that multiply what they derived."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scepter
from scepter.errors import DataError
from scepter.kernel.derive import deriving
from scepter.kernel.operator import Until
from scepter.kernel.rows import Rows
from scepter.kernel.time_join.time_join import TimeJoined

S = "http://example/s"
PREFIX = "PREFIX : <http://example/>\n"
REACHES = scepter.parse(f"""{PREFIX}
CONSTRUCT {{ ?a :reaches ?b }} WHERE {{ ?a :next ?b }}
CONSTRUCT {{ ?a :reaches ?c }} WHERE {{ ?a :reaches ?b . ?b :reaches ?c }}
SELECT ?a ?b FROM STREAM <{S}> WHERE {{ ?a :reaches ?b }}""")
SUMS = scepter.parse(f"""{PREFIX}
CONSTRUCT {{ ?s :is ?w }} WHERE {{ {{ ?s :is ?v . ?t :is ?x }} BIND (?v + ?x AS ?w) }}
SELECT ?s ?v FROM STREAM <{S}> WHERE {{ ?s :is ?v }}""")
LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=12)


def events(triples: Sequence[tuple[str, int]]) -> list[scepter.Event]:
    return [scepter.Event(S, text, time, prefixes={"": "http://example/"}) for text, time in triples]


@given(LINKS, st.integers(1, 3))
def test_pieces_of_a_round_derive_what_whole_rounds_derive(links: list[tuple[int, int, int]], piece: int) -> None:
    given_events = events([(f":n{a} :next :n{b} .", time) for a, b, time in sorted(links, key=lambda link: link[2])])
    whole = sorted(map(str, scepter.run_local(REACHES, given_events)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deriving, "_AT_ONCE", 1)
        patch.setattr(deriving, "_FEWEST", piece)
        assert sorted(map(str, scepter.run_local(REACHES, given_events))) == whole
    pairs = {(a, b) for a, b, _ in links}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    assert len({(match.bindings["a"], match.bindings["b"]) for match in scepter.run_local(REACHES, given_events)}) == len(pairs)


def test_a_rule_over_all_pairs_of_what_it_derived_ends_before_it_takes_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    process = TimeJoined.process

    def counted(self: TimeJoined, inputs: Sequence[Rows], until: Until) -> Rows:
        found = process(self, inputs, until)
        made.append(len(found))
        return found

    monkeypatch.setattr(TimeJoined, "process", counted)
    with pytest.raises(DataError) as caught:
        scepter.run_local(SUMS, events([(":a :is 1 .", 1), (":b :is 2 .", 2), (":c :is 3 .", 3)]), max_derivations=4_000)
    assert caught.value.code == "max-derivations"
    assert max(made) < 4 * deriving._AT_ONCE  # of 4,000 by 4,000 that a round at once would make


def test_few_triples_from_very_many_solutions_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deriving, "_TOLD_AGAIN", 10)
    monkeypatch.setattr(deriving, "_MANY", 64)
    with pytest.raises(DataError, match=r"triples from more than 50000 solutions at one instant"):
        scepter.run_local(SUMS, events([(":a :is 1 .", 1), (":b :is 2 .", 2), (":c :is 3 .", 3)]), max_derivations=5_000)
