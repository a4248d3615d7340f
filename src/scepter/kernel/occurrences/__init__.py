"""Occurrences of events and the operators on them (spec/40-obep rule 3)."""
