"""Occurrences of triples that count for a while, and stars of triple patterns over them (docs/decisions/0069)."""
