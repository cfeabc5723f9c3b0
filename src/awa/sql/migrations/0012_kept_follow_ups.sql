-- What is to follow a job that waits for a callback, worked out when it began to wait, since whoever answers knows no tasks.
-- Arrays of jobs, each an object with the names of awa.enqueue_many's parameters and its queue; args is JSON as a text. Null: nothing.
ALTER TABLE awa.callbacks
    ADD COLUMN if_completed jsonb,
    ADD COLUMN if_failed jsonb;
