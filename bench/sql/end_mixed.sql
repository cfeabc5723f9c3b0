-- The end of what was claimed: one in twenty fails for good, the others complete.
-- params: runtime_id, lane_ids, claim_nos, lane_seqs
select count(*)
  from (select array_agg(case when s %% 20 = 0 then 'failed' else 'completed' end order by ord) as outcomes,
               array_agg(case when s %% 20 = 0 then jsonb_build_object('error', 'the mailbox is full', 'kind', 'MailboxFull') end order by ord) as errors
          from unnest(%(lane_seqs)b::bigint[]) with ordinality u(s, ord)) k
 cross join lateral awa.finish(%(runtime_id)s, %(lane_ids)b::int[], %(claim_nos)b::bigint[], %(lane_seqs)b::bigint[], k.outcomes,
                               null, k.errors)
