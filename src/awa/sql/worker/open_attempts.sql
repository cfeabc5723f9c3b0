-- What the database says a runtime holds, to find claims whose answer was lost with the connection.
-- moves: nothing
-- index: as awa.open_attempts
-- bound: the claims since `since`, and the runtime's rows in awa.attempts
-- params: runtime, since
SELECT o.lane_id, o.claim_no, o.lane_seq
  FROM awa.open_attempts(%(runtime)s, %(since)s::timestamptz - interval '1 second') o;
