"""The share of units in cases/ and examples/ that run in one task on Spark does not grow."""

from __future__ import annotations

import division

MOST = {
    "over history": {"ep-sparql": 0.22, "obep": 0.18, "rsep-ql": 0.28, "sparkwave": 0.14, "spaseq": 0.06},
    "live": {"ep-sparql": 0.22, "obep": 0.18, "rsep-ql": 0.26, "sparkwave": 0.14, "spaseq": 0.06},
}
"""What several MATCH of a window consume from each other (decision 0740) cannot be divided, nor what one consumes as
whole items of several windows: three cases of RSEP-QL."""


def test_no_language_has_more_units_in_one_task() -> None:
    found = [each for folder in ("cases", "examples") for each in division.divisions(division.ROOT / folder)]
    for when, most in MOST.items():
        ways = division.counted(found, live=when == "live")
        alone = {name: sum(n for way, n in of.items() if "one task" in way) / sum(of.values()) for name, of in ways.items()}
        assert alone.keys() == most.keys()
        assert not {name: share for name, share in alone.items() if share > most[name]}, when
    assert all(each.why for each in found)
