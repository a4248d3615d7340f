"""A first mapping from a sample: which field is the time, what the rows are about, and a property for each other field."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from scepter.errors import option_error
from scepter.lift.documents import json_documents
from scepter.lift.paths import parse_path

_ROWS: Final = 200
_ENOUGH: Final = 0.7
_DELIMITERS: Final = ",;\t|"
_TIME_NAME: Final = re.compile(r"(?i)time|date|stamp|^ts$|^t$|created|published|observed")
_END_NAME: Final = re.compile(r"(?i)end|until|stop|finish")
_KEY_NAME: Final = re.compile(
    r"(?i)sensor|device|station|machine|house|room|user|customer|account|vehicle|vessel|symbol|host|source"
)
_ID_NAME: Final = re.compile(r"(?i)(?:^|_|\.)id$|Id$|^name$")
_OTHER_TIME: Final = re.compile(r"\d{1,4}[./]\d{1,2}[./]\d{2,4}|\d{1,2}/[A-Z][a-z]{2}/\d{4}:|[A-Z][a-z]{2}, \d")
_DAYS: Final = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%y")
_FORMS: Final = (
    *(f"{day}{hour}" for day in _DAYS for hour in ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", " %H:%M:%S.%f")),
    "%d/%b/%Y:%H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %Z",
)  # fmt: skip
"""Forms of times besides ISO 8601, as spreadsheets, web servers and mails write them."""
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][\w-]*\Z")

Sample = Mapping[str, Sequence[object]]
"""Some values of each field, None where there is none."""


def suggested(file: IO[bytes], extension: str, name: str) -> str:
    """A mapping in YARRRML for a file of rows or documents; raises OptionError if it holds none."""
    if extension in (".json", ".jsonl", ".ndjson"):
        sample, iterator = _documents(file, name)
    else:
        sample, iterator = _sample(file, extension), None
    if not sample:
        raise option_error("empty-source", f"{name} holds no rows to suggest a mapping from")
    return _written(sample, name, iterator)


def _documents(file: IO[bytes], name: str) -> tuple[Sample, str | None]:
    """A sample of documents; where the times stand in the items of an array, of these, and the path to them."""
    each = itertools.chain.from_iterable(json_documents(file, name, lambda letter: None))
    documents = [document for _, document in itertools.islice(each, _ROWS)]
    sample = _fields(documents)
    time = _time(sample)
    array, within, _ = (time or "").rpartition("[*].")
    if time is None and len(documents) == 1:
        # one document of many items, whose times are spelt as nobody here knows: the items are the rows all the same
        arrays = [key.rpartition("[*].")[0] for key in sample if "[*]." in key]
        array, within = max(arrays, key=arrays.count, default=""), "[*]." if arrays else ""
    if not within:
        return sample, None
    iterator = f"$.{array}[*]"
    items = itertools.chain.from_iterable(parse_path(iterator).items(document) for document in documents)
    return _fields(itertools.islice(items, _ROWS)), iterator


def _sample(file: IO[bytes], extension: str) -> Sample:
    if extension == ".parquet":
        table = pq.ParquetFile(file if file.seekable() else pa.BufferReader(file.read()))
        rows = next(table.iter_batches(batch_size=_ROWS), None)
        return {} if rows is None else _fields(rows.to_pylist())
    text = file.read(1 << 20).decode("utf-8-sig", errors="replace")
    lines = io.StringIO(text, newline="")
    delimiter = "\t" if extension == ".tsv" else max(_DELIMITERS, key=text.partition("\n")[0].count)
    rows = itertools.islice(csv.DictReader(lines, delimiter=delimiter), _ROWS)
    return _fields([{key: _read(value) for key, value in row.items() if isinstance(key, str)} for row in rows])


def _read(text: str | list[str] | None) -> object:
    """A cell as what it looks like."""
    if not isinstance(text, str) or not text:
        return None
    if re.match(r"[+-]?\d{1,18}\Z", text):
        return int(text)
    if re.match(r"[+-]?(?:\d+\.\d*|\.\d+)\Z", text):
        return _Decimal(float(text))
    if re.match(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+\Z", text):
        return float(text)
    return text == "true" if text in ("true", "false") else text


class _Decimal(float):
    """A number written with a point and no exponent."""


def _fields(rows: Iterable[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for count, row in enumerate(rows):
        if isinstance(row, dict):
            for key, value in _flat(row, ""):
                found.setdefault(key, [None] * count).append(value)
        for values in found.values():
            values += [None] * (count + 1 - len(values))
    return found


def _flat(row: Mapping[str, Any], before: str) -> Iterable[tuple[str, object]]:
    """Fields and the paths to fields within."""
    for key, value in row.items():
        path = f"{before}{key}" if _PLAIN_KEY.match(key) or not before else f"{before.removesuffix('.')}['{key}']"
        if isinstance(value, dict):
            yield from _flat(value, f"{path}.")
        elif isinstance(value, list):
            inner = next(iter(value), None)
            if isinstance(inner, dict):
                yield from _flat(inner, f"{path}[*].")
            elif inner is not None and not isinstance(inner, list):
                yield f"{path}[*]", inner
        else:
            yield path, value


def _written(sample: Sample, name: str, iterator: str | None) -> str:
    time = _time(sample)
    end = next((key for key in sample if key != time and _is_time(sample[key]) and _END_NAME.search(key)), None)
    subject = _subject(sample, {time, end})
    lines = [
        f"# A first mapping for {name}, from its first rows: look it through, then run",
        f"#   scepter map {name} --map THIS-FILE --limit 3",
        "prefixes:",
        '  ex: "http://example/"',
    ]
    if time is None:
        lines += ["# time: $(field)        # no field looks like a time: name it here"]
    else:
        lines += [f"time: {_value(time)}", *([f"end: {_value(end)}"] if end else []), *_unit(sample[time])]
        lines += _form(sample[time])
    lines += [
        "mappings:",
        "  row:",
        *([f"    sources: [[{json.dumps(f'{Path(name).name}~jsonpath')}, {json.dumps(iterator)}]]"] if iterator else []),
        f"    s: {_subject_text(subject)}" if subject else "    # s: ex:$(field)     # what the rows are about",
    ]
    lines += ["    po:"]
    # an object that is null in some documents is no value in any
    objects = {key for key in sample if any(other.startswith((f"{key}.", f"{key}[")) for other in sample)}
    pairs = [_pair(key, values) for key, values in sample.items() if key not in (time, end, subject, *objects)]
    return "\n".join([*lines, *(pairs or ["      - [a, ex:Row]"])]) + "\n"


def _pair(key: str, values: Sequence[object]) -> str:
    local = quote(re.sub(r"\W+", "-", key.removesuffix("[*]")).strip("-"), safe="-_") or "value"
    kind = _datatype(values)
    return f"      - [ex:{local}, {_value(key)}{', ' + kind if kind else ''}]"


def _subject_text(key: str) -> str:
    return f"ex:$({key})" if re.match(r"[\w.\-]+\Z", key) else json.dumps(f"ex:$({key})", ensure_ascii=False)


def _value(key: str) -> str:
    """A field as YAML takes it, quoted where it has to be."""
    text = f"$({key})"
    return text if re.match(r"[\w.\-]+\Z", key) else json.dumps(text, ensure_ascii=False)


def _datatype(values: Sequence[object]) -> str | None:
    given = [value for value in values if value is not None]
    tests: list[tuple[str, Callable[[object], bool]]] = [
        ("xsd:boolean", lambda value: isinstance(value, bool)),
        ("xsd:integer", lambda value: isinstance(value, int) and not isinstance(value, bool)),
        ("xsd:decimal", lambda value: isinstance(value, (int, _Decimal)) and not isinstance(value, bool)),
        ("xsd:double", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
        ("xsd:dateTime", _is_stamp),
    ]
    return next((name for name, test in tests if _mostly(test, given)), None)


def _mostly(test: Callable[[object], bool], values: Sequence[object]) -> bool:
    """Whether a test holds for nearly all values: a few broken rows should not hide what a field is."""
    return bool(values) and sum(map(test, values)) >= _ENOUGH * len(values)


def _is_stamp(value: object) -> bool:
    return isinstance(value, datetime) or (
        isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", value) is not None
    )


def _is_time(values: Sequence[object]) -> bool:
    given = [value for value in values if value is not None]
    return _mostly(_spelt_time, given) or bool(_forms(given))


def _forms(values: Sequence[object]) -> list[str]:
    """The forms that most of the values have, if it is nearly all of them, the likelier first; none of ISO 8601."""
    texts = [value for value in values if isinstance(value, str) and _OTHER_TIME.match(value)]
    if not texts or len(texts) < _ENOUGH * len(values):
        return []
    fits = {form: sum(_has_form(text, form) for text in texts) for form in _FORMS}
    most = max(fits.values())
    return [form for form in _FORMS if fits[form] == most] if most >= _ENOUGH * len(values) else []


def _has_form(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _form(values: Sequence[object]) -> list[str]:
    """How times are written, where it is not ISO 8601."""
    forms = _forms([value for value in values if value is not None])
    doubt = f"        # or {forms[1]}: the sample fits both" if len(forms) > 1 else ""
    return [f"time-format: {json.dumps(forms[0])}{doubt}"] if forms else []


def _spelt_time(value: object) -> bool:
    if isinstance(value, datetime) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return True
    if not isinstance(value, str):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _time(sample: Sample) -> str | None:
    """A field that is named like a time and holds times; else one that holds dates."""
    named = [key for key in sample if _TIME_NAME.search(key) and _is_time(sample[key]) and not _END_NAME.search(key)]
    dated = [
        key for key, values in sample.items()
        if _is_time(values) and any(isinstance(value, (str, datetime)) for value in values) and not _END_NAME.search(key)
    ]  # fmt: skip
    return next(iter([*(key for key in named if key in dated), *named, *dated]), None)


def _unit(values: Sequence[object]) -> list[str]:
    """Numbers of the size of today's epoch seconds or milliseconds are taken for them."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if not numbers:
        return []
    least = min(numbers)
    for unit, low in (("us", 10**14), ("ms", 10**11), ("s", 10**8)):
        if least >= low:
            return [f"time-unit: {unit}        # since 1970"]
    return []


def _subject(sample: Sample, taken: set[str | None]) -> str | None:
    free = [key for key in sample if key not in taken and "[*]" not in key]
    outer = [key for key in free if "." not in key]
    for keys in (outer, free):  # what a document is about stands in it, not in what it speaks of
        for named in (_KEY_NAME, _ID_NAME):
            for key in keys:
                if named.search(key):
                    return key
    texts = [key for key in free if all(isinstance(value, str) for value in sample[key] if value is not None)]
    return next(iter([*texts, *free]), None)
