-- Claims jobs of a queue for a runtime.
-- moves: available -> running
-- index: see functions/lanes/200_claim_lane.sql
-- bound: max_jobs
-- params: queue, max_jobs, runtime_id, deadline_s (null: none). args stays text, it is parsed once, by the handler's own reader;
--         times travel as seconds since 1970, a datetime is made when one is asked for.
-- Nobody waits for the disk: a claim that a crash of the server takes back is made again, as one whose worker died would
-- be. The end of an attempt is flushed, and with it every claim before it. Must be a transaction of its own.
SELECT job_id, lane_id, claim_no, lane_seq, queue, priority, kind, args::text, attempt, max_attempts, tags, metadata,
       errors, date_part('epoch', run_at), date_part('epoch', created_at), date_part('epoch', ready_at),
       date_part('epoch', claimed_at), date_part('epoch', deadline_at)
  FROM (SELECT set_config('synchronous_commit', 'off', true) OFFSET 0) unhurried,
       awa.claim(%(queue)s, %(max_jobs)s, %(runtime_id)s::uuid, %(deadline_s)s::float8)
