"""Which writer a result format has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from scepter.errors import nearest, option_error
from scepter.io.csv_rows import CsvWriter
from scepter.io.json_lines import JsonLinesWriter
from scepter.io.results import ResultWriter, Shape
from scepter.io.table_pages import TableWriter
from scepter.io.trig_events import TrigWriter
from scepter.io.tsv_rows import TsvWriter

FORMATS = ("table", "jsonl", "csv", "csv-safe", "tsv", "trig")


def open_writer(
    format: str,
    out: TextIO,
    shape: Shape,
    *,
    events: bool = False,
    prefixes: Mapping[str, str] | None = None,
    written: int = 0,
) -> ResultWriter:
    """A writer of the named format onto a text stream; `prefixes` shorten the IRIs of a table.

    `written` matches stand there already: where matches are numbered, the numbers go on.
    """
    match format:
        case "jsonl":
            return JsonLinesWriter(out, shape, events)
        case "csv" | "csv-safe":
            return CsvWriter(out, shape, events, safe=format == "csv-safe", written=written)
        case "tsv":
            return TsvWriter(out, shape, events, written)
        case "table":
            return TableWriter(out, shape, events, prefixes or {})
        case "trig":
            if shape.whys:
                raise option_error(
                    "option-not-for-format",
                    "--why cannot be shown in TriG: a match is an event there, and has no room for what it rests on",
                    help="leave out --why, or take --format jsonl",
                )
            if events:
                raise option_error(
                    "option-not-for-format",
                    "--events cannot be shown in TriG: a match is an event there, and has no room for the events it selected",
                    help="leave out --events, or take --format jsonl",
                )
            return TrigWriter(out, shape, written)
        case _:
            close = nearest(format, FORMATS)
            hint = f"did you mean {close}?" if close else f"the formats are {', '.join(FORMATS)}"
            raise option_error("unknown-format", f"{format!r} is no result format", help=hint)
