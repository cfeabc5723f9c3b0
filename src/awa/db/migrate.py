"""Brings a database's schema to the version of this program, and says how far it is.

Migrations are applied once, in order, and never change after a release. Functions and views carry no data, so
they are simply applied again whenever their text has changed. All of it happens in one transaction. A database that
was restored into another cluster is made safe on the way.

Which storage a schema has is chosen when it is made, and known from the migrations that it has.
"""

from awa.db import run
from awa.db.failures import mapped_errors
from awa.db.run import Connection
from awa.model.errors import DatabaseError, FieldProblem, SchemaNotMigrated, ValidationError
from awa.sql import catalog
from awa.sql.catalog import CANONICAL, LANES, STORAGES, Storage

DEFINITIONS = "definitions"
MINIMUM_SERVER_VERSION = 150000


async def migrate(conn: Connection, storage: Storage | None = None) -> list[str]:
    """Applies what is missing and answers its names; an empty list says that nothing was to be done.

    `storage` is that of a new schema (None: lanes), or has to be the one the schema has. Raises
    `SchemaNotMigrated` if the database is newer than this program, `ValidationError` for another storage than the
    schema's, `DatabaseError` for a server older than PostgreSQL 15 or one that refuses.
    """
    _check_server(conn)
    async with conn.transaction():
        await _run_script(conn, catalog.text("db/migrations_table"))
        chosen = _agreed(storage, await storage_of(conn))
        missing = await _missing(conn, chosen)
        for name in missing:
            if name != DEFINITIONS:
                await apply(conn, name, chosen)
        if missing:
            await define(conn, chosen)
            await run.count(conn, "db/note_objects")
        await run.value(conn, "db/recover_after_restore")
    return missing


async def pending(conn: Connection, storage: Storage | None = None) -> list[str]:
    """What `migrate` would apply. Changes nothing."""
    if not await run.value(conn, "db/schema_exists"):
        return [name for name, _ in catalog.migrations(storage or LANES)] + [DEFINITIONS]
    return await _missing(conn, _agreed(storage, await storage_of(conn)))


async def storage_of(conn: Connection) -> Storage | None:
    """The storage of the schema, by the migration that made its tables; None for a schema that has none yet."""
    applied = {row["name"] for row in await run.rows(conn, "db/applied")}
    for storage in STORAGES:
        if applied & _own_migrations(storage):
            return storage
    return None


async def apply(conn: Connection, name: str, storage: Storage) -> None:
    """Runs one migration and writes down that it was."""
    source = dict(catalog.migrations(storage))[name]
    await _run_script(conn, source)
    await _record(conn, name, catalog.checksum(source))


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


def render_sql(storage: Storage = LANES) -> str:
    """The whole schema as one script, for those who apply it themselves."""
    parts = [catalog.text("db/migrations_table") + ";", catalog.text("db/define_freely") + ";"]
    for name, source in (*catalog.migrations(storage), *catalog.definitions(storage)):
        parts.append(f"-- {name}\n{source}")
    for name, checksum in _checksums(storage).items():
        parts.append(
            catalog.text("db/record")
            .replace("%(name)s", f"'{name}'")
            .replace("%(checksum)s", f"'{checksum}'")
            + ";"
        )
    parts.append(catalog.text("db/note_objects") + ";")
    return "BEGIN;\n" + "\n".join(parts) + "\nCOMMIT;\n"


async def _missing(conn: Connection, storage: Storage) -> list[str]:
    applied = {row["name"]: row["checksum"] for row in await run.rows(conn, "db/applied")}
    ours = _checksums(storage)
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


def _agreed(asked: Storage | None, found: Storage | None) -> Storage:
    if asked and found and asked != found:
        hint = "A schema keeps the storage that it was made with."
        if (found, asked) == (CANONICAL, LANES):
            hint = "Run: awa storage convert"
        raise ValidationError(
            f"this database's schema has the storage {found}, not {asked}",
            hint=hint,
            fields=[FieldProblem("storage", f"is {found} here")],
        )
    return found or asked or LANES


def _own_migrations(storage: Storage) -> set[str]:
    others = (s for s in STORAGES if s != storage)
    return {name for name, _ in catalog.migrations(storage)}.difference(
        *({name for name, _ in catalog.migrations(other)} for other in others)
    )


def _checksums(storage: Storage) -> dict[str, str]:
    return {name: catalog.checksum(source) for name, source in catalog.migrations(storage)} | {
        DEFINITIONS: catalog.definitions_checksum(storage)
    }


async def define(conn: Connection, storage: Storage) -> None:
    """Applies all functions and views again."""
    await _run_script(conn, catalog.text("db/define_freely"))
    for _, source in catalog.definitions(storage):
        await _run_script(conn, source)
    await _record(conn, DEFINITIONS, catalog.definitions_checksum(storage))


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
