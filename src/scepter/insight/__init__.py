"""What is told of a run besides its matches: why nothing matched, and what looks odd in query or input."""
