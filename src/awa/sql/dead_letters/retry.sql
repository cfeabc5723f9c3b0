-- Gives dead letters all their attempts again.
-- moves: failed -> available | scheduled
-- index: see functions/450_dead_letters.sql
-- bound: the set
-- params: ids, queue, priority, run_at (null: unchanged, now)
SELECT job_id AS id, outcome, holder FROM awa.retry_dead_letters(%(ids)s::bigint[], %(queue)s, %(priority)s::int, %(run_at)s::timestamptz)
