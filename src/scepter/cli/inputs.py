"""What a run reads: the query file, its streams, the background and the ontology, each found before the run starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

import typer

from scepter.errors import Diagnostic, OptionError, QueryError, Severity, Source, nearest, option_error, render
from scepter.lower.result import Lowered
from scepter.runtime.queries import read_query as read_query  # for the commands
from scepter.syntax.parse import detect_language

UNKNOWN_STREAM = "unknown-stream"
"""The code of the error for a name that is none of a query's streams."""

_Source = TypeVar("_Source")
_SHOWN = 8
"""Files of a folder that a message names."""
_SCHEME = re.compile(r"<?[A-Za-z][A-Za-z0-9+.\-]*:")


class Streams(Protocol):
    """What is asked of a query to give it its streams."""

    @property
    def streams(self) -> Sequence[str]: ...  # noqa: D102
    def resolve_stream(self, name: str) -> str:
        """The IRI of a stream by IRI, alias or prefixed name."""


def in_doubt(error: QueryError, language: str | None, path: Path, text: str) -> QueryError:
    """The error of a query, with a note where --language is not what the file's name or text says."""
    if language is None:
        return error
    try:
        likely = detect_language(text, str(path))
    except QueryError:
        return error
    if likely == language:
        return error
    note = f"read as {language}, as --language says; {path.name} looks like {likely}"
    return QueryError(replace(error.diagnostic, notes=(*error.diagnostic.notes, note)), error.source)


def split_streams(query: Streams, given: Sequence[str]) -> list[tuple[str, str]]:
    """The name and the source of each `NAME=SOURCE`."""
    return [_split_stream(query, argument) for argument in given]


def assign_streams(query: Streams, named: Sequence[tuple[str, _Source]]) -> tuple[dict[str, _Source], list[str]]:
    """The source of each stream by its IRI, and a warning for each name that the query does not use. Besides IRI, alias and
    prefixed name, the last part of an IRI will do where it means one stream."""
    sources: dict[str, _Source] = {}
    warnings: list[str] = []
    for name, source in named:
        try:
            iri = query.resolve_stream(name)
        except OptionError as error:
            if error.code != UNKNOWN_STREAM:
                raise
            meant = [stream for stream in query.streams if local_name(stream).lower() == name.lower()]
            if len(meant) != 1:
                warnings.append(_unused(name, query.streams, error.diagnostic.help))
                continue
            (iri,) = meant
        if iri in sources:
            raise option_error(
                "stream-twice",
                f"the stream <{iri}> is given twice: {sources[iri]} and {source}",
                help=f"give several files as one source: a folder, or a glob in quotes, --stream '{name}=…/*.nq'",
            )
        sources[iri] = source
    return sources, warnings


def streams_of_folder(query: Streams, folder: Path, given: Sequence[str]) -> list[tuple[str, str]]:
    """Files and folders of a folder by the streams whose IRIs end in their names: power.nq.gz is <http://example/power>.
    Streams that are given by themselves are left out."""
    if not folder.is_dir():
        raise option_error(
            "no-such-file", f"--streams: there is no folder {folder}", help="--streams names a folder of streams"
        )
    found: list[tuple[str, str]] = []
    for iri in query.streams:
        if iri in given:
            continue
        local = local_name(iri).lower()
        there = sorted(folder.iterdir())
        mine = [path for path in there if path.name.partition(".")[0].lower() == local]
        if not mine:
            names = ", ".join([path.name for path in there[:_SHOWN]] + ["…"] * (len(there) > _SHOWN))
            holds = f"there are {names}" if there else "it is empty"
            raise option_error(
                "missing-stream",
                f"--streams {folder}: no file is named as the stream <{iri}>; {holds}",
                help=f"name its file {local}.nq (any format will do), or say which it is: --stream {iri}=SOURCE",
            )
        if len(mine) > 1:
            names = ", ".join(path.name for path in mine)
            raise option_error(
                "stream-twice",
                f"--streams {folder}: several files are named as the stream <{iri}>: {names}",
                help=f"say which is meant: --stream {iri}={mine[0]}",
            )
        found += [(iri, str(path)) for path in mine]
    return found


def local_name(iri: str) -> str:
    """What stands behind the last slash, hash or colon of an IRI.

    >>> local_name("http://example/power#s1")
    's1'
    """
    return re.split(r"[/#:]", iri.rstrip("/#"))[-1]


def _split_stream(query: Streams, argument: str) -> tuple[str, str]:
    """Split at the first `=` whose left side names a stream: IRIs may hold one themselves."""
    places = [index for index, character in enumerate(argument) if character == "="]
    if not places:
        name = query.streams[0] if query.streams else "S1"
        raise option_error(
            "bad-stream", f"--stream {argument} is not of the form NAME=SOURCE", help=f"write --stream {name}={argument}"
        )
    for place in places:
        try:
            query.resolve_stream(argument[:place])
        except OptionError as error:
            if error.code == UNKNOWN_STREAM:
                continue
        return _sourced(argument, place)
    return _sourced(argument, places[0])


