"""What is written down and sent: the form of state, packed tables of solutions and rows."""
