"""Two inputs joined by their mappings and by when they happened, in columns."""
