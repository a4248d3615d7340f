"""Sequences of events: runs that search forward, step by step (SPAseq rules 3 to 18)."""
