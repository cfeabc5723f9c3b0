-- Ends attempts; a row for each that was still ours.
-- moves: running -> completed | retryable | scheduled | available | failed | cancelled
-- index: see functions/300_finish.sql
-- bound: the set
-- params: runtime_id and arrays; delays_s, errors, metadata, callbacks may be null as a whole
SELECT lane_seq, state
  FROM awa.finish(%(runtime_id)s::uuid, %(lane_ids)b::int[], %(claim_nos)b::bigint[], %(lane_seqs)b::bigint[],
                  %(outcomes)b::text[], %(delays_s)s::float8[], %(errors)s::jsonb[], %(metadata)s::jsonb[], %(callbacks)s::uuid[])
