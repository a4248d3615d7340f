"""Two inputs in sequence with nothing of a third between them, in columns."""
