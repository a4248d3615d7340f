"""CEP's common words in a SPAseq query: quantifiers, gap bounds, AFTER MATCH SKIP, ON TIMEOUT (docs/reference/spaseq, rules
15 to 18)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scepter.algebra.query import AfterMatch, Gap, Preference, Resume
from scepter.errors import QueryError, Span, query_error
from scepter.syntax import spaseq_tree as syntax
from scepter.timeline import parse_duration

_RESUMES = {
    "to next": Resume.NEXT,
    "past last": Resume.PAST_LAST,
    "to first": Resume.FIRST,
    "to last": Resume.LAST,
}


def selected_labels(atom: syntax.SequenceAtom) -> Iterator[str]:
    """The GPMs that select an event whenever the atom is taken: none of `!`, `?` and the sides of `|`."""
    match atom:
        case syntax.Reference(name, postfix):
            if postfix in (None, "+"):
                yield name
        case syntax.Parenthesised(inner):
            yield from selected_labels(inner)
        case syntax.Combination("&", operands):
            for operand in operands:
                yield from selected_labels(operand)


def lower_gap(gap: syntax.GapBound, steps: Sequence[syntax.SequenceStep], at: int) -> Gap:
    """The bound behind the atom at a place of the sequence."""
    atom = steps[at].atom
    if isinstance(atom, syntax.Reference) and atom.postfix in ("!", "?"):
        raise query_error(
            "gap-bound",
            f"{atom.name}{atom.postfix} may select no event, and a gap bound speaks of an event that is selected",
            gap.span,
            help="bound the atom after it, or the whole match with WITHIN … SLIDING",
        )
    earlier = list(dict.fromkeys(label for step in steps[:at] for label in selected_labels(step.atom)))
    if gap.label not in earlier:
        listed = f"it can be within a time of {', '.join(earlier)}" if earlier else "no atom stands before it"
        raise query_error(
            "gap-bound",
            f"WITHIN … OF {gap.label}: {gap.label} is no GPM that selects an event earlier in SEQ",
            gap.label_span,
            help=listed,
        )
    text = gap.amount.removeprefix("+")
    try:
        duration = None if text.startswith("-") else parse_duration(text)
    except ValueError as error:
        raise query_error("duration", str(error), gap.amount_span) from None
    if duration is None or duration.amount <= 0:
        raise query_error("duration", f"WITHIN {gap.amount}: a duration must be above zero", gap.amount_span)
    return Gap(duration, gap.label, gap.span)


def lower_quantifier(reference: syntax.Reference, following: syntax.SequenceAtom | None) -> tuple[int, int | None, Preference]:
    """(at least, at most, preference) of what iterates, from the atom that follows it in SEQ."""
    quantifier = reference.quantifier
    assert quantifier is not None  # the syntax gives one to whatever iterates
    preference = Preference(quantifier.preference or "every")
    if preference is Preference.EVERY:
        return quantifier.least, quantifier.most, preference
    if following is None and preference is Preference.RELUCTANT:
        return quantifier.least, quantifier.least, Preference.EVERY  # nothing follows that fewer iterations could wait for
    while isinstance(following, syntax.Parenthesised):
        following = following.inner
    if following is None or (isinstance(following, syntax.Reference) and following.postfix in ("!", "?")):
        raise _needs_a_successor(reference, preference, following)
    return quantifier.least, quantifier.most, preference


def _needs_a_successor(
    reference: syntax.Reference, preference: Preference, following: syntax.SequenceAtom | None
) -> QueryError:
    word = preference.value.upper()
    found = "it is the last atom" if following is None else "an atom that may select no event follows it"
    advice = (
        "leave it out, and every number of iterations is reported; AFTER MATCH SKIP PAST LAST keeps the shortest"
        if following is None
        else f"leave {word} out, or put the '!' or '?' elsewhere"
    )
    return query_error(
        "quantifier",
        f"{reference.name} {word} chooses between one more {reference.name} and the event after it, but {found}",
        reference.span,
        help=advice,
    )


def lower_skip(clause: syntax.SkipClause, steps: Sequence[syntax.SequenceStep]) -> AfterMatch:
    """AFTER MATCH SKIP."""
    resume = _RESUMES[clause.to]
    if clause.label is not None:
        known = list(dict.fromkeys(label for step in steps for label in selected_labels(step.atom)))
        if clause.label not in known:
            raise query_error(
                "after-match",
                f"SKIP {clause.to.upper()} {clause.label}: {clause.label} is no GPM that selects an event in every match",
                clause.label_span,
                help=f"name one of {', '.join(known)}" if known else "write SKIP PAST LAST or SKIP TO NEXT",
            )
    return AfterMatch(resume, clause.label, clause.span)


def check_timeouts(query: syntax.SpaseqQuery, clause: syntax.TimeoutClause, bounded: bool, skip: Span | None) -> None:
    """ON TIMEOUT needs a time that can be over, and something that can be partial."""
    if not bounded and all(step.gap is None for step in query.sequence.steps):
        raise query_error(
            "timeout",
            "ON TIMEOUT reports partial matches whose time is over, and nothing bounds their time",
            clause.span,
            help="add WITHIN, for example WITHIN 30 MINUTES SLIDING, or bound an atom with WITHIN … OF",
        )
    if skip is not None:
        raise query_error(
            "timeout",
            "AFTER MATCH SKIP is about matches, and ON TIMEOUT reports partial ones",
            skip,
            help="write two queries in one file: one with AFTER MATCH SKIP, one with ON TIMEOUT",
        )
