"""The task of a sequence over graph events, in columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Query
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.entailed import EntailedScans
from scepter.kernel.query import QueryKernel
from scepter.kernel.windows import Bounds, resolve
from scepter.physical.sequence_plan import QueryPlan
from scepter.physical.unit_nodes import Sequence
from scepter.rdf.terms import IRI, Term
from scepter.runtime.matches import Matcher
from scepter.runtime.tasks import SequenceTask

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


def sequence_task(node: Sequence, number: int, setup: TaskSetup) -> SequenceTask:
    """The task of a sequence; a window that does not fit the streams' timestamps is an error here."""
    query = node.query
    kernel, streams = sequence_kernel(node, setup)

    def shown(event: int, name: Term | None) -> object:
        text = name.value if isinstance(name, IRI) else None if name is None else str(name)
        return setup.shown(event, text)

    matcher = Matcher(number, kernel, setup.texts, setup.kind, shown, setup.lasting)
    return SequenceTask(kernel, matcher, streams, query.into if query.into in setup.streams() else None)


def sequence_kernel(node: Sequence, setup: TaskSetup) -> tuple[QueryKernel, Callable[[], NDArray[np.int64]]]:
    """What finds a sequence's runs, and the streams it takes: the run's stream number -> the sequence's, -1 for none."""
    query, plan, flattened = node.query, node.plan, node.flattened
    scans = None if flattened is None else EntailedScans(plan, setup.key, setup.background, setup.texts, flattened)
    kernel = QueryKernel(plan, _bounds(query, plan, setup), setup.key, setup.background, setup.texts, scans)

    def streams() -> NDArray[np.int64]:
        """More may come while a run goes on."""
        known = {stream.iri: 0 if query.merged else i for i, stream in enumerate(query.streams)}
        every = query.merged and not query.streams
        return np.array([0 if every else known.get(iri, -1) for iri in setup.streams()], np.int64)

    return kernel, streams


def _bounds(query: Query, plan: QueryPlan, setup: TaskSetup) -> Bounds:
    start = setup.options.start
    origin = 0 if start is None else start.on(setup.kind, "--start")
    try:
        return resolve(query.window, setup.kind, setup.options.time_unit, origin, plan.gaps)
    except ValueError as error:
        span = None if query.window is None else query.window.span
        raise QueryError(Diagnostic("duration", str(error), span, "choose a longer window or a finer --time-unit")) from None
