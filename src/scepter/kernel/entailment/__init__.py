"""What a schema entails: of streamed triples in columns, of static ones once, before the run."""
