"""Graphs that vary, on the command line: `--versions IRI=SOURCE`, and background files that are read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scepter.cli.options import SparkOptions
from scepter.errors import OptionError, option_error
from scepter.lower.result import Lowered
from scepter.runtime.versions import DEFAULT_GRAPH, graph_of


def split_versions(lowered: Lowered, given: Sequence[str], static: Mapping[str | None, Sequence[Path]]) -> dict[str, str]:
    """The source of each graph that varies, by its IRI. An IRI may hold a `=`: its left side names a graph."""
    found: dict[str, str] = {}
    for argument in given:
        iri, source = _split(lowered, argument)
        if iri in found or iri in static:
            message = f"the graph <{iri}> is given twice"
            raise option_error("graph-twice", message, help="give it once: --versions or --background")
        found[iri] = source
    return found


def _split(lowered: Lowered, argument: str) -> tuple[str, str]:
    places = [index for index, character in enumerate(argument) if character == "="]
    if not places or not argument[places[-1] + 1 :]:
        known = lowered.graphs[0].iri.value if lowered.graphs else "http://example/graph"
        message = f"--versions {argument} is not of the form IRI=SOURCE"
        raise option_error("bad-versions", message, help=f"write --versions {known}=versions.trig")
    unknown: OptionError | None = None
    for place in places:
        try:
            return graph_of(lowered, argument[:place]).value, argument[place + 1 :]
        except OptionError as error:
            unknown = unknown or error
    assert unknown is not None
    raise unknown


def reloaded(static: Mapping[str | None, Sequence[Path]]) -> list[str]:
    """The graphs whose files are read again when they change."""
    return [DEFAULT_GRAPH.value if iri is None else iri for iri in static]


def check_versions(engine: str, asked: SparkOptions, versions: Mapping[str, str], *, reload: bool) -> None:
    """Refuse what a run cannot do with graphs that vary."""
    if reload and not asked.follow:
        raise option_error(
            "option-not-for-engine",
            "--reload-background looks at files while a run goes on, and without --follow the input is read to its end",
            help="add --follow, or leave out --reload-background",
        )
    if (versions or reload) and (engine == "spark" or asked.spark):
        option = "--versions" if versions else "--reload-background"
        raise option_error(
            "option-not-for-engine",
            f"{option} is for runs in this process: on Spark a graph of the background does not vary",
            help=f"leave out {' and '.join(asked.spark) or '--engine spark'}",
        )
