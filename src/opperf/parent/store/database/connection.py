"""Where the database is, and a connection to it whose tables are those of this opperf.

SQLite runs with a write-ahead log: readers do not wait for writers, and writers wait for each other. What stands in a
database is looked at before that is set, so that the file of another program stays as it is. A password in an address
is never shown: `Address` is the one thing that messages and records see.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import platformdirs
from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DataError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import HarnessError, InputError, at_place
from opperf.parent.store.database import schema
from opperf.parent.workers.passwords import HIDDEN, hide_passwords, secrets

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

#: The environment variable that names a database.
VARIABLE = "OPPERF_DATABASE"
#: How long a writer waits for another. Seconds.
PATIENCE = 60.0
#: Connections that are kept open, at most: as many as a process of a server has threads that ask at once.
CONNECTIONS = 10
#: The systems that a database may be kept by, and the drivers that speak to them.
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
#: The number of the lock that writers take in PostgreSQL.
LOCK = 0x6F70706572
#: The table in which Alembic keeps the version of the others.
VERSIONS = "alembic_version"
#: The versions that no release of opperf had.
UNRELEASED = ("1", "2")
#: How many instructions of SQLite's machine run before Python heeds signals: some milliseconds.
STEPS = 100_000
MIGRATIONS = Path(__file__).with_name("migrations")


@dataclass(frozen=True, repr=False)
class Address:
    """Where a database is: a file of SQLite, or a PostgreSQL server; `origin` says what names it, where no option does.

    As text it has no password.
    """

    url: URL
    origin: str = field(default="", compare=False)

    @classmethod
    def of(cls, text: str) -> Address:
        """Return the address that a user writes: a path, or a URL; raises `InputError` for another.

        >>> str(Address.of("postgresql://ann:secret@db/perf")), str(Address.of("/data/team.db"))
        ('postgresql://ann:***@db/perf', '/data/team.db')
        """
        if "://" not in text:
            if not text.strip():
                raise InputError(
                    "the database address is empty", hint="name a file: `--database team.db`", slug="database"
                )
            return cls(URL.create("sqlite", database=str(Path(text).expanduser().absolute())))
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise InputError(f"cannot read the address `{hide_passwords(text)}`", hint=HINT, slug="database") from None
        if "@" in (url.host or ""):
            hint = "write `@` in a password as `%40`"
            raise InputError(f"cannot read the address `{hide_passwords(text)}`", hint=hint, slug="database")
        if url.get_backend_name() not in DRIVERS:
            message, hint = f"no database of the kind `{url.get_backend_name()}`", f"known: {', '.join(DRIVERS)}"
            if url.get_backend_name() in ("http", "https"):
                hint = "`opperf history push URL` sends the runs of a database to a server"
            raise InputError(message, hint=hint, slug="database")
        if url.get_backend_name() == "sqlite" and not url.database:
            raise InputError("an SQLite database in memory would be lost", hint=HINT, slug="database")
        return cls(url.set(drivername=DRIVERS[url.get_backend_name()]))

    @property
    def file(self) -> Path | None:
        """The file of a database of SQLite."""
        return Path(self.url.database or "") if self.url.get_backend_name() == "sqlite" else None

    @property
    def name(self) -> str:
        """What people call the database: the name of its file, or its own and that of its server.

        >>> Address.of("postgresql://ann:secret@db/perf").name, Address.of("/data/team.db").name
        ('perf on db', 'team.db')
        """
        if self.file is not None:
            return self.file.name
        return f"{self.url.database or 'the database'} on {self.url.host or 'this machine'}"

    def __str__(self) -> str:
        if self.file is not None:
            return str(self.file)
        return hide_passwords(self.url.set(drivername="postgresql").render_as_string(hide_password=False))

    __repr__ = __str__

    def hide(self, text: str) -> str:
        """Return a text, such as a driver's message, without the passwords of this address."""
        values = [self.url.password, *(self.url.query[name] for name in secrets(self.url.query))]
        words = [word for value in values for word in ([value] if isinstance(value, str) else value or ())]
        for word in sorted(filter(None, words), key=len, reverse=True):
            text = text.replace(word, HIDDEN)
        return hide_passwords(text)


