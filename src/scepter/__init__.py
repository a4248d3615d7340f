"""Semantic complex event processing on Spark."""
