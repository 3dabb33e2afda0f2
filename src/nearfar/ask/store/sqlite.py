"""SQLite: one file, one process, one connection that writes, owned by one thread.

The thread takes whatever requests are waiting, commits them at once, and only then tells each that it is saved.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from polars.exceptions import PolarsError

from nearfar._tools.atomic import atomic_path
from nearfar.ask.store.transaction import VERSION, Operation, Store, Transaction, tables, usable
from nearfar.errors import FileError, NearfarError, UnreachableError

AT_ONCE = 64  # requests in one commit
DAMAGE = (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, PolarsError)  # of odd cells
PATIENCE = 10.0  # seconds to wait for another connection
MOVE_EVERY = 1.0  # seconds until answers are moved from the log into the file, for whoever copies it
PRAGMAS = """PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;
PRAGMA temp_store=MEMORY;"""
TABLES, MIGRATION = tables(key="INTEGER PRIMARY KEY", real="REAL", bytes="BLOB", whole="INTEGER")
Result = TypeVar("Result")
MAX_VALUE_BYTES = 1 << 24
NOT_TABLES = """SELECT (SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR (type = 'table' AND rootpage = 0))
+ (SELECT count(*) FROM sqlite_master t JOIN pragma_table_xinfo(t.name) WHERE t.type = 'table' AND hidden > 0)"""
Job = tuple[Operation[Any], tuple[Any, ...], Future[Any]]


def _connect(address: str | Path, **more: Any) -> sqlite3.Connection:
    """A connection that waits for another, and leaves transactions to us."""
    options = {"timeout": PATIENCE, "isolation_level": None, "check_same_thread": False, **more}
    made: sqlite3.Connection = sqlite3.connect(address, **options)
    return made


def read_only_connection(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, also while a server runs."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such database; it is made when the study is first served")
    try:
        return _connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise FileError(f"{path}: cannot be read as a database, {error}") from error


def is_older(connection: sqlite3.Connection) -> bool:
    """Whether a database has the tables of the version before."""
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'study'"
    row = connection.execute(there).fetchone() and connection.execute("SELECT version FROM study").fetchone()
    return row is not None and row[0] == VERSION - 1


def migrate(connection: sqlite3.Connection) -> None:
    """Bring tables of the version before to this one, wholly or not at all."""
    connection.executescript(f"BEGIN IMMEDIATE; {MIGRATION} COMMIT;")


def kept_copy(path: Path) -> Path:
    """Where the tables of the version before are kept."""
    return Path(f"{path}.v{VERSION - 1}")


def copy_database(connection: sqlite3.Connection, target: Path) -> None:
    """Copy a database as it is at one moment, for its owner's eyes; the file appears whole or not at all."""
    with atomic_path(target) as temporary:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(temporary)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # nothing beside the file


