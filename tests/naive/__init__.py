"""Evaluators written from the definitions alone: obviously right, far too slow, for comparison with the engine."""
