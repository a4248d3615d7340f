"""The outside: stream sources, result formats, dead letters."""
