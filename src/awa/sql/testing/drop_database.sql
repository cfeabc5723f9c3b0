-- Removes a test's database, whoever is still connected to it.
-- moves: nothing
-- index: none
-- bound: one database
-- params: none; {name} is an identifier
DROP DATABASE IF EXISTS {name} WITH (FORCE)
