"""How many units of cases/ and examples/ run in one task on Spark does not grow."""

from __future__ import annotations

import division

MOST = {
    "over history": {"ep-sparql": 15, "obep": 15, "rsep-ql": 21, "sparkwave": 4, "spaseq": 7},
    "live": {"ep-sparql": 16, "obep": 31, "rsep-ql": 23, "sparkwave": 5, "spaseq": 24},
}


def test_no_language_has_more_units_in_one_task() -> None:
    found = [each for folder in ("cases", "examples") for each in division.divisions(division.ROOT / folder)]
    for when, most in MOST.items():
        ways = division.counted(found, live=when == "live")
        alone = {language: sum(n for way, n in of.items() if "one task" in way) for language, of in ways.items()}
        assert alone.keys() == most.keys()
        assert not {language: count for language, count in alone.items() if count > most[language]}, when
    assert all(each.why for each in found)
