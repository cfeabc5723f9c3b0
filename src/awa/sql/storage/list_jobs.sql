-- A page of jobs, newest first, out of the places that can hold what is asked for.
-- moves: nothing
-- index: those of the places
-- bound: max_rows
-- params: max_rows and those of the places; {places} are pages of places/…, joined by UNION ALL
-- A page of each place, then the page of these. A state rules places out before anything is read: nobody looks through
-- ten million completed jobs to find that none has failed.
SELECT k.id, k.kind, k.queue, k.state, k.priority, k.attempt, k.max_attempts, k.args, k.tags, k.metadata, k.errors, k.run_at,
       k.created_at, k.ready_at, k.attempted_at, k.finalized_at, k.deadline_at, k.runtime_id, k.enqueue_shard, k.progress
  FROM ({places}) k
 ORDER BY k.id DESC LIMIT %(max_rows)s
