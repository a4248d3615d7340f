"""Sequences of two event labels, followed in columns (docs/decisions/0011)."""
