"""Goals that workloads share. They are about the engine in this process, unless they say otherwise."""

from __future__ import annotations

from scepter.bench.model import Goal


def rate(least: float) -> Goal:
    """Triples per second at the slowest point."""
    return Goal("slowest, triples/s of one core", lambda r: min(m.triples_per_cpu_second for m in r.of("local")), least=least)


def beats(yardstick: str, times: float) -> Goal:
    """So many times as fast as another system, wherever that runs."""
    return Goal(
        f"CPU of {yardstick} against this, where it does best", lambda r: min(r.ratios(yardstick, "local")), least=times
    )


def flat(most: float) -> Goal:
    """CPU per event hardly differs from point to point."""
    return Goal("CPU per event, worst point against best", lambda r: r.growth("local"), most=most)


def flat_stream(most: float) -> Goal:
    """CPU from the first batch on hardly differs from point to point."""
    return Goal(
        "CPU from the first batch on, worst point against best",
        lambda r: r.growth("local", lambda m: m.streaming),
        most=most,
    )


def events_rate(least: float, contender: str = "written") -> Goal:
    """Events per second at the slowest point, from text to rows in a file."""
    what = "to written rows" if contender == "written" else "to matches"
    return Goal(
        f"slowest, events/s of one core {what}",
        lambda r: min(m.events_per_cpu_second for m in r.of(contender)),
        least=least,
    )
