-- Makes stored transaction ids harmless after a restore into another cluster.
-- moves: nothing
-- index: see functions/620_restore.sql
-- bound: the whole store, once; nothing if it was not restored
SELECT awa.recover_after_restore() AS recovered
