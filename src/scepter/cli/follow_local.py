"""`scepter run --follow --engine local`: live input in this process, no JVM; answers as they are certain."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, TextIO

from scepter.cli.execute import Job, shape
from scepter.cli.progress import tell_counts
from scepter.cli.stopping import stopping
from scepter.cli.target import Target, kafka_output, lasting_name, name_of_topics
from scepter.compiled import are_kept, settle
from scepter.errors import QueryError, option_error
from scepter.io.kafka_output import FollowedOutput
from scepter.io.live import LiveSource, open_live
from scepter.io.results import ResultWriter
from scepter.io.writers import open_writer
from scepter.kafka.address import is_kafka
from scepter.kept import open_named
from scepter.kernel.static.background import Background
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import BATCH_BYTES
from scepter.rdf.readers import Reading
from scepter.rdf.terms import IRI
from scepter.rdf.whole_events import WholeEvents
from scepter.runtime.compiling import told_once
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.live import LiveInput, LiveRun
from scepter.runtime.matches import Match
from scepter.runtime.notices import LIMIT, Notices
from scepter.runtime.queries import check_endless
from scepter.runtime.watching import WatchedGraph
from scepter.runtime.work import PerInstant, WorkLimits, watched

_PAUSE: Final = 0.02
"""Seconds between two looks at sources of which none had anything."""


class _Letters:
    """Writes dead letters as they come."""

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self.count = 0
        self.reasons: Counter[str] = Counter()

    def __call__(self, letter: DeadLetter) -> None:
        self.count += letter.count
        self.reasons[letter.reason] += letter.count
        if self._out is not None:
            self._out.write(json.dumps(letter.fields(), ensure_ascii=False) + "\n")
            self._out.flush()


def run_following_here(job: Job, format: str, target: Target, dead_letter: Path | None, events: bool) -> None:
    """Follow the sources of a job in this process until they end or it is told to stop, and write the matches."""
    check_endless(job.query, instants=job.options.evaluate_at is not None)
    if format == "table" and target.path is not None:
        raise option_error(
            "option-not-for-format",
            "--follow writes no table into a file: it would never end",
            help="take --format jsonl or csv",
        )
    sources = {iri: open_live(source, job.lifts.get(iri)) for iri, source in job.sources.items()}
    found = 0
    with ExitStack() as stack:
        for source in sources.values():
            stack.enter_context(closing(source))
        out = None if dead_letter is None else stack.enter_context(open_named(dead_letter, newline="\n"))
        letters = _Letters(out)
        stop = stack.enter_context(stopping("stopping"))
        writer = stack.enter_context(_writer(job, format, target, events))
        stack.enter_context(told_once(first=not are_kept()))
        stack.enter_context(watched(WorkLimits(memory=job.options.work.memory)))
        notices = Notices()

        def let_go(text: str) -> None:
            notices.tell(text)
            letters(DeadLetter(LIMIT, None, text))

        within = PerInstant(job.options.work, let_go)
        for matches in map(within, _answers(job, sources, letters, stop, let_go)):
            writer.write_all(matches)
            writer.close()  # hands on what there is: it may be long until the next match
            found += len(matches)
    tell_counts(found, letters.count, dead_letter, letters.reasons.most_common(1))


def _answers(
    job: Job, sources: Mapping[str, LiveSource], letters: _Letters, stop: threading.Event, let_go: Callable[[str], None]
) -> Iterator[Sequence[Match]]:
    query = job.query
    static = load_background(query, job.background, job.ontology)  # also where it is read again: it must be right at the start
    engine = LocalEngine(
        query.program, job.options, Background() if job.reload else static,
        ontology=load_ontology(query, job.ontology), dead_letter=letters, shedding=lambda text, whole: let_go(text),
    )  # fmt: skip
    for warning in engine.unknown(query.lowered.words, query.lowered.source):
        job.warn(warning)
    predicates = engine.predicates
    wanted = None if predicates is None else frozenset(term_id(engine.key, str(p)) for p in predicates)
    changing = {iri.value for iri in query.lowered.versions}
    inputs = {iri: LiveInput(iri, versions=iri in changing) for iri in sources}
    watched = [WatchedGraph.of(iri, files, engine, letters) for iri, files in job.background.items()] if job.reload else []
    again = LiveInput("background", versions=True)
    whole = {iri: WholeEvents(letters) for iri in changing}
    for iri, source in sources.items():
        number = engine.stream_number(IRI(iri))
        refused = whole[iri].refused if iri in whole else letters
        source.open(Reading(engine.key, number, source.name, refused, wanted, engine.reading, BATCH_BYTES, {}))
    run = LiveRun(engine, (*inputs.values(), again), letters, lambda: time.time_ns() // 1000)
    began = False
    try:
        while not stop.is_set():
            came = False
            latest = max(each.greatest for each in inputs.values())
            for graph in watched:  # before the streams: what was written before an event came holds for it
                run.take(again, graph.poll(run.kind, latest))
            for iri, source in sources.items():
                batches = [whole[iri].whole(batch) if iri in whole else batch for batch in source.poll()]
                came |= bool(batches)
                run.take(inputs[iri], batches)
                inputs[iri].ended = source.ended
            for graph in watched:
                if not graph.read:
                    run.take(again, graph.poll(run.kind, latest))
            if matches := run.advance():
                yield matches
            if all(source.ended for iri, source in sources.items() if iri not in changing):
                break
            if came and not began:  # the kernels are loaded now: no answer waits for them to be looked through
                began = True
                settle()
            if not came:
                stop.wait(_PAUSE)
        if stop.is_set() and _go_on(job):
            return  # what is not certain yet, the next run tells
        if matches := run.finish():
            yield matches
    except QueryError as error:
        raise QueryError(error.diagnostic, query.lowered.source) from None


def _go_on(job: Job) -> bool:
    """Whether the sources hold what was read, so that a run that is stopped can be begun again."""
    return all(is_kafka(source) for source in job.sources.values())


@contextmanager
def _writer(job: Job, format: str, target: Target, events: bool) -> Iterator[ResultWriter]:
    if target.topic is not None:
        name = name_of_topics(job, target.topic)
        output = kafka_output(job, target.topic, name or lasting_name(None), events)
        messages = FollowedOutput(output, again=name is not None)
        yield messages
        messages.leave()
        return
    told = shape(job.query, job.options)
    prefixes = dict(job.query.lowered.prefixes)
    if target.path is None:
        yield open_writer(format, sys.stdout, told, events=events, prefixes=prefixes)
        return
    with open_named(target.path) as out:
        yield open_writer(format, out, told, events=events, prefixes=prefixes)
