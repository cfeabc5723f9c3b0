-- Takes owed follow-ups of these kinds, the oldest first; they are settled if the transaction commits.
-- moves: deletes rows of awa.owed_follow_ups
-- index: owed_follow_ups (kind, id) and primary key
-- bound: limit rows; those that another transaction has in hands are passed over
-- params: kinds, limit
DELETE FROM awa.owed_follow_ups o
 USING (SELECT k.id FROM awa.owed_follow_ups k WHERE k.kind = ANY (%(kinds)b::text[])
         ORDER BY k.id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) mine
 WHERE o.id = mine.id
RETURNING o.id AS owed_id, o.job_id AS id, o.kind, o.queue, 'failed' AS state, o.priority, o.attempt, o.max_attempts, o.args::text AS args, o.tags,
          o.metadata, o.errors, o.progress, o.run_at, o.created_at, o.attempted_at, o.finalized_at
