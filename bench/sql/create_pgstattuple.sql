-- Counts dead rows exactly, where the statistics only estimate.
create extension if not exists pgstattuple
