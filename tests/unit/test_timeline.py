"""Instants, durations in every spelling, and Allen's relations."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scepter.timeline import (
    LAST_INSTANT,
    MAX_INSTANT,
    MICROSECONDS,
    MIN_INSTANT,
    Allen,
    Duration,
    Interval,
    TimeKind,
    format_instant,
    parse_datetime,
    parse_duration,
    parse_instant,
)

SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000


@pytest.mark.parametrize(
    ("spellings", "amount"),
    [
        ("7us|7 microseconds|7 MICROSECOND|0.007ms|PT0.000007S", 7),
        ("3ms|3000us|3 MILLISECONDS|3 millisecond|0.003s", 3_000),
        ("5s|5 sec|5 SECS|5 second|5 seconds|5S|PT5S|pt5s|5000ms| 5 s |5.000 s|PT5.0S", 5 * SECOND),
        ("5m|5M|5min|5 mins|5 minute|5 MINUTES|PT5M|300s|PT300S|PT4M60S", 5 * MINUTE),
        ("1h|1H|1 hr|1 hrs|1 hour|1 HOURS|PT1H|PT60M|1.0h|60min", HOUR),
        ("30d|30 D|30 day|30 DAYS|P30D|P30DT0S|P4W2D|720h", 30 * DAY),
        ("1.5s|1500ms|PT1.5S|PT1.500000000S", 1_500_000),
        ("0s|P0D|PT0S|0.0h", 0),
        ("P1DT1H1M1.000001S", DAY + HOUR + MINUTE + SECOND + 1),
    ],
)
def test_durations(spellings: str, amount: int) -> None:
    assert {parse_duration(s) for s in spellings.split("|")} == {Duration(amount)}


@pytest.mark.parametrize("text", ["100", " 100 ", "0100", "0"])
def test_a_bare_number_counts_time_units(text: str) -> None:
    assert parse_duration(text) == Duration(int(text), bare=True)


def test_m_is_a_minute_in_either_case_and_a_month_is_refused() -> None:
    assert parse_duration("1m") == parse_duration("1M") == parse_duration("PT1M") == Duration(MINUTE)
    for text in ("P1M", "P1Y", "P1Y2M3DT4H", "p2m"):
        with pytest.raises(ValueError, match="has no fixed length"):
            parse_duration(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "s", "-5s", "+5s", "5 5", "5s5", "5 parsecs", "5.s", ".5s", "1e3s", "1,5s", "1.5", "0.0000001s", "1.5us",
        "P", "PT", "P1DT", "PT1", "P1H", "P1S", "PT1D", "PT1S1M", "PT.5S", "PT0.0000001S", "-PT5S", "P1W1Y", "٣s", "PT٣S", "५",
        "9999999999999999999", "99999999999999d", "P99999999999999D", "9" * 10_000 + "s", "PT" + "9" * 10_000 + "S",
        "x" * 10_000,
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused_in_few_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|unit|fixed|finer|longer") as caught:
        parse_duration(text)
    assert len(str(caught.value)) < 250


@given(st.integers(0, MAX_INSTANT), st.booleans())
def test_a_duration_prints_as_one_that_parses(amount: int, bare: bool) -> None:
    duration = Duration(amount, bare)
    assert parse_duration(str(duration).removesuffix(" time units")) == duration


def test_ticks() -> None:
    assert Duration(5 * SECOND).ticks(TimeKind.DATETIME, "h") == 5 * SECOND
    assert Duration(5 * SECOND).ticks(TimeKind.INTEGER, "s") == 5
    assert Duration(5, bare=True).ticks(TimeKind.INTEGER, "s") == 5
    assert Duration(5, bare=True).ticks(TimeKind.DATETIME, "d") == 5 * DAY
    assert {unit: Duration(DAY).ticks(TimeKind.INTEGER, unit) for unit in ("d", "h", "us")} == {"d": 1, "h": 24, "us": DAY}


def test_ticks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="1500 ms is no whole number of time units of 1 s"):
        Duration(1_500_000).ticks(TimeKind.INTEGER, "s")
    with pytest.raises(ValueError, match="longer than any timeline"):
        Duration(MAX_INSTANT, bare=True).ticks(TimeKind.DATETIME, "s")


@pytest.mark.parametrize(
    ("lexical", "same"),
    [
        ("2026-01-01T24:00:00Z", "2026-01-02T00:00:00Z"),
        ("2026-12-31T24:00:00.000", "2027-01-01T00:00:00"),
        ("2024-02-28T24:00:00Z", "2024-02-29T00:00:00Z"),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00+14:00", "2025-12-31T10:00:00Z"),
        ("2026-01-01T00:00:00-05:30", "2026-01-01T05:30:00Z"),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.500000Z"),
        ("2026-01-01T00:00:00.1234569Z", "2026-01-01T00:00:00.123456Z"),
        ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
        ("2026-01-01T00:00:00." + "0" * 10_000 + "1Z", "2026-01-01T00:00:00Z"),
        ("2000-02-29T00:00:00Z", "2000-02-28T24:00:00Z"),
    ],
)
def test_spellings_of_one_moment(lexical: str, same: str) -> None:
    assert parse_datetime(lexical) == parse_datetime(same)


def test_moments() -> None:
    assert parse_datetime("1970-01-01T00:00:00Z") == 0
    assert parse_datetime("1969-12-31T23:59:59.5Z") == -500_000
    assert parse_datetime("0001-01-01T00:00:00+14:00") == parse_datetime("0001-01-01T00:00:00Z") - 14 * HOUR
    assert parse_datetime("9999-12-31T24:00:00-14:00") == parse_datetime("9999-12-31T23:59:59Z") + SECOND + 14 * HOUR


@pytest.mark.parametrize(
    "lexical",
    [
        "", "2026", "2026-01-01", "2026-01-01T00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00z", " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n", "2026-1-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T24:00:01Z", "2026-01-01T24:01:00Z",
        "2026-01-01T24:00:00.001Z", "2026-01-01T00:60:00Z", "2026-01-01T23:59:60Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+14:01", "2026-01-01T00:00:00+99:00", "2026-01-01T00:00:00+01:60",
        "2026-01-01T00:00:00+0100", "02026-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z", "99999999999-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z",
        "+2026-01-01T00:00:00Z",
        "٢٠٢٦-01-01T00:00:00Z", "9" * 10_000 + "-01-01T00:00:00Z",
    ],
)  # fmt: skip
def test_what_is_no_datetime_is_a_value_error_in_few_words(lexical: str) -> None:
    with pytest.raises(ValueError, match=r"xsd:dateTime|outside the years") as caught:
        parse_datetime(lexical)
    assert len(str(caught.value)) < 250


@given(st.datetimes(timezones=st.just(UTC)))
def test_datetimes_agree_with_the_standard_library_and_come_back(moment: datetime) -> None:
    instant = parse_datetime(moment.isoformat())
    assert instant == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    shown = format_instant(instant, TimeKind.DATETIME)
    assert parse_instant(str(shown)) == (instant, TimeKind.DATETIME)


@given(st.integers(MIN_INSTANT, MAX_INSTANT))
def test_every_instant_can_be_shown(instant: int) -> None:
    assert str(format_instant(instant, TimeKind.DATETIME)).endswith("Z")
    assert format_instant(instant, TimeKind.INTEGER) == instant
    if abs(instant) <= LAST_INSTANT:
        assert parse_instant(str(instant)) == (instant, TimeKind.INTEGER)


@pytest.mark.parametrize(
    ("instant", "shown"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (120_000, "1970-01-01T00:00:00.12Z"),
        (253_402_300_800_000_000, "10000-01-01T00:00:00Z"),
        (-62_135_596_800_000_001, "0000-12-31T23:59:59.999999Z"),
        (-62_198_755_200_000_000, "-0001-01-01T00:00:00Z"),
        (MAX_INSTANT, "294247-01-10T04:00:54.775807Z"),
        (MIN_INSTANT, "-290308-12-21T19:59:05.224193Z"),
    ],
)
def test_instants_as_results_show_them(instant: int, shown: str) -> None:
    assert format_instant(instant, TimeKind.DATETIME) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ten",
        "1.5",
        "1_000",
        "٣",
        "0x10",
        "2026-01-01",
        str(MAX_INSTANT),
        str(LAST_INSTANT + 1),
        str(-(2**63)),
        "9" * 10_000,
    ],
)
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no xsd:dateTime|does not fit into 64 bits") as caught:
        parse_instant(text)
    assert len(str(caught.value)) < 200


def test_instants_as_written() -> None:
    assert parse_instant(" +5 ") == (5, TimeKind.INTEGER)
    assert parse_instant("-5") == (-5, TimeKind.INTEGER)


def test_time_units_are_exact_multiples() -> None:
    assert [MICROSECONDS[u] for u in ("us", "ms", "s", "min", "h", "d")] == [1, 1_000, SECOND, MINUTE, HOUR, DAY]


def test_intervals() -> None:
    assert Interval(1, 1).hull(Interval(5, 9)) == Interval(5, 9).hull(Interval(1, 1)) == Interval(1, 9)
    with pytest.raises(ValueError, match="ends before it starts: 2 > 1"):
        Interval(2, 1)


ENDS = st.tuples(st.integers(0, 6), st.integers(0, 6))
PROPER = ENDS.filter(lambda e: e[0] < e[1]).map(lambda e: Interval(*e))
ANY = ENDS.map(lambda e: Interval(min(e), max(e)))
INVERSES = [
    ("BEFORE", "AFTER"),
    ("MEETS", "METBY"),
    ("OVERLAPS", "OVERLAPPEDBY"),
    ("STARTS", "STARTEDBY"),
    ("DURING", "CONTAINS"),
    ("FINISHES", "FINISHEDBY"),
    ("EQUALS", "EQUALS"),
]


@given(PROPER, PROPER)
def test_exactly_one_of_the_thirteen_holds_for_proper_intervals(a: Interval, b: Interval) -> None:
    assert sum(relation.holds(a, b) for relation in Allen) == 1


@given(ANY, ANY)
def test_inverses_hold_the_other_way_round_and_something_always_holds(a: Interval, b: Interval) -> None:
    for name, inverse in INVERSES:
        assert Allen[name].holds(a, b) == Allen[inverse].holds(b, a)
    assert any(relation.holds(a, b) for relation in Allen)


@pytest.mark.parametrize(
    ("a", "b", "relations"),
    [
        ((1, 2), (3, 4), {"BEFORE"}),
        ((1, 3), (3, 4), {"MEETS"}),
        ((1, 4), (2, 6), {"OVERLAPS"}),
        ((1, 2), (1, 4), {"STARTS"}),
        ((2, 3), (1, 4), {"DURING"}),
        ((3, 4), (1, 4), {"FINISHES"}),
        ((1, 4), (1, 4), {"EQUALS"}),
        ((2, 2), (2, 2), {"EQUALS", "MEETS", "METBY"}),
        ((2, 2), (2, 5), {"STARTS", "MEETS"}),
        ((5, 5), (2, 5), {"FINISHES", "METBY"}),
        ((3, 3), (2, 5), {"DURING"}),
        ((2, 2), (3, 3), {"BEFORE"}),
    ],
)
def test_relations_on_endpoints_as_they_stand(a: tuple[int, int], b: tuple[int, int], relations: set[str]) -> None:
    assert {r.value for r in Allen if r.holds(Interval(*a), Interval(*b))} == relations
