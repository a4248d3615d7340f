"""Rules to a fixpoint: what is derived feeds what derives it, in rounds."""
