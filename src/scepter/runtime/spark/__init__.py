"""Spark as host: reading in parallel, shuffling by key, state that survives a crash. Nothing else imports pyspark."""
