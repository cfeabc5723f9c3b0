"""What `manage.py` does: migrate brings the schema along, awa_worker runs tasks until it is told to stop."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from psycopg.conninfo import conninfo_to_dict

from awa.contrib.django.clients import connection_string
from tests import django_site

SETTINGS = """
SECRET_KEY = "not secret"
INSTALLED_APPS = ["awa.contrib.django"]
DATABASES = {"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": %(dbname)r, "USER": %(user)r, "HOST": %(host)r, "PORT": %(port)r,
}}
TASKS = {"default": {"BACKEND": "awa.contrib.django.backend.AwaBackend", "QUEUES": ["default", "email"]}}
"""

JOBS = """
from awa.contrib.django.library import NAME
import importlib

@importlib.import_module(NAME).task
def hello(name):
    print("hello", name, flush=True)
"""

ENQUEUE = "import site_jobs; print(site_jobs.hello.enqueue('ada').status)"


@pytest.fixture
def project(tmp_path: Path, empty_database_url: str) -> Path:
    """A project of Django in a folder, its database empty."""
    given = {"port": "", **conninfo_to_dict(empty_database_url)}
    (tmp_path / "site_settings.py").write_text(SETTINGS % given)
    (tmp_path / "site_jobs.py").write_text(JOBS)
    return tmp_path


def environment() -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "site_settings",
        "PYTHONPATH": ".",
    }


def manage(project: Path, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "django", *arguments],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
@pytest.mark.parametrize("worker", ["manage", "awa"])
def test_a_project_migrates_enqueues_and_works(project: Path, worker: str) -> None:
    assert "Awa: applied 0001_common" in manage(project, "migrate")
    assert "Awa" not in manage(project, "migrate")
    assert manage(project, "check").startswith("System check identified no issues")
    assert "READY" in manage(project, "shell", "-c", ENQUEUE)
    commands = {
        "manage": ["-m", "django", "awa_worker", "--queue", "default=2"],
        "awa": [
            "-m",
            "awa",
            "worker",
            "run",
            "awa.contrib.django.worker:client",
            "--queue",
            "default",
        ],
    }
    with subprocess.Popen(
        [sys.executable, *commands[worker]],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        seen = []
        for line in process.stdout:
            seen.append(line.strip())
            if line.strip() == "hello ada":
                process.terminate()
    assert process.returncode == 0, seen
    assert "hello ada" in seen
    assert any("orking on default" in line for line in seen)
    assert "Stopped; no unfinished" in seen[-1]


def test_the_worker_says_what_is_wrong_with_its_options(database_url: str) -> None:
    with django_site.on_database(database_url):
        with pytest.raises(CommandError, match=r"NAME=N"):
            call_command("awa_worker", "--queue", "email=many")
        with pytest.raises(CommandError, match="no backend of Awa"):
            call_command("awa_worker", "--database", "other")
        with pytest.raises(CommandError, match="roles"):
            call_command("awa_worker", "--roles", "cook")


def test_the_worker_tells_that_the_schema_is_missing(empty_database_url: str) -> None:
    with (
        django_site.on_database(empty_database_url),
        pytest.raises(CommandError, match="awa migrate"),
    ):
        call_command("awa_worker", "--queue", "default")


def test_a_client_connects_as_django_does(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with django_site.on_database(database_url) as connection:
        options: dict[str, Any] = {"assume_role": "pg_monitor", "pool": True, "connect_timeout": 7}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
        text = connection_string("default")
    given = conninfo_to_dict(text)
    assert given["connect_timeout"] == "7"
    with psycopg.connect(text) as conn:
        found = conn.execute("SELECT current_user, current_database()").fetchone()
    assert found is not None
    assert found[0] == "pg_monitor"
    assert f"/{found[1]}?" in database_url
