"""Events and matches as pictures: what reports and notebooks show."""
