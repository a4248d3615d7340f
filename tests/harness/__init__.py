"""The engine fed by hand: one file per feature of SPAseq, a timeline drawn above each test."""