def _sourced(argument: str, place: int) -> tuple[str, str]:
    name, source = argument[:place], argument[place + 1 :]
    if not source:
        raise option_error("bad-stream", f"--stream {argument} names no source", help=f"write --stream {name}=power.nq")
    return name, source


def _unused(name: str, streams: Sequence[str], help: str | None) -> str:
    advice = help if help and help.startswith("did you mean") else None  # its other advice is said here anyway
    reads = f"it reads {', '.join(f'<{iri}>' for iri in streams)}" if streams else "it reads no stream"
    message = f"the query reads no stream {name!r}; {reads}"
    return render(Diagnostic("stream-unused", message, None, advice, severity=Severity.WARNING))


def assign_background(
    given: Sequence[str], graphs: Sequence[str] = (), prefixes: Mapping[str, str] | None = None
) -> dict[str | None, list[Path]]:
    """`[IRI=]FILE` per background graph, None for the default graph; each file must exist. One of the query's graphs may be
    named by the last part of its IRI, or as the query does with its prefixes."""
    files: dict[str | None, list[Path]] = {}
    by_name = {local_name(iri): iri for iri in reversed(graphs)}
    for prefix, namespace in (prefixes or {}).items():
        by_name |= {f"{prefix}:{iri.removeprefix(namespace)}": iri for iri in graphs if iri.startswith(namespace)}
    for argument in given:
        iri, path = _split_background(argument, by_name)
        files.setdefault(iri, []).append(existing("--background", path))
    return files


def assign_graphs(lowered: Lowered, given: Sequence[str]) -> dict[str | None, list[Path]]:
    """The files of each background graph of a query."""
    graphs = [graph.iri.value for graph in (*lowered.graphs, *lowered.static)]
    return assign_background(given, graphs, dict(lowered.prefixes))


def _split_background(argument: str, by_name: Mapping[str, str]) -> tuple[str | None, Path]:
    name, _, file = argument.partition("=")
    if name in by_name and file and not Path(argument).is_file():
        return by_name[name], Path(file)
    # Both IRIs and file names may hold `=`: the split whose right side exists is meant.
    places = [index for index, character in enumerate(argument) if character == "="] if _SCHEME.match(argument) else []
    for place in places:
        if Path(argument[place + 1 :]).is_file():
            return argument[:place].removeprefix("<").removesuffix(">"), Path(argument[place + 1 :])
    if places and not Path(argument).is_file():
        return argument[: places[-1]], Path(argument[places[-1] + 1 :])
    if file and Path(file).is_file() and not Path(argument).is_file():
        close, listed = nearest(name, by_name), ", ".join(f"<{iri}>" for iri in dict.fromkeys(by_name.values()))
        advice = f"did you mean {close}?" if close else f"its graphs are {listed}" if listed else f"write --background {file}"
        raise option_error("unknown-graph", f"--background {argument}: the query reads no graph {name}", help=advice)
    return None, Path(argument)


def existing(option: str, path: Path) -> Path:
    """The path of a file that is there and can be read."""
    if path.is_dir():
        raise option_error("not-a-file", f"{option} {path} is a folder", help="name the files in it, each with its own option")
    if path.is_fifo():  # to open it and close it again would end the program that writes into it
        return path
    try:
        with path.open("rb"):
            return path
    except FileNotFoundError:
        raise option_error("no-such-file", f"{option}: there is no file {path}") from None
    except OSError as error:
        raise option_error("not-readable", f"{option}: {path} cannot be read: {error.strerror}") from None


def existing_all(option: str, paths: Sequence[Path]) -> list[Path]:
    """The paths, each there and readable."""
    return [existing(option, path) for path in paths]


def check_outputs(outputs: Mapping[str, Path | None], inputs: Sequence[Path]) -> None:
    """Refuse a run that would write over what it reads, or two outputs into one file."""
    taken = {path.resolve(): "reads" for path in inputs if path.is_file()}
    for option, path in outputs.items():
        if path is None or (path.exists() and not path.is_file()):
            continue
        if path.resolve() in taken:
            raise option_error(
                "output-taken", f"{option} {path} is a file that the run {taken[path.resolve()]}", help="name another file"
            )
        taken[path.resolve()] = "also writes"


def tell_warnings(warnings: Sequence[Diagnostic], source: Source) -> None:
    """Show a query's warnings on stderr."""
    for warning in warnings:
        typer.echo(render(warning, source), err=True)
