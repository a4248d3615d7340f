"""Events: what items are recognised as, and the operators on occurrences (spec/40-obep)."""
