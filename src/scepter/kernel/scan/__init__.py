"""Leaves that read events: graph patterns per event, triple patterns per triple, occurrences of triples."""
