-- Notes that the answer of a callback had its effect inside of the handler, so that no attempt can wait for it any more.
-- moves: nothing
-- index: callbacks primary key
-- bound: one row
-- params: callback_id
UPDATE awa.callbacks c SET applied_at = clock_timestamp()
 WHERE c.callback_id = %(callback_id)s AND c.resolution IS NOT NULL AND c.applied_at IS NULL
