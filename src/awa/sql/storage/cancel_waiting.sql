-- Cancels locked waiting jobs.
-- moves: available | scheduled | retryable -> cancelled
-- index: see functions/420_cancel.sql
-- bound: the set
-- params: ids, lane_ids, lane_seqs, slots, reason
SELECT job_id FROM awa.cancel_waiting(%(ids)s::bigint[], %(lane_ids)s::int[], %(lane_seqs)s::bigint[], %(slots)s::smallint[],
                                      %(reason)s::text)
