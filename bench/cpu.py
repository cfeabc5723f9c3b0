"""CPU time of the server, read from /proc: what others do on the machine changes how long work takes, hardly what it costs."""

import os
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PARENT, OWN_USER, OWN_SYSTEM, WAITED_USER, WAITED_SYSTEM = 1, 11, 12, 13, 14
"""Fields of /proc/PID/stat, counted after the program's name."""


def server_cpu_s(postmaster: int | None) -> float:
    """Seconds of the postmaster, its living children and those that have ended; 0 where there is no /proc."""
    if postmaster is None or not Path("/proc").is_dir():
        return 0.0
    own = _fields(postmaster)
    ticks = sum(int(own[i]) for i in (OWN_USER, OWN_SYSTEM, WAITED_USER, WAITED_SYSTEM))
    for entry in Path("/proc").iterdir():
        child = _fields(int(entry.name)) if entry.name.isdigit() else []
        if child and int(child[PARENT]) == postmaster:
            ticks += int(child[OWN_USER]) + int(child[OWN_SYSTEM])
    return ticks / TICKS_A_SECOND


def _fields(pid: int) -> list[str]:
    """What follows the program's name; nothing if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
