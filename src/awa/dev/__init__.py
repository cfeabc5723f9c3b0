"""What a developer wants at hand: an embedded PostgreSQL, seed data, the demo."""
