"""`scepter run --follow --engine local`: live input in this process, no JVM; answers as they are certain."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from scepter.cli.execute import Job, shape
from scepter.cli.progress import tell_counts
from scepter.cli.stopping import stopping
from scepter.cli.target import Target, kafka_output, lasting_name, name_of_topics
from scepter.compiled import are_kept, settle
from scepter.errors import QueryError, option_error
from scepter.io.kafka_live import KafkaLive
from scepter.io.kafka_marks import Marks, Reached
from scepter.io.kafka_output import FollowedOutput
from scepter.io.live import LiveSource, open_live
from scepter.io.results import ResultWriter
from scepter.io.writers import open_writer
from scepter.kafka.address import Address, is_kafka, parse_address
from scepter.kept import open_named
from scepter.kernel.static.background import Background
from scepter.physical.distribution.horizon import horizon
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import BATCH_BYTES
from scepter.rdf.readers import Reading
from scepter.rdf.terms import IRI
from scepter.runtime.compiling import told_once
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.live import LiveInput, LiveRun
from scepter.runtime.matches import Match
from scepter.runtime.notices import LIMIT, Notices
from scepter.runtime.queries import check_endless
from scepter.runtime.watching import WatchedGraph
from scepter.runtime.work import PerInstant, WorkLimits, watched
from scepter.timeline import MIN_INSTANT

_PAUSE: Final = 0.02
"""Seconds between two looks at sources of which none had anything."""
_MARKED: Final = 5.0
"""Seconds after which a run tells how far it is, though it has no match to tell."""


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
        followed = writer if isinstance(writer, FollowedOutput) else None
        for matches in map(within, _answers(job, sources, letters, stop, let_go, followed)):
            writer.write_all(matches)
            writer.close()  # hands on what there is: it may be long until the next match
            found += len(matches)
    tell_counts(found, letters.count, dead_letter, letters.reasons.most_common(1))


def _answers(
    job: Job, sources: Mapping[str, LiveSource], letters: _Letters, stop: threading.Event, let_go: Callable[[str], None],
    followed: FollowedOutput | None,
) -> Iterator[Sequence[Match]]:  # fmt: skip
    query = job.query
    static = load_background(query, job.background, job.ontology)  # also where it is read again: it must be right at the start
    engine = LocalEngine(
        query.program, job.options, Background() if job.reload else static,
        ontology=load_ontology(query, job.ontology), dead_letter=letters, shedding=lambda text, whole: let_go(text),
    )  # fmt: skip
    for warning in engine.doubtful(query.lowered):
        job.warn(warning)
    predicates = engine.predicates
    wanted = None if predicates is None else frozenset(term_id(engine.key, str(p)) for p in predicates)
    changing = {iri.value for iri in query.lowered.versions}
    inputs = {iri: LiveInput(iri, versions=iri in changing) for iri in sources}
    watched = [WatchedGraph.of(iri, files, engine, letters) for iri, files in job.background.items()] if job.reload else []
    again = LiveInput("background", versions=True)
    places = None if followed is None or followed.marks is None else _Places(followed.marks, followed.begun, sources.values())
    for iri, source in sources.items():
        number = engine.stream_number(IRI(iri))
        if iri in changing:
            engine.reading.whole.add(number)
        source.open(Reading(engine.key, number, source.name, letters, wanted, engine.reading, BATCH_BYTES, {}))
    told = MIN_INSTANT if followed is None or followed.begun is None else followed.begun.told
    run = LiveRun(engine, (*inputs.values(), again), letters, lambda: time.time_ns() // 1000, told)
    if followed is not None and places is not None:
        followed.reached = partial(places.reached, run)
    began = False
    try:
        while not stop.is_set():
            came = False
            latest = max(each.latest for each in inputs.values())
            for graph in watched:  # before the streams: what was written before an event came holds for it
                run.take(again, graph.poll(run.kind, latest))
            for iri, source in sources.items():
                for part, batches in source.poll().items():
                    came = True
                    run.take(inputs[iri], batches, part)
                inputs[iri].awaited, inputs[iri].ended = source.awaited, source.ended
            for graph in watched:
                if not graph.read:
                    run.take(again, graph.poll(run.kind, latest))
            matches = run.advance()
            if matches or (places is not None and places.are_due()):
                yield matches
            if all(source.ended for iri, source in sources.items() if iri not in changing):
                break
            if came and not began:  # the kernels are loaded now: no answer waits for them to be looked through
                began = True
                settle()
            if not came:
                stop.wait(_PAUSE)
        if stop.is_set() and _go_on(job):
            yield []  # what is not certain yet, the next run tells: it hears how far this one was
            return
        if matches := run.finish():
            yield matches
    except QueryError as error:
        raise QueryError(error.diagnostic, query.lowered.source) from None


def _go_on(job: Job) -> bool:
    """Whether the sources hold what was read, so that a run that is stopped can be begun again."""
    return all(is_kafka(source) for source in job.sources.values())


def _marks(job: Job, output: Address) -> Marks | None:
    """The marks by which a run between topics goes on; None where it has to read everything again: marks are committed with
    the matches, to one broker; versions of a graph hold for ever, and times that are given by arrival, or believed by what
    came before them, are others in the next run."""
    sources = [parse_address(source, waits=True) for source in job.sources.values()]
    options = job.options
    elsewhere = any(source.servers != output.servers or source.topic == output.topic for source in sources)
    if elsewhere or job.query.lowered.versions or options.assign_time is not None or options.max_advance is not None:
        return None
    return Marks(output, sources, lambda kind: horizon(job.query.program, kind, options.time_unit, options.policy))


class _Places:
    """From where on the next run would have to read."""

    def __init__(self, marks: Marks, begun: Reached | None, sources: Iterable[LiveSource]) -> None:
        self._marks = marks
        self._sources = [source for source in sources if isinstance(source, KafkaLive)]
        self._due = time.monotonic() + _MARKED
        for source in self._sources:
            found = None if begun is None else {n: at for (topic, n), at in begun.places.items() if topic == source.topic}
            source.keep_places(found)

    def are_due(self) -> bool:
        """Whether they are to be told again, though there is no match."""
        return time.monotonic() > self._due

    def reached(self, run: LiveRun) -> Reached | None:
        """How far the run is; None where there is nothing to tell yet."""
        self._due = time.monotonic() + _MARKED
        back = None if run.kind is None else self._marks.back(run.kind)
        if run.kind is None or back is None or run.last == MIN_INSTANT or run.watermark < run.told:
            return None
        found: dict[tuple[str, int], int] = {}
        for source in self._sources:
            for number, place in source.places(run.last - back).items():
                of = (source.topic, number)
                found[of] = min(place, found.get(of, place))  # two streams may be one topic
        return Reached(run.kind, run.watermark, found)


@contextmanager
def _writer(job: Job, format: str, target: Target, events: bool) -> Iterator[ResultWriter]:
    if target.topic is not None:
        name = name_of_topics(job, target.topic)
        output = kafka_output(job, target.topic, name or lasting_name(None), events)
        messages = FollowedOutput(output, None if name is None else _marks(job, target.topic), again=name is not None)
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
