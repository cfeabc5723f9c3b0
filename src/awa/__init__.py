"""Awa, a PostgreSQL-native job queue for Python."""
