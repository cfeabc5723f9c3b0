-- Whether this role may read what plan tokens are signed with, and so make and check them.
-- moves: nothing
-- index: none
-- bound: constant
SELECT has_table_privilege('awa.plan_secret', 'SELECT') AS readable
