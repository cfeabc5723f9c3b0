"""What the driver reports is told in words that help at the place where it is read."""

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from awa.db.failures import translate


@pytest.mark.parametrize(
    "said",
    [
        'FATAL:  password authentication failed for user "ada"',
        "connection failed: fe_sendauth: no password supplied",
    ],
)
def test_a_refused_login_points_at_user_and_password(said: str) -> None:
    error = translate(psycopg.OperationalError(said))
    assert error.message == "the database refused the user name or password"
    assert "password" in str(error.hint)


def test_an_empty_pool_may_mean_a_server_that_is_gone() -> None:
    assert "Is the server running?" in str(translate(PoolTimeout("…")).hint)
