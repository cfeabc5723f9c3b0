"""A place for data folders that the server's user can reach, and processes that share a server."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from awa.dev.folder import DataFolder
from awa.dev.process import shut_down
from awa.dev.temporary import memory_base, temporary_base
from tests.dev.helpers import Sharer


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder that everybody may enter; whatever server is in it at the end is stopped."""
    path = Path(
        tempfile.mkdtemp(prefix="awa-test-", dir=memory_base() or temporary_base())
    ).resolve()
    path.chmod(0o755)
    yield path
    for found in path.rglob("pgdata"):
        shut_down(DataFolder(found.parent), "immediate", 20)
    shutil.rmtree(path)


@pytest.fixture
def data_dir(place: Path) -> Path:
    """A data folder yet to be made."""
    return place / "data"


@pytest.fixture
def sharer(data_dir: Path) -> Iterator[Callable[[], Sharer]]:
    """Starts other processes that share the server of `data_dir`."""
    started: list[Sharer] = []

    def start() -> Sharer:
        started.append(Sharer(data_dir))
        return started[-1]

    yield start
    for one in started:
        one.kill()
