"""Batch operations: an operator's change to many jobs, durable, resumable and accounted item by item."""
