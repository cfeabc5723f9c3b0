-- Locks the waiting jobs of a set.
-- moves: nothing
-- index: see functions/400_lock_waiting.sql
-- bound: the set
-- params: ids, lane_ids, lane_seqs, slots (the last three null: found by id)
SELECT job_id, place, lane_id, lane_seq, slot, queue, priority
  FROM awa.lock_waiting(%(ids)s::bigint[], %(lane_ids)s::int[], %(lane_seqs)s::bigint[], %(slots)s::smallint[])
