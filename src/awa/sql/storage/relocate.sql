-- Gives locked waiting jobs another queue or priority.
-- moves: available -> available, scheduled | retryable -> the same
-- index: see functions/410_relocate.sql
-- bound: the set
-- params: ids, lane_ids, lane_seqs, slots, queue (null: unchanged), priority (null: unchanged)
SELECT job_id, outcome, detail, before, holder
  FROM awa.relocate(%(ids)s::bigint[], %(lane_ids)s::int[], %(lane_seqs)s::bigint[], %(slots)s::smallint[], %(queue)s::text,
                    %(priority)s::int)
