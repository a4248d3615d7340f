"""The share of units that run wholly in columns does not fall."""

from __future__ import annotations

import columns


def test_no_language_falls_below_its_floor() -> None:
    found = list(columns.units())
    floors = columns.floors()
    shares = columns.shares(found)
    assert set(shares) == set(floors) == {"ep-sparql", "obep", "rsep-ql", "sparkwave", "spaseq"}
    short = {language: share for language, share in shares.items() if share < floors[language]}
    assert not short, f"fewer units in columns than tools/columns.json says: {short}"


def test_what_is_not_in_columns_says_why() -> None:
    for unit in columns.units():
        assert all(reason and not reason[0].isspace() for reason in unit.reasons), unit
