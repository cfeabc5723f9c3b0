-- Keeps with callbacks what is to follow if an answer, or the time-out, ends the jobs that wait for them.
-- moves: nothing
-- index: callbacks primary key
-- bound: the set
-- params: callback_ids, then arrays of documents: if_completed, if_failed (null: nothing)
-- In the transaction in which the jobs came to wait: it has the callbacks locked, so no answer comes in between.
UPDATE awa.callbacks c SET if_completed = u.if_completed, if_failed = u.if_failed
  FROM unnest(%(callback_ids)s::uuid[], %(if_completed)s::jsonb[], %(if_failed)s::jsonb[]) u(callback_id, if_completed, if_failed)
 WHERE c.callback_id = u.callback_id
