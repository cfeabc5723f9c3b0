-- The end of what was claimed.
-- params: runtime_id, lane_ids, claim_nos, lane_seqs
select count(*)
  from awa.finish(%(runtime_id)s, %(lane_ids)b::int[], %(claim_nos)b::bigint[], %(lane_seqs)b::bigint[],
                  array_fill('completed'::text, array[cardinality(%(lane_seqs)b::bigint[])]))
