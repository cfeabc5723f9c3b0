"""The way to PostgreSQL: pool, statements, errors, migrations. Knows nothing of jobs."""
