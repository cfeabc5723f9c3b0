-- Recorded jobs (completed, with metadata of their handler) are kept for another time than failed and cancelled ones, most
-- often a shorter one. By an index of their own, so that retention doesn't walk past all that failed since.
CREATE INDEX ON awa.finished_jobs (finalized_at) WHERE state = 'completed';
