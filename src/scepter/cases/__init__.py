"""Case files: unit tests for event queries (spec/60-cases)."""
