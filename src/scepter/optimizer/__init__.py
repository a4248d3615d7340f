"""Rewriting of the algebra that keeps every answer: an ordered tuple of plain functions."""
