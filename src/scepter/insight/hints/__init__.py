"""What may be wrong with a run that is not an error: told once, at its end (docs/decisions/0015)."""
