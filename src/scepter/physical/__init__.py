"""Physical plans: what the kernel runs, decided once per query."""
