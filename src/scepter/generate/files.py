"""Datasets on disk: one file per stream, and the static files beside them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from scepter.errors import nearest, option_error
from scepter.generate.draws import Draws
from scepter.generate.model import Dataset, Settings
from scepter.generate.render import FORMATS
from scepter.generate.streams import planned, texts


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was written, and where."""

    streams: dict[str, Path]
    """Per stream IRI."""
    background: dict[str, Path] = field(default_factory=dict)
    """Per named graph; the default graph is ""."""
    ontology: Path | None = None
    queries: tuple[Path, ...] = ()


def write_dataset(name: str, out_dir: Path, settings: Settings) -> Manifest:
    """Write a dataset into a folder, which is made if need be."""
    _check_format(name, settings)
    dataset = planned(name, settings)
    out_dir.mkdir(parents=True, exist_ok=True)
    extension = FORMATS[settings.format].extension + (".gz" if settings.compress else "")
    streams = {}
    for number, stream in enumerate(dataset.streams):
        streams[stream.iri] = out_dir / f"{stream.name}{extension}"
        with open(streams[stream.iri], "wb") as file:
            _write_stream(dataset, number, settings, file)
    background = {}
    for graph, turtle in dataset.background.items():
        background[graph] = _text(out_dir / "background.ttl", turtle)
    ontology = None if dataset.ontology is None else _text(out_dir / "ontology.ttl", dataset.ontology)
    queries = tuple(_text(out_dir / file_name, query) for file_name, query in dataset.queries.items())
    return Manifest(streams, background, ontology, queries)


def write_stream(name: str, stream: str, file: BinaryIO, settings: Settings) -> None:
    """Write one stream, called by its IRI or its short name, into an open file."""
    _check_format(name, settings)
    dataset = planned(name, settings)
    for number, plan in enumerate(dataset.streams):
        if stream in (plan.iri, plan.name):
            return _write_stream(dataset, number, settings, file)
    names = [plan.name for plan in dataset.streams]
    near = nearest(stream, names)
    raise option_error(
        "unknown-stream",
        f"{name} has no stream {stream!r}" + (f"; did you mean {near}?" if near else ""),
        help=f"its streams are {', '.join(names)}",
    )


def _write_stream(dataset: Dataset, number: int, settings: Settings, file: BinaryIO) -> None:
    if not settings.compress:
        file.writelines(_chunks(dataset, number, settings))
        return
    # A fixed time and no file name in the header: the same seed gives the same bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
        packed.writelines(_chunks(dataset, number, settings))


def _chunks(dataset: Dataset, number: int, settings: Settings) -> Iterator[bytes]:
    form = FORMATS[settings.format]
    yield form.head.encode()
    first = True
    for part in texts(dataset, number, settings):
        if part:
            yield ("" if first else form.between).encode()
            yield form.between.join(part).encode()
            first = False
    yield form.foot.encode()


def _check_format(name: str, settings: Settings) -> None:
    if settings.format != "ntriples":
        return
    # A plan of its own: asking for the shape moves the plan's walks on.
    for stream in planned(name, settings).streams:
        triples = len(stream.shape(Draws.rows(1)))
        if triples != 1:
            raise option_error(
                "generate-option",
                f"the format ntriples holds events of one triple, and those of {stream.name} have {triples}",
                help="choose nquads, trig or jsonld",
            )


def _text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
