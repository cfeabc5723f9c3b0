"""Words: states and their moves, jobs, outcomes, filters, operations, errors. Pure values, no I/O."""
