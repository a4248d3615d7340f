"""Conditions and values of a row: compiled to programs over columns, and by the exact evaluator where columns cannot tell."""
