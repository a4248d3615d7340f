"""The query of a case."""

from __future__ import annotations

from scepter.cases.model import Case
from scepter.runtime.queries import Query, parse
from scepter.runtime.versions import varying


def query_of(case: Case) -> Query:
    """A case's query, parsed and checked, with its graphs that vary. Raises QueryError."""
    return varying(parse(case.query, case.language, str(case.path)), case.versions)
