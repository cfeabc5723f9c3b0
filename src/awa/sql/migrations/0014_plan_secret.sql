-- What plan tokens are signed with: made here, at random, for this database alone. Whoever may read it can sign what a preview counted,
-- so it is for those who may submit (docs/guide/install.md). A new one makes all tokens void: UPDATE awa.plan_secret SET secret = DEFAULT.
CREATE TABLE awa.plan_secret (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    secret bytea NOT NULL DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
           CHECK (octet_length(secret) >= 32)
);
INSERT INTO awa.plan_secret DEFAULT VALUES;
