"""Plan tokens as time makes them: the same plan, made earlier, signed as the database signs."""

from dataclasses import replace
from datetime import timedelta

import psycopg

from awa.model.plan import seal, unseal


def aged(database_url: str, token: str, by: timedelta) -> str:
    """The token that a preview would have handed out that long ago."""
    with psycopg.connect(database_url, autocommit=True) as conn:
        found = conn.execute("SELECT secret FROM awa.plan_secret").fetchone()
    assert found is not None
    secret = bytes(found[0])
    plan = unseal(token, secret)
    made = replace(plan, made_at=plan.made_at - by, expires_at=plan.expires_at - by)
    return seal(made, secret)
