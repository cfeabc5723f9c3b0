-- Sets the schema aside under another name, so that a new one can be made beside it.
-- moves: nothing
-- index: none
-- bound: constant
ALTER SCHEMA awa RENAME TO awa_canonical
