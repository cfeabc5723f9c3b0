-- Whoever is still connected is thrown out.
drop database if exists {name} with (force)
