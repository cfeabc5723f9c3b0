-- Lets parked jobs of keys that have free places into their lanes.
-- moves: available (parked) -> available
-- index: see functions/315_admissions.sql
-- bound: max_keys keys, 500 jobs
-- params: after (a key; null: from the first), max_keys
SELECT admitted, last_key, more FROM awa.admit_waiting(%(after)s, %(max_keys)s)
