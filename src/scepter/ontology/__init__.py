"""Schemas and what triples entail under them."""
