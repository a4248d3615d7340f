"""Graph patterns over the triples of streams, continuously and at every step of a window (docs/decisions/0012, 0014)."""
