-- A claim as a worker makes it.
-- params: queue, jobs, runtime_id
select job_id, lane_id, claim_no, lane_seq, args::text from awa.claim(%(queue)s, %(jobs)s, %(runtime_id)s)
