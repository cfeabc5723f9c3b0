"""Writes the blocking client from the source of `awa.client`, a file each: `python -m awa.sync.generate`.

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

CHAPTERS: Final = (
    "base",
    "transaction",
    "inserting",
    "running",
    "admin",
    "batch",
    "scheduling",
    "dead_letters",
    "callbacks",
)
# Written by hand in the templates below, or of no use to a blocking caller.
LEFT_OUT: Final = frozenset({"close", "connection", "connect_listener"})

NOTE: Final = "Written by `python -m awa.sync.generate`; change `awa.client` instead."
TOP: Final = '"""{title}. {note}"""\n\nfrom __future__ import annotations\n\n'

TRANSACTION: Final = '''
class Transaction:
    """What the blocking `client.transaction()` hands out."""

    def __init__(self, portal: Portal, transaction: AsyncTransaction) -> None:
        self._portal = portal
        self._async = transaction

{methods}
'''

BASE: Final = '''
class Base:
    """The async client and the thread in which it runs."""

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

{methods}
'''

CHAPTER: Final = '''
class {name}(Base):
    """As that of the async client."""

{methods}
'''

CLIENT: Final = '''
class Client({names}):
    """A program's blocking door to Awa. Nothing is connected before the first call; `with` closes it."""
'''

FIXED_IMPORTS: Final = {
    "AsyncClient": "awa.client",
    "Base": "awa.sync.base",
    "Portal": "awa.sync.portal",
    "Transaction": "awa.sync.transaction",
    "TracebackType": "types",
    "TypeVar": "typing",
    "Self": "typing",
    "Iterator": "collections.abc",
    "contextmanager": "contextlib",
}


def generated() -> dict[str, str]:
    """The files of this folder that are written so, and the text that each should have."""
    origins: dict[str, str] = {}
    found = {chapter: _methods(ROOM / f"{chapter}.py", origins) for chapter in CHAPTERS}
    texts = {"transaction.py": _file("The blocking transaction", _transaction(found), origins)}
    texts["base.py"] = _file("What all parts of the blocking client share", _base(found), origins)
    names = {}
    for chapter in CHAPTERS[2:]:
        name = names[chapter] = chapter.title().replace("_", "")
        body = CHAPTER.format(name=name, methods=_of_client(found[chapter]))
        texts[f"{chapter}.py"] = _file(f"The blocking client: {name}", body, origins)
    body = CLIENT.format(names=", ".join(names.values()))
    parts = {name: f"awa.sync.{chapter}" for chapter, name in names.items()}
    texts["client.py"] = _file("The blocking client, its chapters put together", body, parts)
    return texts


Method = ast.AsyncFunctionDef | ast.FunctionDef


def _methods(source: Path, origins: dict[str, str]) -> list[Method]:
    """The methods of the classes of a module; `origins` learns where its names come from."""
    return list(_walk(source, origins))


def _walk(source: Path, origins: dict[str, str]) -> Iterator[Method]:
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


def _transaction(found: dict[str, list[Method]]) -> str:
    public = [m for m in found["transaction"] if not m.name.startswith("_")]
    return TRANSACTION.format(methods="\n\n".join(_blocking(m, "self._async") for m in public))


def _base(found: dict[str, list[Method]]) -> str:
    init = next(method for method in found["base"] if method.name == "__init__")
    return BASE.format(init=_head(init), init_call=_call(init), methods=_of_client(found["base"]))


def _of_client(methods: list[Method]) -> str:
    """The public ones, as methods of the blocking client."""
    public = [m for m in methods if not m.name.startswith("_") and m.name not in LEFT_OUT]
    return "\n\n".join(_blocking(method, "self.aio") for method in public)


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


def _file(title: str, body: str, origins: dict[str, str]) -> str:
    """One file: what it is, what it imports, its class."""
    top = TOP.format(title=title, note=NOTE)
    names = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    own = ""
    if "A" in names:
        own, names = '\nA = TypeVar("A")\n', names | {"TypeVar"}
    return _formatted(f"{top}{_imports(names, {**origins, **FIXED_IMPORTS})}\n{own}\n{body}")


def _imports(names: set[str], known: dict[str, str]) -> str:
    lines = [f"from {known[name]} import {name}" for name in sorted(names & set(known))]
    if "AsyncTransaction" in names:
        lines.append("from awa.client.transaction import Transaction as AsyncTransaction")
    return "\n".join(lines)


def _formatted(text: str) -> str:
    """In the house's style, by the formatter that everything else goes through."""
    for command in (["check", "--select=I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        ruff = [
            sys.executable,
            "-m",
            "ruff",
            *command,
            "--stdin-filename",
            str(HERE / "client.py"),
            "-",
        ]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for name, text in generated().items():
        (HERE / name).write_text(text)
