"""PostgreSQL: several processes on one database, each with a small pool of connections."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from nearfar._tools.terminal import without_password
from nearfar.ask.store import transaction as tables
from nearfar.ask.store.transaction import Operation, Store, Transaction
from nearfar.errors import InputError, MissingExtra, UnreachableError

try:
    import psycopg
    import psycopg.conninfo
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:  # pragma: no cover
    raise MissingExtra("psycopg", "postgres") from error

PATIENCE = 10.0  # seconds to wait for a connection
DRAWING, LEADING, MAKING = 0x6E656172, 0x66617221, 0x6D616B65  # advisory locks: "near", "far!", "make"
PERSONAL = ("participant", "token", "slot", "answer", "form", "event", "session", "view", "export")
Result = TypeVar("Result")


def _transaction(cursor: Any) -> Transaction:
    return Transaction(cursor, "%s", f"SELECT pg_advisory_xact_lock({DRAWING})")


def _configure(connection: Any) -> None:
    connection.execute(
        "SET synchronous_commit = on; SET lock_timeout = '10s'; SET statement_timeout = '1min'; "
        "SET idle_in_transaction_session_timeout = '1min'"
    )
    connection.commit()


class PostgresStore(Store):
    """A study's database on a PostgreSQL server; any number of processes may use it."""

    def __init__(self, url: str) -> None:
        self.url = _checked(url)
        self._leader: Any = None
        self._closed = False
        self.threads = ThreadPoolExecutor(6, "database")
        self._pool = ConnectionPool(
            url, min_size=1, max_size=6, timeout=PATIENCE, open=False, configure=_configure,
            check=ConnectionPool.check_connection, kwargs={"connect_timeout": 5},
        )  # fmt: skip
        try:
            with psycopg.connect(url, connect_timeout=5) as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
                # indexes that are there already would still be locked, and could block people who answer
                if connection.execute("SELECT to_regclass('study') IS NULL").fetchone() == (True,):
                    connection.execute(tables.TABLES.format(**tables.POSTGRES_WORDS))
                elif connection.execute("SELECT version FROM study").fetchone() == (tables.VERSION - 1,):
                    migration = tables.MIGRATION + tables.TABLES
                    connection.execute(migration.format(**tables.POSTGRES_WORDS))
        except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
            raise InputError(f"{without_password(url)}: {_sentence(error)}") from error
        self._pool.open()

    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``write``, for callers without an event loop."""
        pause = 0.02  # seconds, at most, before the second try
        while True:
            try:
                with _failures(), self._pool.connection() as connection, connection.cursor() as cursor:
                    return operation(_transaction(cursor), *arguments)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                if pause > 2:  # the eighth try
                    raise
                time.sleep(random.uniform(0, pause))  # or the same two would meet again
                pause *= 2

    def lead(self) -> bool:
        """Whether this process holds the lock of the one that computes the live view."""
        try:
            if self._leader is None or self._leader.closed:
                self._leader = psycopg.connect(self.url, autocommit=True, connect_timeout=5)
            row = self._leader.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = %s "
                "AND pid = pg_backend_pid()) OR pg_try_advisory_lock(%s)",
                (LEADING, LEADING),
            ).fetchone()
        except psycopg.OperationalError:
            self._leader = None
            return False
        return bool(row and row[0])

    def forget(self) -> None:
        """Rewrite the tables without what was deleted. The server's own logs and backups are its administrator's."""
        with _failures(), psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            connection.execute("SET lock_timeout = '5s'")  # nobody could start meanwhile
            for table in PERSONAL:
                connection.execute(f"VACUUM FULL {table}")

    def close(self) -> None:
        """Finish what is under way and let go of all connections."""
        if self._closed:
            return
        self._closed = True
        self.threads.shutdown()
        self._pool.close()
        if self._leader is not None:
            self._leader.close()


def read_server(url: str, operation: Operation[Result], *arguments: Any) -> Result:
    """Read from a database that other processes are serving."""
    _checked(url)
    with _failures(), psycopg.connect(url, connect_timeout=5) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        try:
            return operation(_transaction(cursor), *arguments)
        except psycopg.ProgrammingError as error:
            raise InputError(
                f"{without_password(url)}: cannot be read as the database of a study, {_sentence(error)}"
            ) from error


def _checked(url: str) -> str:
    """An address that PostgreSQL understands; what it says of others may hold parts of the password."""
    try:
        host = psycopg.conninfo.conninfo_to_dict(url).get("host")
    except psycopg.ProgrammingError:
        raise InputError(f"{without_password(url)}: is not an address of a PostgreSQL database") from None
    if "@" in str(host):
        raise InputError(f"{without_password(url)}: write an @ in a name or password as %40")
    return url


def _sentence(error: Exception) -> str:
    return without_password(" ".join(str(error).split())) or type(error).__name__


@contextmanager
def _failures() -> Iterator[None]:
    """A server that cannot be used right now is an ``UnreachableError`` with one sentence."""
    try:
        yield
    except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
        raise
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise UnreachableError(f"the database cannot be used right now: {_sentence(error)}") from error
