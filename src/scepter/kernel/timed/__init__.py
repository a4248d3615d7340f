"""Patterns over triple occurrences: operators that give, instant by instant, the solutions that end there."""
