-- What the schema was made of when it was last migrated, so that awa doctor can say what somebody changed, dropped or added since.
CREATE TABLE awa.schema_objects (
    kind   text NOT NULL,
    name   text NOT NULL,
    digest text NOT NULL,
    server int NOT NULL,
    PRIMARY KEY (kind, name)
);
