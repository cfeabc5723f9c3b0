-- Says that a runtime lives; answers whether it counts as alive, the database's clock and what it lost.
-- moves: nothing
-- index: see functions/500_runtimes.sql
-- bound: the older open attempts of the runtime
-- params: runtime_id, open_since, lane_ids, claim_nos, lane_seqs, progress, metadata
SELECT alive, db_now, lost
  FROM awa.heartbeat(%(runtime_id)s::uuid, %(open_since)s::timestamptz, %(lane_ids)b::int[], %(claim_nos)b::bigint[],
                     %(lane_seqs)b::bigint[], %(progress)s::jsonb[], %(metadata)s::jsonb[])
