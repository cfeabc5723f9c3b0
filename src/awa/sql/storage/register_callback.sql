-- Registers a callback for an attempt that runs; no row if it is not the runtime's any more.
-- moves: nothing
-- index: see functions/460_callbacks.sql
-- bound: one row
-- params: runtime_id, lane_id, claim_no, lane_seq, timeout_s
SELECT callback_id, registered_at, expires_at
  FROM awa.register_callback(%(runtime_id)s::uuid, %(lane_id)s::int, %(claim_no)s::bigint, %(lane_seq)s::bigint, %(timeout_s)s::float8)
