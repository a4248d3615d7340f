"""Operators over columns and rows, and their state. No syntax, no cluster."""
