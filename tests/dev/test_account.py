"""Under root the server runs as somebody else, and no mode above the data folder changes for it."""

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from awa.dev import relocate
from awa.dev.account import choose_account
from awa.dev.binaries import PostgresBinaries, find_binaries
from awa.dev.postgres import start_server
from awa.dev.relocate import reachable_binaries
from awa.model.errors import AwaError
from tests.dev.helpers import QUICK, ask

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="about running as root")


def modes_above(path: Path) -> list[tuple[Path, int, int, int]]:
    seen = [(parent, parent.stat()) for parent in path.parents]
    return [(parent, stat.S_IMODE(s.st_mode), s.st_uid, s.st_gid) for parent, s in seen]


@as_root
def test_the_server_is_not_root_and_its_files_are_its_own(data_dir: Path) -> None:
    before = modes_above(data_dir)
    with start_server(data_dir, settings=QUICK) as server:
        owner = Path(f"/proc/{server.pid}").stat().st_uid
        assert owner != 0
        assert (data_dir / "pgdata").stat().st_uid == owner
    assert modes_above(data_dir) == before


def test_only_the_server_itself_can_look_into_cluster_and_socket(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK):
        for name in ("pgdata", "socket"):
            assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o700
        assert stat.S_IMODE((data_dir / "server.log").stat().st_mode) == 0o600
        assert stat.S_IMODE(data_dir.stat().st_mode) == (0o711 if os.geteuid() == 0 else 0o700)


@as_root
def test_a_closed_folder_above_is_named_and_stays_closed(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(AwaError, match=f"may not enter {closed} ") as caught:
        start_server(closed / "inner" / "data")
    assert "/var/lib/awa" in str(caught.value.hint)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@as_root
def test_programs_in_a_closed_folder_are_copied_once_and_run(
    place: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "cache").mkdir()
    monkeypatch.setattr(relocate, "CACHE_BASES", (place / "cache",))
    hidden = binaries_behind_a_closed_door(place / "closed")

    first = reachable_binaries(hidden, choose_account())
    again = reachable_binaries(hidden, choose_account())

    assert first == again
    assert first.bin_dir.is_relative_to(place / "cache")
    assert stat.S_IMODE((place / "closed").stat().st_mode) == 0o700
    with start_server(data_dir, settings=QUICK, binaries=hidden) as server:
        assert ask(server, "SELECT 1") == 1


def binaries_behind_a_closed_door(closed: Path) -> PostgresBinaries:
    real = find_binaries()
    if not real.trees:
        pytest.skip("the programs are those of the system")
    common = Path(os.path.commonpath([tree.parent for tree in real.trees]))
    for tree in real.trees:
        shutil.copytree(tree, closed / tree.relative_to(common), symlinks=True)
    closed.chmod(0o700)
    return replace(
        real,
        bin_dir=closed / real.bin_dir.relative_to(common),
        trees=tuple(closed / tree.relative_to(common) for tree in real.trees),
    )
