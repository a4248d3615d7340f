"""The time of rows: texts, numbers and timestamps of a table, as instants of a run's timeline."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from scepter.errors import option_error
from scepter.lift.columns import Column
from scepter.lift.writing import read_times
from scepter.timeline import TimeKind

NO_TIME, DATE_TIME, INTEGER = 0, 1, 2
"""What a value is read as."""
KINDS: Final = (None, TimeKind.DATETIME, TimeKind.INTEGER)
MICROSECONDS: Final = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86_400 * 10**6}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT: Final = 2.0**62

Times = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The kind and the instant of each row."""


def check_zone(name: str, zone: str) -> None:
    """Raises OptionError for a zone that nobody knows."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise option_error(
            "mapping", f"{name}: time-zone {zone!r} is not known", help="write for example Europe/Berlin or UTC"
        ) from None


def typed_times(array: pa.Array, unit: str | None, zone: str | None) -> Times | None:
    """The times of a column that has a type for them; None of a column of texts."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(array.type):
        if array.type.tz is None and zone is not None:
            array = _localized(array.cast(pa.timestamp("us"), safe=False), zone)
        micros = array.cast(pa.timestamp("us", tz=array.type.tz), safe=False).cast(pa.int64())
        valid = np.asarray(micros.is_valid())
        return np.where(valid, DATE_TIME, NO_TIME), np.asarray(micros.fill_null(0), dtype=np.int64)
    if pa.types.is_integer(array.type):
        valid = np.asarray(array.is_valid())
        plain = np.asarray(array.cast(pa.int64(), safe=False).fill_null(0), dtype=np.int64)
        return _counted(valid, plain, unit)
    if pa.types.is_floating(array.type):
        values = np.asarray(array.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)
        if unit is None:
            whole = np.isfinite(values) & (np.abs(values) < _LIMIT)
            whole &= np.where(whole, values, 0.5) == np.floor(np.where(whole, values, 0.5))
            return np.where(whole, INTEGER, NO_TIME), np.where(whole, values, 0).astype(np.int64)
        return _scaled(values, unit)
    return None


def text_times(column: Column, format: str | None, unit: str | None, zone: str | None) -> Times:
    """The times of texts: dateTimes of ISO 8601 or integers, or as the mapping says."""
    if format is not None:
        return _formatted(column, format, zone)
    if unit is not None:
        return _numbers(column, unit)
    kinds, times = np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
    read_times(column.data, column.offsets, column.valid, kinds, times)
    slow = column.valid & (kinds != INTEGER) if zone is not None else column.valid & (kinds == NO_TIME)
    for row in np.flatnonzero(slow).tolist():
        found = _iso(column.text(row), zone)
        kinds[row], times[row] = (NO_TIME, 0) if found is None else (DATE_TIME, found)
    return kinds, times


@lru_cache(maxsize=1 << 14)
def _iso(text: str, zone: str | None) -> int | None:
    """ISO 8601 in its other spellings: a blank for T, no seconds, a date alone. Without an offset it is of the zone, or UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC if zone is None else ZoneInfo(zone))
    delta = aware - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def _formatted(column: Column, format: str, zone: str | None) -> Times:
    import pandas as pd  # a second of start-up that only such a mapping needs

    texts = pd.Series(column.texts(), dtype="object")
    try:
        found = pd.to_datetime(texts, format=format, errors="coerce", utc="%z" in format or "%Z" in format)
    except ValueError as error:
        raise option_error(
            "mapping", f"time-format {format!r} cannot be read: {error}", help="write for example %d.%m.%Y %H:%M:%S"
        ) from None
    if found.dt.tz is None and zone is not None:
        found = found.dt.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward")
    return _instants(found)


def _instants(found: Any) -> Times:
    if found.dt.tz is not None:
        found = found.dt.tz_convert("UTC").dt.tz_localize(None)
    valid = np.asarray(found.notna(), dtype=np.bool_)
    micros = np.asarray(found.astype("datetime64[us]").astype("int64"))
    return np.where(valid, DATE_TIME, NO_TIME), np.where(valid, micros, 0)


def _localized(array: pa.Array, zone: str) -> pa.Array:
    series = array.to_pandas().dt.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward")
    return pa.Array.from_pandas(series)


def _numbers(column: Column, unit: str) -> Times:
    kinds, times = np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
    read_times(column.data, column.offsets, column.valid, kinds, times)
    found = _counted(kinds == INTEGER, times, unit)
    for row in np.flatnonzero(column.valid & (kinds != INTEGER)).tolist():  # fractions, or no numbers
        try:
            value = float(column.text(row))
        except ValueError:
            continue
        kind, time = _scaled(np.array([value]), unit)
        found[0][row], found[1][row] = kind[0], time[0]
    return found


def _counted(valid: NDArray[np.bool_], plain: NDArray[np.int64], unit: str | None) -> Times:
    if unit is None:
        return np.where(valid, INTEGER, NO_TIME), plain
    factor = MICROSECONDS[unit]
    fits = valid & (np.abs(plain.astype(np.float64)) * factor < _LIMIT)
    return np.where(fits, DATE_TIME, NO_TIME), np.where(fits, plain, 0) * factor


def _scaled(values: NDArray[np.float64], unit: str) -> Times:
    micros = values * MICROSECONDS[unit]
    fits = np.isfinite(micros) & (np.abs(micros) < _LIMIT)
    return np.where(fits, DATE_TIME, NO_TIME), np.round(np.where(fits, micros, 0)).astype(np.int64)
