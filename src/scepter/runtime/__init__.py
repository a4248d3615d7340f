"""Runtimes: the engine in this process, and Spark."""