class SqliteStore(Store):
    """A study's database in one file. A second process is refused."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.url = str(self.path)
        self._lock = _lock_beside(self.path)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self.threads = ThreadPoolExecutor(2, "reader")
        self._opened: list[sqlite3.Connection] = []
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # for its owner's eyes
            self._writer = self._open()
            self._status = os.stat(self.path)
        except (sqlite3.Error, OSError) as error:
            os.close(self._lock)
            raise FileError(f"{self.path}: cannot be opened as a database, {error}") from error
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def _open(self) -> sqlite3.Connection:
        connection = _connect(self.path)
        try:
            if is_older(connection):
                copy_database(connection, kept_copy(self.path))
                migrate(connection)
            connection.executescript(PRAGMAS + TABLES)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_same_file(self) -> bool:
        """Whether the path still leads to the file that was opened."""
        with suppress(OSError):
            return os.path.samestat(self._status, os.stat(self.path))
        return False

    # ------------------------------------------------------------ what callers use

    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing, beside the writer."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = read_only_connection(self.path)
            self._opened.append(connection)
        with usable(sqlite3.DatabaseError):
            connection.execute("BEGIN")
            try:
                return operation(Transaction(connection), *arguments)
            finally:
                connection.execute("ROLLBACK")

    def lead(self) -> bool:
        """There is no other process."""
        return True

    def forget(self) -> None:
        """Rewrite the file without what was deleted, and empty the write-ahead log."""

        def rewrite(tx: Transaction) -> None:
            tx.cursor.execute("COMMIT")
            try:
                tx.cursor.execute("VACUUM")
                busy = tx.cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                tx.cursor.execute("BEGIN IMMEDIATE")
                tx.cursor.execute("SAVEPOINT operation")
            if busy:
                raise UnreachableError(f"another program reads {self.path}, so that its log stays as it is")

        self.write_now(rewrite)

    def _let_go(self) -> None:
        self._jobs.put(None)  # what is waiting is finished before
        self._thread.join()
        self.threads.shutdown()
        for connection in self._opened:
            connection.close()
        self._writer.close()
        os.close(self._lock)

    # ------------------------------------------------------------ the writer

    def submit(self, operation: Operation[Result], arguments: tuple[Any, ...]) -> Future[Result]:
        """Queue an operation for the writer's thread."""
        done: Future[Result] = Future()
        if self._closed:
            done.set_exception(UnreachableError(f"{self.path}: the database is closed"))
        else:
            self._jobs.put((operation, arguments, done))
        return done

    def _work(self) -> None:
        going, written, moved = True, False, time.monotonic()
        while going:
            batch: list[Job | None] = []
            with suppress(queue.Empty):
                batch.append(self._jobs.get(timeout=MOVE_EVERY if written else None))
            while 0 < len(batch) < AT_ONCE and not self._jobs.empty():
                batch.append(self._jobs.get())
            going = None not in batch
            jobs = [job for job in batch if job is not None and job[2].set_running_or_notify_cancel()]
            if jobs:
                self._commit(jobs)
                written = True
            if written and time.monotonic() - moved > MOVE_EVERY:
                with suppress(sqlite3.Error):
                    self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
                written, moved = False, time.monotonic()

    def _commit(self, jobs: list[Job]) -> None:
        """Run all jobs in one transaction; one that fails is undone alone, the others are committed."""
        finished: list[tuple[Job, Any]] = []
        try:
            if not self._is_same_file():
                raise UnreachableError(f"{self.path} was deleted or replaced; stop the server, put it back")
            with usable(sqlite3.DatabaseError):
                self._writer.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    try:
                        finished.append((job, self._run(job)))
                    except Exception as error:
                        if not self._writer.in_transaction:  # all was undone, as on a full disk
                            raise
                        job[2].set_exception(error)
                self._writer.execute("COMMIT")
        except BaseException as error:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            for job in jobs:
                if not job[2].done():
                    job[2].set_exception(error)
            return
        for job, result in finished:
            job[2].set_result(result)

    def _run(self, job: Job) -> Any:
        operation, arguments, _ = job
        self._writer.execute("SAVEPOINT operation")
        try:
            with usable(sqlite3.DatabaseError):
                return operation(Transaction(self._writer), *arguments)
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK TO operation")
            raise
        finally:
            if self._writer.in_transaction:
                self._writer.execute("RELEASE operation")


def read_file(path: Path, operation: Operation[Result], *arguments: Any) -> Result:
    """Read from a database file that another process may be serving."""
    with closing(read_only_connection(path)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.set_progress_handler(lambda: 0, 100_000)  # so that Ctrl-C is heard
        try:
            connection.execute("BEGIN")
            if connection.execute(NOT_TABLES).fetchone()[0]:
                what = "holds views, triggers or computed columns, which no study has"
                raise FileError(f"{path}: {what}; use a copy of it")
            if is_older(connection):
                with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
                    connection.backup(copy)
                    migrate(copy)
                    return operation(Transaction(copy), *arguments)
            return operation(Transaction(connection), *arguments)
        except FileError:
            raise
        except (sqlite3.Error, NearfarError) as error:
            hint = "; if it was copied while the study ran, its log was left behind: use nearfar ask backup"
            lost = hint if "no such table" in str(error) or "malformed" in str(error) else ""
            raise FileError(f"{path}: cannot be read as the database of a study, {error}{lost}") from error
        except DAMAGE as error:
            what = "holds values that no study writes"
            raise FileError(f"{path}: {what}; it is damaged, use a copy of it") from error


def _lock_beside(database: Path) -> int:
    """Lock a database until the file that is returned is closed, or until the process ends in whatever way."""
    try:
        handle = os.open(f"{database}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{database}: cannot be written, {reason}; use another folder") from error
    try:
        if os.name == "nt":  # pragma: no cover
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        remedy = "stop it first, or use PostgreSQL for several"
        raise FileError(f"{database}: another process is serving this study; {remedy}") from error
    return handle
