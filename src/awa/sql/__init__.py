"""Everything said to PostgreSQL, a statement or function a file."""