HINT = "write a file, or `postgresql://USER@HOST/NAME`"


def choose(option: str | None, variables: Mapping[str, str] = os.environ, file: str | None = None) -> Address:
    """Return the address of the database that is meant: by the option, the environment, a file, or the user's own."""
    usual = str(platformdirs.user_data_path("opperf") / "results.db")
    names = {"": option, f"`${VARIABLE}`": variables.get(VARIABLE), "opperf.toml": file, "the default": usual}
    origin, text = next((origin, text) for origin, text in names.items() if text)
    return replace(Address.of(text), origin=origin)


def connect(address: Address, *, create: bool = True) -> Engine:
    """Return an engine whose tables are up to date.

    Raises `InputError` for a database that is not there and is not to be made, or is a newer opperf's, `HarnessError`
    for one that cannot be reached.
    """
    file = address.file
    if file is not None and not file.exists():
        if not create:
            origin = f", the one of {address.origin}" if address.origin else ""
            hint = "create it with `opperf history add FILE`, or name another: `--database FILE`"
            raise InputError(f"there is no database `{file}`{origin}", hint=hint, slug="database")
        file.parent.mkdir(parents=True, exist_ok=True)
    with _failures(address), at_place(str(address)):
        engine = _engine(address)
        try:
            _migrate(engine)
        except BaseException:
            engine.dispose()
            raise
    return engine


@contextmanager
def writing(engine: Engine, address: Address) -> Iterator[Connection]:
    """Open a transaction, which is in the database whole or not at all."""
    with _failures(address), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine, address: Address) -> Iterator[Connection]:
    """Open a connection to read by."""
    with _failures(address), engine.connect() as connection:
        yield connection


def version(engine: Engine, address: Address) -> str:
    """Return the version of the tables; raises `HarnessError` if the database cannot be reached."""
    with reading(engine, address) as connection:
        return str(connection.exec_driver_sql(f"SELECT version_num FROM {VERSIONS}").scalar())


class Watch:
    """Tells whether anybody has written into a database: as long as nobody has, its stamp stays the same.

    SQLite counts for each connection what the others wrote, so one is kept for that. PostgreSQL names the transactions
    that have ended, those of its other databases among them.
    """

    def __init__(self, engine: Engine, address: Address) -> None:
        self._engine, self._address = engine, address
        self._lock, self._own = Lock(), ExitStack()
        self._connection: Connection | None = None

    def stamp(self) -> str:
        """Return the stamp, which means nothing to another process; raises `HarnessError`."""
        if self._address.file is None:
            with reading(self._engine, self._address) as connection:
                return str(connection.exec_driver_sql("SELECT pg_current_snapshot()").scalar())
        with self._lock, _failures(self._address):
            if self._connection is None:
                self._connection = self._own.enter_context(self._engine.connect())
            with self._connection.begin():
                return str(self._connection.exec_driver_sql("PRAGMA data_version").scalar())

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._own.close()
            self._connection = None


@contextmanager
def _failures(address: Address) -> Iterator[None]:
    """Turn what the driver raises into an error that names the database, and no password.

    A value that no column takes, as a number of 30 digits or half a letter, is input however it got here.
    """
    try:
        yield
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        hint = "`pip install 'psycopg[binary]'`"
        raise InputError(f"no driver for `{address}`", hint=hint, slug="database") from error
    except (OverflowError, UnicodeError, DataError) as error:
        text = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise InputError(f"the database `{address}` takes no such value: {text}", slug="database") from error
    except (OperationalError, DatabaseError, NoConnection, OSError) as error:
        if str(getattr(error, "orig", None)) == "interrupted":  # SQLite drops what is raised within `_heed_signals`
            raise KeyboardInterrupt from error
        text = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        if text == "file is not a database":  # SQLite's words for a file that another program wrote
            hint = "name another file, or leave out `--database`"
            raise InputError(f"`{address}` is no database, but another file", hint=hint, slug="database") from error
        raise HarnessError(f"the database `{address}`: {address.hide(text)}", slug="database") from error


