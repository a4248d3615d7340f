"""Kafka at both ends: addresses, clients, messages as events, matches as messages. Nothing else knows the client library."""
