"""What the driver reports is told in words that help at the place where it is read."""

import psycopg
import pytest
from psycopg import errors as pg
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


@pytest.mark.parametrize(
    ("raised", "sqlstate"),
    [
        (pg.DeadlockDetected, "40P01"),
        (pg.SerializationFailure, "40001"),
        (pg.LockNotAvailable, "55P03"),
    ],
)
def test_what_may_succeed_when_it_is_run_again_says_so(
    raised: type[psycopg.Error], sqlstate: str
) -> None:
    error = translate(raised("refused"))
    assert error.details == {"retryable": True, "sqlstate": sqlstate}
    assert "again" in str(error.hint)


def test_an_empty_pool_may_mean_a_server_that_is_gone() -> None:
    assert "Is the server running?" in str(translate(PoolTimeout("…")).hint)
