-- Ends the wait of callbacks whose time is over; answers how many.
-- moves: waiting_external -> retryable | failed
-- index: see functions/470_time_out_callbacks.sql
-- bound: max_callbacks
-- params: max_callbacks, now (null: the clock)
SELECT awa.time_out_callbacks(%(max_callbacks)s::int, %(now)s::timestamptz) AS ended
