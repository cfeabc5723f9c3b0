"""Where a page's blocks run: a folder and a database of the page's own, one event loop, one Python session.

Blocks run in the order in which they stand. Python blocks share their names, like lines in `python -m asyncio`, and may
await. Shell blocks run in the page's folder with `awa` on the path and the database in AWA_DATABASE_URL.
"""

import ast
import asyncio
import io
import os
import re
import signal
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import psycopg

from tests.docs.pages import Block

COMMAND_TIMEOUT_S = 120
START_TIMEOUT_S = 120
LEFT_OUT = "…"


class Sandbox:
    """One page's run. `close` ends what the page started."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self._folder = folder
        self._url = database_url
        # Dataclasses and pydantic look the module of a class up by its name.
        self._session = ModuleType("awa_docs_page")
        sys.modules[self._session.__name__] = self._session
        self._background: list[asyncio.subprocess.Process] = []
        self._printed = ""

    async def run(self, block: Block) -> None:
        """Do what the block says; raises AssertionError where it does not do what the page says."""
        match block.language, block.verb:
            case _, "not":
                assert block.rest, f"{block}: say why it is not run"
            case _, "save":
                (self._folder / block.rest).write_text(block.text)
            case "text", "output":
                self._compare(block)
            case "python", "":
                await self._python(block)
            case "sql", "":
                await self._sql(block)
            case "sh", "background":
                await self._start(block)
            case "sh", "" | "exit":
                await self._shell(block, int(block.rest or 0))
            case "text" | "json" | "toml", "":
                pass
            case language, words:
                raise AssertionError(f"{block}: nobody knows how to run {language!r} {words!r}")

    async def close(self) -> None:
        """Stop what runs in the background; it has to end well."""
        sys.modules.pop(self._session.__name__, None)
        for process in self._background:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in self._background:
            assert await asyncio.wait_for(process.wait(), COMMAND_TIMEOUT_S) == 0

    async def _python(self, block: Block) -> None:
        code = compile(
            block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        printed = io.StringIO()
        sys.path.insert(0, str(self._folder))
        try:
            with redirect_stdout(printed):
                awaited = eval(code, self._session.__dict__)
                if awaited is not None:
                    await awaited
        finally:
            sys.path.remove(str(self._folder))
        self._printed = printed.getvalue()

    async def _sql(self, block: Block) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as conn:
            cursor = await conn.execute(block.text.encode())
            rows = await cursor.fetchall() if cursor.description else []
        self._printed = "\n".join(" ".join(str(value) for value in row) for row in rows)

    async def _shell(self, block: Block, exit_code: int) -> None:
        process = await self._launch(block)
        out, err = await asyncio.wait_for(process.communicate(), COMMAND_TIMEOUT_S)
        self._printed = out.decode() + err.decode()
        assert process.returncode == exit_code, f"{block}:\n{block.text}\n{self._printed}"

    async def _start(self, block: Block) -> None:
        process = await self._launch(block)
        awaited = block.rest.removeprefix("until ").strip()
        assert process.stdout is not None
        self._printed = ""
        try:
            while awaited not in self._printed:
                line = await asyncio.wait_for(process.stdout.readline(), START_TIMEOUT_S)
                assert line, f"{block} ended before it said {awaited!r}: {self._printed}"
                self._printed += line.decode()
        except BaseException:
            if process.returncode is None:
                process.kill()
            await process.wait()
            raise
        self._background.append(process)

    async def _launch(self, block: Block) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", block.text),
            cwd=self._folder,
            env=self._environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            # Logs of what runs in the background go where the test's own output goes.
            stderr=None if block.verb == "background" else asyncio.subprocess.PIPE,
        )

    def _environment(self) -> dict[str, str]:
        programs = Path(sys.executable).parent
        return {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self._folder),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONUNBUFFERED": "1",
            "AWA_DATABASE_URL": self._url,
        }

    def _compare(self, block: Block) -> None:
        """Each line of the page has to be printed, in this order; … stands for anything."""
        printed = iter(self._printed.splitlines())
        for line in filter(None, map(str.strip, block.text.splitlines())):
            wanted = re.compile(
                ".*".join(
                    r"\s+".join(map(re.escape, part.split())) for part in line.split(LEFT_OUT)
                )
            )
            assert any(wanted.fullmatch(seen.strip()) for seen in printed), (
                f"{block}: {line!r} was not printed (in this order):\n{self._printed}"
            )
