"""Writes `awa/sync/client.py` from the source of `awa.client`: `python -m awa.sync.generate`.

Each public coroutine method becomes a plain one with the same signature and docstring that runs it in the
portal; `transaction` becomes a `with` block. The types are copied as they are written, so that an editor
and the type checker know as much of the blocking client as of the async one.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ROOM: Final = HERE.parent / "client"
TARGET: Final = HERE / "client.py"

CHAPTERS: Final = (
    "base",
    "inserting",
    "running",
    "admin",
    "batch",
    "scheduling",
    "dead_letters",
    "callbacks",
)
# Written by hand in the template below, or of no use to a blocking caller.
LEFT_OUT: Final = frozenset({"close", "connection", "connect_listener"})

HEADER: Final = '''"""The blocking client. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

{imports}

A = TypeVar("A")


class Transaction:
    """What the blocking `client.transaction()` hands out."""

    def __init__(self, portal: Portal, transaction: AsyncTransaction) -> None:
        self._portal = portal
        self._async = transaction

{transaction}


class Client:
    """A program's blocking door to Awa. Nothing is connected before the first call; `with` closes it."""

{init}
        self.aio = AsyncClient({init_call})
        self._portal = Portal()

    def close(self) -> None:
        """Shut down what runs, then close the pool and the thread."""
        try:
            self._portal.run(self.aio.close())
        finally:
            self._portal.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

{client}
'''

FIXED_IMPORTS: Final = {
    "AsyncClient": "awa.client",
    "AsyncTransaction": "awa.client.transaction",
    "Portal": "awa.sync.portal",
    "TracebackType": "types",
    "TypeVar": "typing",
    "Self": "typing",
    "Iterator": "collections.abc",
    "contextmanager": "contextlib",
}


def generated() -> str:
    """The text that `awa/sync/client.py` should have."""
    origins: dict[str, str] = {}
    methods: list[str] = []
    init = ""
    init_call = ""
    for chapter in CHAPTERS:
        for method in _methods(ROOM / f"{chapter}.py", origins):
            if method.name == "__init__":
                init, init_call = _head(method), _call(method)
            elif method.name not in LEFT_OUT and not method.name.startswith("_"):
                methods.append(_blocking(method, "self.aio"))
    transaction = [
        _blocking(method, "self._async")
        for method in _methods(ROOM / "transaction.py", origins)
        if not method.name.startswith("_")
    ]
    body = HEADER.format(
        imports="{imports}",
        transaction="\n\n".join(transaction),
        init=init,
        init_call=init_call,
        client="\n\n".join(methods),
    )
    return _formatted(body.replace("{imports}", _imports(body, origins)))


Method = ast.AsyncFunctionDef | ast.FunctionDef


def _methods(source: Path, origins: dict[str, str]) -> Iterator[Method]:
    """The methods of the classes of a module; `origins` learns where its names come from."""
    module = f"awa.client.{source.stem}"
    for node in ast.parse(source.read_text()).body:
        match node:
            case ast.ImportFrom(module=str(origin), names=names):
                origins.update({name.name: origin for name in names if name.asname is None})
            case ast.AnnAssign(target=ast.Name(id=name)):
                origins[name] = module
            case ast.ClassDef(bases=bases, body=body):
                if any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases):
                    continue
                yield from (m for m in body if isinstance(m, Method))


def _blocking(method: Method, of: str) -> str:
    """One method of the blocking client."""
    if any(
        isinstance(d, ast.Name) and d.id == "asynccontextmanager" for d in method.decorator_list
    ):
        doc = ast.get_docstring(method) or ""
        return (
            f"    @contextmanager\n    def {method.name}(self) -> Iterator[Transaction]:\n"
            f'        """{doc}"""\n'
            f"        with self._portal.entered({of}.{method.name}()) as entered:\n"
            "            yield Transaction(self._portal, entered)"
        )
    call = f"{of}.{method.name}({_call(method)})"
    if isinstance(method, ast.AsyncFunctionDef):
        call = f"self._portal.run({call})"
    return f"{_head(method)}\n        return {call}"


def _head(method: Method) -> str:
    """The signature and the docstring, as plain `def`."""
    returns = f" -> {ast.unparse(method.returns)}" if method.returns else ""
    head = f"    def {method.name}({ast.unparse(method.args)}){returns}:"
    doc = ast.get_docstring(method)
    if not doc:
        return head
    lines = [f"        {line}" if line else "" for line in doc.splitlines()]
    lines[0] = f'        """{doc.splitlines()[0]}'
    if len(lines) == 1:
        return f'{head}\n{lines[0]}"""'
    return "\n".join([head, *lines, '        """'])


def _call(method: Method) -> str:
    """The arguments, handed on."""
    args = method.args
    parts = [a.arg for a in args.args[1:]]
    if args.vararg:
        parts.append(f"*{args.vararg.arg}")
    parts += [f"{a.arg}={a.arg}" for a in args.kwonlyargs]
    if args.kwarg:
        parts.append(f"**{args.kwarg.arg}")
    return ", ".join(parts)


def _imports(body: str, origins: dict[str, str]) -> str:
    """Import lines for the names that the text uses."""
    used = {
        node.id
        for node in ast.walk(ast.parse(body.replace("{imports}", "")))
        if isinstance(node, ast.Name)
    }
    known = {**origins, **FIXED_IMPORTS}
    lines = []
    for name in sorted(used & set(known)):
        if name == "AsyncTransaction":
            lines.append("from awa.client.transaction import Transaction as AsyncTransaction")
        elif name != "Transaction":
            lines.append(f"from {known[name]} import {name}")
    return "\n".join(lines)


def _formatted(text: str) -> str:
    """In the house's style, by the formatter that everything else goes through."""
    for command in (["check", "--select=I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    TARGET.write_text(generated())
