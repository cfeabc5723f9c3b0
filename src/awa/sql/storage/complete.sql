-- Ends attempts as completed; a row for each that was not ours any more.
-- moves: running -> completed
-- index: see functions/lanes/305_attempts.sql
-- bound: the set
-- params: runtime_id and arrays
SELECT lane_seq FROM awa.complete(%(runtime_id)s::uuid, %(lane_ids)b::int[], %(claim_nos)b::bigint[], %(lane_seqs)b::bigint[])
