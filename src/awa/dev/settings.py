"""The settings of an embedded server: a developer's machine, full durability, no surprises for a queue."""

from collections.abc import Mapping
from pathlib import Path

from awa.model.errors import AwaError

DEFAULTS: Mapping[str, str] = {
    "shared_buffers": "256MB",
    "max_connections": "200",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_startup_progress_interval": "1s",  # the sign of life that a start during recovery waits for
    "unix_socket_permissions": "0700",
}
MANAGED = frozenset(
    {
        "port",
        "listen_addresses",
        "unix_socket_directories",
        "data_directory",
        "hba_file",
        "external_pid_file",
        "logging_collector",
        "log_destination",
    }
)


def refuse_managed(asked: Mapping[str, str]) -> None:
    """Raise AwaError if a setting is asked for that this package sets itself."""
    refused = sorted(MANAGED.intersection(asked))
    if refused:
        raise AwaError(
            f"the embedded server sets {', '.join(refused)} itself",
            hint="leave it out; for TCP, give tcp_port",
        )


def server_settings(
    asked: Mapping[str, str], *, socket_dir: Path, port: int, tcp: bool, lz4: bool
) -> dict[str, str]:
    """Defaults, over them what was asked for, over that what this package manages itself."""
    compression = "lz4" if lz4 else "pglz"
    return {
        **DEFAULTS,
        "default_toast_compression": compression,
        "wal_compression": compression,
        **asked,
        "unix_socket_directories": str(socket_dir),
        "port": str(port),
        "listen_addresses": "127.0.0.1" if tcp else "",
    }


def as_arguments(settings: Mapping[str, str]) -> list[str]:
    """The settings as arguments of the program `postgres`."""
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
