"""SQLite: one file, one process, one connection that writes, owned by one thread.

The thread takes whatever requests are waiting, commits them at once, and only then tells each that it is saved.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from polars.exceptions import PolarsError

from nearfar.ask.store.lock import lock_beside
from nearfar.ask.store.schema import INDEXES, SQLITE_WORDS, TABLES
from nearfar.ask.store.transaction import Operation, Store, Transaction
from nearfar.errors import FileError, NearfarError, UnreachableError

__all__ = ["SqliteStore", "read_file"]

AT_ONCE = 64  # requests in one commit
READERS = 2
DAMAGE = (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, PolarsError)  # of odd cells
PATIENCE = 10.0  # seconds to wait for another connection
Result = TypeVar("Result")
Job = tuple[Operation[Any], tuple[Any, ...], Future[Any]]


def read_only_connection(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, also while a server runs."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such database")
    address = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise FileError(f"{path}: cannot be read as a database, {error}") from error


class SqliteStore(Store):
    """A study's database in one file. A second process is refused."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.url = str(self.path)
        self._lock = lock_beside(self.path)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self.threads = ThreadPoolExecutor(READERS, "reader")
        self._opened: list[sqlite3.Connection] = []
        self._closed = False
        try:
            self._writer = self._open()
        except sqlite3.Error as error:
            os.close(self._lock)
            raise FileError(f"{self.path}: cannot be opened as a database, {error}") from error
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in (
                "journal_mode=WAL",
                "synchronous=FULL",
                "foreign_keys=ON",
                "secure_delete=ON",
                "temp_store=MEMORY",
            ):
                connection.execute(f"PRAGMA {pragma}")
            for statement in (TABLES + INDEXES).format(**SQLITE_WORDS).split(";"):
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        return connection

    # ------------------------------------------------------------ what callers use

    async def write(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation in a transaction and wait until it is committed."""
        return await asyncio.wrap_future(self._submit(operation, arguments))

    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same, for callers without an event loop."""
        return self._submit(operation, arguments).result()

    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing, beside the writer."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = read_only_connection(self.path)
            self._opened.append(connection)
        with _failures():
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
            tx.cursor.execute("VACUUM")
            tx.cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            tx.cursor.execute("BEGIN IMMEDIATE")
            tx.cursor.execute("SAVEPOINT operation")

        self.write_now(rewrite)

    def close(self) -> None:
        """Finish what is waiting, then let go of the file."""
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        self._thread.join()
        self.threads.shutdown()
        for connection in self._opened:
            connection.close()
        self._writer.close()
        os.close(self._lock)

    # ------------------------------------------------------------ the writer

    def _submit(self, operation: Operation[Result], arguments: tuple[Any, ...]) -> Future[Result]:
        done: Future[Result] = Future()
        if self._closed:
            done.set_exception(UnreachableError(f"{self.path}: the database is closed"))
        else:
            self._jobs.put((operation, arguments, done))
        return done

    def _work(self) -> None:
        going = True
        while going:
            batch = [self._jobs.get()]
            while len(batch) < AT_ONCE and not self._jobs.empty():
                batch.append(self._jobs.get())
            going = None not in batch
            jobs = [job for job in batch if job is not None and job[2].set_running_or_notify_cancel()]
            if jobs:
                self._commit(jobs)

    def _commit(self, jobs: list[Job]) -> None:
        """Run all jobs in one transaction; one that fails is undone alone, the others are committed."""
        finished: list[tuple[Job, Any]] = []
        try:
            with _failures():
                self._writer.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    try:
                        finished.append((job, self._run(job)))
                    except Exception as error:
                        if (
                            not self._writer.in_transaction
                        ):  # the whole transaction was undone, as on a full disk
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
            with _failures():
                result = operation(Transaction(self._writer), *arguments)
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK TO operation")
                self._writer.execute("RELEASE operation")
            raise
        self._writer.execute("RELEASE operation")
        return result


@contextmanager
def _failures() -> Iterator[None]:
    """A database that is locked, full or damaged is an ``UnreachableError`` with one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise UnreachableError(f"the database cannot be used right now: {error}") from error


def read_file(path: Path, operation: Operation[Result], *arguments: Any) -> Result:
    """Read from a database file that another process may be serving."""
    with closing(read_only_connection(path)) as connection:
        try:
            connection.execute("BEGIN")
            return operation(Transaction(connection), *arguments)
        except FileError:
            raise
        except (sqlite3.Error, NearfarError) as error:
            raise FileError(f"{path}: cannot be read as the database of a study, {error}") from error
        except DAMAGE as error:
            raise FileError(
                f"{path}: holds values that no study writes; it is damaged, use a copy of it"
            ) from error
