-- The rows of lanes with what a scan asks of them.
-- index: those of ready_entries
CREATE OR REPLACE VIEW awa.lane_rows AS
SELECT r.lane_id, r.lane_seq, r.slot, r.txid, r.job_id, r.kind, r.attempt, r.created_at, r.run_at, r.args, r.tags, r.errors,
       r.claim_id IS NULL AS unclaimed
  FROM awa.ready_entries r;

-- There are no tombstones: a job that moves takes its row along.
-- index: none
-- bound: constant
CREATE OR REPLACE FUNCTION awa.dead_between(p_lane int, p_first bigint, p_last bigint) RETURNS int8multirange
LANGUAGE sql IMMUTABLE AS $$ SELECT NULL::int8multirange; $$;

-- Each lane, and the position below which everything is that was ever claimed there: none that is known.
-- index: lanes is small
CREATE OR REPLACE VIEW awa.lane_passed AS
SELECT j.lane_id, j.queue, j.priority, j.enqueue_shard, 9223372036854775807 AS passed_below FROM awa.lanes j;

-- The rows that whoever wants waiting jobs locks: not those that run, whose workers would have to wait to end them.
-- index: those of ready_entries
CREATE OR REPLACE VIEW awa.lane_candidates AS
SELECT r.lane_id, r.lane_seq, r.slot, r.txid, r.job_id FROM awa.ready_entries r
 WHERE r.claim_id IS NULL;
