-- The same insert without notify: producers no longer look whether somebody sleeps.
create or replace function awa.notify_if_idle(p_queue text) returns void
language plpgsql volatile as $$ begin end $$
