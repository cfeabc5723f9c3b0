-- The statistics that autovacuum would gather sooner or later, at once.
analyze
