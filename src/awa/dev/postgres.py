"""An embedded PostgreSQL: a server of one's own in a folder, without a system service and without root's rights.

    with start_server(Path("data")) as server:
        psycopg.connect(server.url())

The first process starts the server, others that name the same folder join it, and the last one to leave stops it. A
process that dies leaves too: the server goes on, and the next `start_server` takes it over as it finds it.
"""

import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from awa.dev.account import Account, choose_account
from awa.dev.binaries import PostgresBinaries, find_binaries
from awa.dev.folder import DataFolder, prepare_folder, prepare_socket_dir, remove_socket_dir
from awa.dev.initdb import has_lz4, make_cluster
from awa.dev.locks import Membership, folder_lock
from awa.dev.pidfile import STOPPING, Postmaster, running_postmaster
from awa.dev.process import StopMode, launch, shut_down, wait_until_gone, wait_until_ready
from awa.dev.relocate import reachable_binaries
from awa.dev.settings import refuse_managed, server_settings
from awa.model.errors import AwaError

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
LOCK_TIMEOUT_S = 300.0
SOCKET_PORT = 5432  # names the socket's file only; its folder is private


def start_server(
    data_dir: Path,
    *,
    settings: Mapping[str, str] | None = None,
    tcp_port: int | None = None,
    binaries: PostgresBinaries | None = None,
    start_timeout_s: float = START_TIMEOUT_S,
) -> "Server":
    """Start the server of this data folder, or join it where it runs already.

    `settings` go to a server that is started here; one that runs keeps its own. `tcp_port` opens TCP on loopback with
    a generated password, 0 takes a free port. `start_timeout_s` limits silence, not recovery: as long as the server
    shows progress, this waits. Raises AwaError.
    """
    refuse_managed(settings or {})
    folder = DataFolder(data_dir.expanduser().resolve())
    account = choose_account(folder.cluster)
    prepare_folder(folder, account)
    server = Server(
        folder=folder,
        account=account,
        binaries=binaries or find_binaries(),
        settings=settings or {},
        tcp_port=tcp_port,
        start_timeout_s=start_timeout_s,
    )
    server.join()
    return server


class Server:
    """A user's handle on a running server. `start_server` makes it."""

    def __init__(
        self,
        *,
        folder: DataFolder,
        account: Account,
        binaries: PostgresBinaries,
        settings: Mapping[str, str],
        tcp_port: int | None,
        start_timeout_s: float,
    ) -> None:
        self._folder = folder
        self._account = account
        self._binaries = binaries
        self._settings = dict(settings)
        self._tcp_port = tcp_port
        self._start_timeout_s = start_timeout_s
        self._membership = Membership(folder.path)
        self._last_seen: Postmaster | None = None

    @property
    def data_dir(self) -> Path:
        """The data folder."""
        return self._folder.path

    @property
    def log(self) -> Path:
        """The file that the server writes its messages to."""
        return self._folder.log

    @property
    def binaries(self) -> PostgresBinaries:
        """The programs it runs on."""
        return self._binaries

    @property
    def pid(self) -> int | None:
        """The process id of the server; None while it doesn't run."""
        found = running_postmaster(self._folder.cluster)
        return found.pid if found else None

    def url(self, dbname: str = "postgres") -> str:
        """Connection URL through the Unix socket, as superuser; stays the same when the server restarts."""
        seen = self._seen()
        host = quote(str(seen.socket_dir), safe="")
        return f"postgresql:///{quote(dbname, safe='')}?host={host}&port={seen.port}&user=postgres"

    def tcp_url(self, dbname: str = "postgres") -> str:
        """Connection URL through TCP on loopback, with the generated password; needs `tcp_port` at the start."""
        seen = self._seen()
        if not seen.listens:
            raise AwaError("the embedded server has no TCP port", hint="start it with tcp_port")
        password = quote(self._folder.password, safe="")
        return f"postgresql://postgres:{password}@127.0.0.1:{seen.port}/{quote(dbname, safe='')}"

    def stop(self, mode: StopMode = "fast", timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Leave; the last one to leave stops the server. Calling it again does nothing."""
        with folder_lock(self._folder.path, LOCK_TIMEOUT_S):
            if self._membership.leave():
                shut_down(self._folder, mode, timeout_s)
                remove_socket_dir(self._folder)

    def halt(self, mode: StopMode = "fast", timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Stop the server now, even if others use it; `restart` brings it back under the same URL."""
        with folder_lock(self._folder.path, LOCK_TIMEOUT_S):
            shut_down(self._folder, mode, timeout_s)

    def restart(self, mode: StopMode = "fast", timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Stop the server if it runs and start it again, even if others use it."""
        with folder_lock(self._folder.path, LOCK_TIMEOUT_S):
            shut_down(self._folder, mode, timeout_s)
            self._bring_up()

    def join(self) -> None:
        """Become a user of the server and start it if it doesn't run; `start_server` has done so."""
        with folder_lock(self._folder.path, LOCK_TIMEOUT_S):
            self._membership.join()
            try:
                self._bring_up()
            except BaseException:
                self._membership.leave()
                raise

    def _bring_up(self) -> None:
        self._last_seen = self._adopt() or self._start()
        if self._tcp_port is not None and not self._last_seen.listens:
            raise AwaError(
                f"the server in {self._folder.path} is running without a TCP port",
                hint="stop it first, or leave tcp_port out",
            )

    def _adopt(self) -> Postmaster | None:
        """The server that runs already, once it is ready; its settings stay as they are."""
        found = running_postmaster(self._folder.cluster)
        if found is None:
            return None
        if found.status.startswith(STOPPING):
            wait_until_gone(found.pid, STOP_TIMEOUT_S)
            return None
        return wait_until_ready(self._folder, found.pid, self._start_timeout_s)

    def _start(self) -> Postmaster:
        folder, account = self._folder, self._account
        programs = reachable_binaries(self._binaries, account)
        socket_dir = prepare_socket_dir(folder, account)
        sync = self._settings.get("fsync", "on") != "off"
        make_cluster(folder, programs, account, socket_dir, sync=sync)
        settings = server_settings(
            self._settings,
            socket_dir=socket_dir,
            port=SOCKET_PORT if self._tcp_port is None else self._tcp_port or _free_port(),
            tcp=self._tcp_port is not None,
            lz4=has_lz4(folder, programs, account),
        )
        return launch(folder, programs, account, settings, self._start_timeout_s)

    def _seen(self) -> Postmaster:
        if self._last_seen is None:
            raise AwaError("the embedded server is not running", hint="call start_server")
        return self._last_seen

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