def _engine(address: Address) -> Engine:
    if address.file is None:
        seconds = {"connect_timeout": 10}
        # A server that was started anew since has ended its connections: each is tried before it is used.
        engine = create_engine(address.url, connect_args=seconds, pool_size=CONNECTIONS, pool_pre_ping=True)
        event.listen(engine, "begin", _lock)
    else:
        engine = create_engine(address.url, connect_args={"timeout": PATIENCE}, pool_size=CONNECTIONS)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    """Set up a connection of SQLite; transactions begin where `_begin` says."""
    connection.isolation_level = None
    connection.set_progress_handler(_heed_signals, STEPS)
    cursor = connection.cursor()
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _heed_signals() -> int:
    """Let Python handle signals while SQLite works: one that raises ends the query, however long that would take."""
    return 0


def _begin(connection: Connection) -> None:
    """Begin as a writer at once: one that reads first and writes then could not wait for another."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _lock(connection: Connection) -> None:
    """Let one writer at a time into PostgreSQL: two that add the same rows in different orders would deadlock."""
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")


def _snapshot(engine: Engine) -> Connection:
    """Return a connection to which the tables and their version stay what they are at its first look."""
    connection = engine.connect()
    if engine.dialect.name == "sqlite":  # a transaction is one
        return connection
    return connection.execution_options(isolation_level="REPEATABLE READ")


def _migrate(engine: Engine) -> None:
    """Bring the tables to those of this opperf; raises `InputError` where they are newer, or another program's."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    versions = [script.revision for script in scripts.walk_revisions()]
    with _snapshot(engine) as connection:
        revision = _look(connection, versions)
    if engine.dialect.name == "sqlite":
        with closing(engine.raw_connection()) as raw:
            raw.cursor().execute("PRAGMA journal_mode=WAL")
    if revision == versions[0]:
        return
    # Whoever connects first makes the tables: what stands there is looked at again once nobody else can write.
    with engine.execution_options(writes=True).begin() as connection:
        _look(connection, versions)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _look(connection: Connection, versions: Sequence[str]) -> str | None:
    """Return the version of the tables, None where there are none; `versions` are opperf's own, the latest first.

    Nothing is changed. Raises `InputError` for tables that are not opperf's, or of several versions or a later one.
    """
    from alembic.runtime.migration import MigrationContext

    inspector, declared = inspect(connection), schema.metadata.tables
    tables, views = set(inspector.get_table_names()), set(inspector.get_view_names())
    fakes = min(views & {*declared, VERSIONS}, default=None)
    if fakes is not None:  # which may take any time to read
        raise InputError(f"it is not opperf's: `{fakes}` is a view, expected a table", slug="database")
    revisions = MigrationContext.configure(connection).get_current_heads()
    others = sorted(tables - {*declared, VERSIONS}) or sorted(tables - {VERSIONS})
    is_stranger = bool(others) if not revisions else revisions[0] not in versions and "runs" not in tables
    if is_stranger:
        name = f": it has a table `{others[0]}`" if others else ""
        raise InputError(f"it belongs to another program{name}", slug="database")
    if len(revisions) > 1:
        raise InputError(f"its table `{VERSIONS}` has {len(revisions)} versions, expected one", slug="database")
    (revision,) = revisions or (None,)
    if revision in UNRELEASED:
        hint = "keep its results in a new one: `opperf history add FILE... --database NEW`"
        raise InputError("an opperf before version 0.2 wrote this database", hint=hint, slug="database")
    if revision is not None and revision not in versions:
        raise InputError("a newer version of opperf wrote this database", hint="update opperf", slug="database")
    missing = min(set(declared) - tables, default=None)
    if revision == versions[0] and missing is not None:
        raise InputError(f"it has no table `{missing}`", hint="restore a copy of it", slug="database")
    return revision
