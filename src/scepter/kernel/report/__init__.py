"""From validities to answers at instants."""
