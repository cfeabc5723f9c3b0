"""The fixtures give each test of a program a database of its own, on one server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import awa
from awa.testing import assert_enqueued, assert_enqueued_sync

async def test_async(awa_client, awa_database_url):
    await awa_client.insert({}, kind="a")
    await assert_enqueued(awa_client, "a", count=1)
    async with awa.AsyncClient(awa_database_url) as other:
        await assert_enqueued(other, "a", count=1)

def test_blocking(awa_blocking_client):
    assert_enqueued_sync(awa_blocking_client, count=0)
"""


def outcome(folder: Path, **environment: str) -> str:
    """What pytest says of the program in this folder, pytest-asyncio being strict as it is by default."""
    (folder / "conftest.py").write_text('pytest_plugins = ["awa.testing.fixtures"]\n')
    (folder / "test_program.py").write_text(
        PROGRAM.replace("async def test", "@pytest.mark.asyncio\nasync def test").replace(
            "import awa\n", "import awa\nimport pytest\n", 1
        )
    )
    (folder / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr


def test_a_program_is_tested_on_a_server_that_is_there(tmp_path: Path, server_url: str) -> None:
    assert "2 passed" in outcome(tmp_path, AWA_TEST_DATABASE_URL=server_url)


@pytest.mark.slow
def test_a_program_is_tested_on_an_embedded_server(tmp_path: Path) -> None:
    assert "2 passed" in outcome(tmp_path)
