-- Attempts that were claimed and aren't over yet, on the canonical storage.
select count(*) as unfinished from awa.ready_entries where claim_id is not null and closed_at is null
