"""`kill` ends what Ctrl-C ends, also where Ctrl-C itself is not heard."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, signal, sys
from awa.cli.until_told import take_sigterm_for_ctrl_c

if sys.argv[1] == "deaf":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
take_sigterm_for_ctrl_c()

async def main():
    try:
        print("running", flush=True)
        await asyncio.sleep(60)
    finally:
        print("put away", flush=True)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("hearing", ["hears", "deaf"])
def test_sigterm_puts_everything_away(hearing: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, hearing], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    assert rest == "put away\n"
    assert process.returncode == 130
