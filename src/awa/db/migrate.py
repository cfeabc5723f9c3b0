"""Brings a database's schema to the version of this program, and says how far it is.

Migrations are applied once, in order, and never change after a release. Functions and views carry no data, so
they are simply applied again whenever their text has changed. All of it happens in one transaction. A database that
was restored into another cluster is made safe on the way.
"""

from awa.db import run
from awa.db.failures import mapped_errors
from awa.db.run import Connection
from awa.model.errors import DatabaseError, SchemaNotMigrated
from awa.sql import catalog

DEFINITIONS = "definitions"
MINIMUM_SERVER_VERSION = 150000


async def migrate(conn: Connection) -> list[str]:
    """Applies what is missing and answers its names; an empty list says that nothing was to be done.

    Raises `SchemaNotMigrated` if the database is newer than this program, `DatabaseError` for a server
    older than PostgreSQL 15 or one that refuses.
    """
    _check_server(conn)
    async with conn.transaction():
        await _run_script(conn, catalog.text("db/migrations_table"))
        missing = await _missing(conn)
        sources = dict(catalog.migrations())
        for name in missing:
            if name != DEFINITIONS:
                await _run_script(conn, sources[name])
                await _record(conn, name, catalog.checksum(sources[name]))
        if missing:
            await _define(conn)
        await run.value(conn, "db/recover_after_restore")
    return missing


async def pending(conn: Connection) -> list[str]:
    """What `migrate` would apply. Changes nothing."""
    if not await run.value(conn, "db/schema_exists"):
        return [name for name, _ in catalog.migrations()] + [DEFINITIONS]
    return await _missing(conn)


async def check_schema(conn: Connection) -> None:
    """Raises `SchemaNotMigrated` unless the schema is exactly that of this program."""
    missing = await pending(conn)
    if not missing:
        return
    if missing == [DEFINITIONS]:
        found = "the database's functions and views are those of another version of awa"
    else:
        found = f"the database's schema lacks {', '.join(name for name in missing if name != DEFINITIONS)}"
    raise SchemaNotMigrated(found, hint="Run: awa migrate")


def render_sql() -> str:
    """The whole schema as one script, for those who apply it themselves."""
    parts = [catalog.text("db/migrations_table") + ";", catalog.text("db/define_freely") + ";"]
    for name, source in (*catalog.migrations(), *catalog.definitions()):
        parts.append(f"-- {name}\n{source}")
    for name, checksum in _checksums().items():
        parts.append(
            catalog.text("db/record")
            .replace("%(name)s", f"'{name}'")
            .replace("%(checksum)s", f"'{checksum}'")
            + ";"
        )
    return "BEGIN;\n" + "\n".join(parts) + "\nCOMMIT;\n"


async def _missing(conn: Connection) -> list[str]:
    applied = {row["name"]: row["checksum"] for row in await run.rows(conn, "db/applied")}
    ours = _checksums()
    unknown = sorted(set(applied) - set(ours))
    if unknown:
        raise SchemaNotMigrated(
            f"the database's schema is newer than this program: it has {', '.join(unknown)}",
            hint="Upgrade awa-jobs here, or connect to another database.",
        )
    changed = [name for name in applied if name != DEFINITIONS and applied[name] != ours[name]]
    if changed:
        raise SchemaNotMigrated(
            f"migration {changed[0]} was applied with another text than this program has",
            hint="A migration never changes after its release; find out where the schema came from.",
        )
    return [name for name, checksum in ours.items() if applied.get(name) != checksum]


def _checksums() -> dict[str, str]:
    return {name: catalog.checksum(source) for name, source in catalog.migrations()} | {
        DEFINITIONS: catalog.definitions_checksum()
    }


async def _define(conn: Connection) -> None:
    await _run_script(conn, catalog.text("db/define_freely"))
    for _, source in catalog.definitions():
        await _run_script(conn, source)
    await _record(conn, DEFINITIONS, catalog.definitions_checksum())


async def _record(conn: Connection, name: str, checksum: str) -> None:
    await run.count(conn, "db/record", {"name": name, "checksum": checksum})


async def _run_script(conn: Connection, script: str) -> None:
    with mapped_errors():
        await conn.execute(script)


def _check_server(conn: Connection) -> None:
    version = conn.info.server_version
    if version < MINIMUM_SERVER_VERSION:
        raise DatabaseError(
            f"PostgreSQL {version // 10000} is too old", hint="Awa needs PostgreSQL 15 or newer."
        )
