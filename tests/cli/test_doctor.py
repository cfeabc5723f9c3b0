"""`awa doctor` on what can be wrong with a schema: each finding with what to do about it."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.cli.conftest import Awa, Ran

OPERATOR = """
    GRANT USAGE ON SCHEMA awa TO {0};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA awa TO {0};
    GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA awa TO {0}
"""
Change = Callable[[str], None]


@pytest.fixture
def change(database_url: str) -> Change:
    """Does something to the schema, as somebody with psql would."""

    def run(statement: str) -> None:
        with psycopg.connect(database_url, autocommit=True) as conn:
            conn.execute(statement.encode())

    return run


def found(ran: Ran, check: str) -> list[dict[str, Any]]:
    return [finding for finding in ran.document["findings"] if finding["check"] == check]


def test_a_schema_as_it_was_made_is_well(awa: Awa) -> None:
    ran = awa("--json", "doctor")
    assert ran.code == 0
    for check in ("schema drift", "rights", "ring", "snapshots"):
        (finding,) = found(ran, check)
        assert finding["verdict"] == "ok", finding
    assert "awa 0." in found(ran, "server")[0]["words"]


@pytest.mark.parametrize(
    ("statement", "verdict", "words"),
    [
        (
            "DROP INDEX awa.finished_jobs_finalized_at_idx",
            "failed",
            "Missing: index finished_jobs_finalized_at_idx.",
        ),
        ("DROP VIEW awa.waiting_backlog", "failed", "Missing: view waiting_backlog."),
        (
            "CREATE OR REPLACE FUNCTION awa.backoff_s(attempt int) RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT 1.0::float8'",
            "failed",
            "Changed: function backoff_s(attempt integer).",
        ),
        (
            "ALTER TABLE awa.queue_meta ADD COLUMN owner text",
            "failed",
            "Changed: table queue_meta.",
        ),
        (
            "CREATE INDEX mine ON awa.finished_jobs (kind)",
            "warning",
            "Not Awa's: index mine.",
        ),
    ],
)
def test_what_was_changed_since_is_named(
    awa: Awa, change: Change, statement: str, verdict: str, words: str
) -> None:
    change(statement)
    ran = awa("--json", "doctor")
    (finding,) = found(ran, "schema drift")
    assert (finding["verdict"], finding["words"]) == (verdict, words)
    assert finding["hint"]
    assert ran.code == (1 if verdict == "failed" else 0)


def test_a_migration_takes_the_schema_as_it_makes_it(bare: Awa, empty_database_url: str) -> None:
    there = ("--database-url", empty_database_url)
    bare(*there, "migrate", "--storage", "canonical")
    ran = bare(*there, "--json", "doctor")
    assert [finding["verdict"] for finding in found(ran, "schema drift")] == ["ok"]
    assert "One ordinary table" in found(ran, "storage")[0]["words"]


@pytest.mark.parametrize(
    ("grants", "verdict", "words"),
    [
        ("", "failed", "can't read"),
        ("GRANT USAGE ON SCHEMA awa TO {0}", "failed", "can't read"),
        (
            "GRANT USAGE ON SCHEMA awa TO {0}; GRANT SELECT ON ALL TABLES IN SCHEMA awa TO {0}",
            "warning",
            "can look, but neither work nor operate",
        ),
        (
            OPERATOR,
            "warning",
            "can work, but not keep house",
        ),
    ],
    ids=["none", "usage", "viewer", "operator"],
)
def test_rights_that_the_role_lacks_are_named(
    bare: Awa, database_url: str, grants: str, verdict: str, words: str
) -> None:
    role = sql.Identifier(
        "awa_doctor_" + database_url.rsplit("awa_test_", 1)[1].split("?", maxsplit=1)[0]
    )
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE ROLE {}").format(role))
        try:
            if grants:
                conn.execute(sql.SQL(grants).format(role))
            name = role.as_string(conn).strip('"')
            separator = "&" if "?" in database_url else "?"
            ran = bare(
                "--database-url",
                f"{database_url}{separator}options=-c%20role%3D{name}",
                "--json",
                "doctor",
            )
        finally:
            conn.execute(sql.SQL("DROP OWNED BY {}").format(role))
            conn.execute(sql.SQL("DROP ROLE {}").format(role))
    (finding,) = found(ran, "rights") or found(ran, "server") or found(ran, "schema")
    assert finding["verdict"] == verdict
    assert words in finding["words"] or "lacks a right" in finding["words"]
    assert finding["hint"]


OWED = """INSERT INTO awa.owed_follow_ups (owed_at, job_id, kind, queue, priority, attempt, max_attempts, args, tags, metadata, errors,
                                            run_at, created_at)
    SELECT now() - interval '10 minutes', n, 'send_email', 'q', 2, 1, 1, '{}', '{}', '{}', '[]', now(), now() FROM generate_series(1, 3) n"""
KNOWS = """INSERT INTO awa.runtimes (id, host, pid, version, roles, on_failed)
    VALUES (gen_random_uuid(), 'h', 1, '', '{worker}', '{send_email}')"""


def test_follow_ups_that_no_worker_settles_are_told(awa: Awa, change: Change) -> None:
    assert found(awa("--json", "doctor"), "follow-ups") == []
    change(OWED)
    ran = awa("--json", "doctor")
    (finding,) = found(ran, "follow-ups")
    assert (ran.code, finding["verdict"]) == (0, "warning")
    assert "3 follow-ups of send_email owed" in finding["words"]
    assert "no worker knows its on_failed" in finding["words"]
    assert "within 720 h" in finding["hint"]
    change(KNOWS)
    (late,) = found(awa("--json", "doctor"), "follow-ups")
    assert "no worker knows" not in late["words"]
    change("UPDATE awa.owed_follow_ups SET owed_at = now()")
    assert found(awa("--json", "doctor"), "follow-ups") == []
