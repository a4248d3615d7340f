"""What Python programs call: queries, `run_local` in this process, `run` on Spark."""
