-- Claims jobs of a queue for a runtime.
-- moves: available -> running
-- index: see functions/200_claim_lane.sql
-- bound: max_jobs
-- params: queue, max_jobs, runtime_id, deadline_s (null: none). args stays text, it is parsed once, by the handler's own reader;
--         times travel as seconds since 1970, a datetime is made when one is asked for.
SELECT job_id, lane_id, claim_no, lane_seq, queue, priority, kind, args::text, attempt, max_attempts, tags, metadata,
       errors, date_part('epoch', run_at), date_part('epoch', created_at), date_part('epoch', ready_at),
       date_part('epoch', claimed_at), date_part('epoch', deadline_at)
  FROM awa.claim(%(queue)s, %(max_jobs)s, %(runtime_id)s::uuid, %(deadline_s)s::float8)
