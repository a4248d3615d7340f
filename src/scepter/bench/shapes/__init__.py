"""Data of the papers' shapes, drawn with fixed seeds, and plain loops that count what queries must find in them."""
