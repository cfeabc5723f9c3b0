-- Undo of batch operations: which operation takes back which, where an operation left its jobs, and whether that is still known.

-- undo_of: the operation whose changes this one takes back. No foreign key: it may be purged, and its undo is kept.
-- keeps_places: its items say where it left their jobs, so it can be undone; what older versions carried out can't.
-- purge_began_at: its items are being deleted, so an undo wouldn't find all of them.
ALTER TABLE awa.batch_operations
    ADD COLUMN undo_of        uuid,
    ADD COLUMN keeps_places   boolean NOT NULL DEFAULT false,
    ADD COLUMN purge_began_at timestamptz;
ALTER TABLE awa.batch_operations ALTER COLUMN keeps_places SET DEFAULT true;
CREATE INDEX ON awa.batch_operations (undo_of) WHERE undo_of IS NOT NULL;

-- lane_id, lane_seq and slot are, once an item is processed, where its job was left. A deferred job has no position: there
-- lane_id says its queue and priority, and attempt how often it had been tried.
ALTER TABLE awa.batch_operation_items ADD COLUMN attempt smallint;
