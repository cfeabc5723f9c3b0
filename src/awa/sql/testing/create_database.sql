-- Makes a database as a copy of another one.
-- moves: nothing
-- index: none
-- bound: one database
-- params: none; {name} and {template} are identifiers
CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy
