"""Reasons beside those of `lexing` why a line or an event is not used: codes that kernels write, and readers tell in words."""

(OUTSIDE, BAD_TIME, TIME_RANGE, MIXED_KINDS, TWO_TIMES, NO_TIME, NO_TRIPLES, HALF_INTERVAL, BACKWARDS, TOO_MUCH,
) = range(-32, -42, -1)  # fmt: skip
