"""Real processes that are killed at random moments, and the books that must balance afterwards."""
