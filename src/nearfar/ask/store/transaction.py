"""The tables, what an operation sees of them, and what callers see of a store: the same for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeVar

from nearfar.errors import UnreachableError

Row = tuple[Any, ...]
Result = TypeVar("Result")
Operation = Callable[..., Result]

VERSION = 3
# a.id: is answered
SLOTS = "slot s LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place"


def tables(**types: str) -> tuple[str, str]:
    """(SQL that makes the tables, SQL that converts those of the version before), with a database's own types."""
    folder = resources.files("nearfar.ask.store")
    read = [(folder / name).read_text(encoding="utf-8") for name in ("migration.sql", "tables.sql")]
    migration, made = (text.format(version=VERSION, **types) for text in read)
    return made, migration + made


@contextmanager
def usable(failures: Any, sentence: Callable[[Exception], object] = lambda error: error) -> Iterator[None]:
    """Turn an error of the database into an ``UnreachableError`` of one sentence."""
    try:
        yield
    except failures as error:
        raise UnreachableError(f"the database cannot be used right now: {sentence(error)}") from error


@dataclass(frozen=True)
class Transaction:
    """A transaction that is under way; whoever runs the operation commits it.

    cursor : of the database. mark : how it writes a value in SQL; operations write ``?``. drawing : what lets nobody
    else draw or release questions until the transaction ends; nothing where there is one writer only.
    """

    cursor: Any
    mark: str = "?"
    drawing: str = ""

    def run(self, sql: str, *values: Any) -> Any:
        """Run one statement; the cursor."""
        return self.cursor.execute(sql.replace("?", self.mark), values)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Run one statement and fetch what it returns."""
        fetched: list[Row] = self.run(sql, *values).fetchall()
        return fetched

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self.cursor.executemany(sql.replace("?", self.mark), values)

    def insert(self, table: str, **values: Any) -> bool:
        """Insert a row; False where one with its key is there already."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        return bool(self.run(sql, *values.values()).rowcount > 0)

    def lock_drawing(self) -> None:
        """Be the only one who draws or releases questions until the transaction ends."""
        if self.drawing:
            self.cursor.execute(self.drawing)


class Store(ABC):
    """A database. ``write`` returns only after the operation is on disk; ``threads`` run what would block."""

    url: str
    threads: ThreadPoolExecutor
    _closed = False

    async def write(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation in a transaction and wait until it is committed."""
        return await asyncio.wrap_future(self.submit(operation, arguments))

    async def read(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing."""
        return await asyncio.wrap_future(self.threads.submit(self.read_now, operation, *arguments))

    @abstractmethod
    def submit(self, operation: Operation[Result], arguments: tuple[Any, ...]) -> Future[Result]:
        """Start an operation that writes; the future has its result once that is committed."""

    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``write``, for callers without an event loop."""
        return self.submit(operation, arguments).result()

    @abstractmethod
    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``read``, for callers without an event loop."""

    @abstractmethod
    def lead(self) -> bool:
        """Whether this process is the one that computes the live view."""

    @abstractmethod
    def forget(self) -> None:
        """Overwrite what was deleted, so that no trace of it stays in the files."""

    def close(self) -> None:
        """Finish what is under way and let go of the database; a second time does nothing."""
        if not self._closed:
            self._closed = True
            self._let_go()

    @abstractmethod
    def _let_go(self) -> None:
        """Finish and let go, once."""
