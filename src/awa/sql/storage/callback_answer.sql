-- The answer of a callback, if there is one, for the handler that waits for it.
-- moves: nothing
-- index: callbacks primary key
-- bound: one row
-- params: callback_id
SELECT c.lane_seq, c.claim_no, c.resolution, c.payload, c.error, extract(epoch FROM c.expires_at - clock_timestamp())::float8 AS left_s
  FROM awa.callbacks c WHERE c.callback_id = %(callback_id)s
