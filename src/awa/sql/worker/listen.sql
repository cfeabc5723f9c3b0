-- Subscribes a wake-up connection to new jobs (payload: the queue) and to control messages.
-- moves: nothing
-- index: none
-- bound: constant
LISTEN awa_ready; LISTEN awa_control;
