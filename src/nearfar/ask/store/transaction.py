"""What an operation sees of a database, and what callers see of a store: the same for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Operation", "Row", "Store", "Transaction"]

Row = tuple[Any, ...]
Result = TypeVar("Result")
Operation = Callable[..., Result]


@dataclass(frozen=True)
class Transaction:
    """A transaction that is under way; whoever runs the operation commits it.

    cursor : of the database. mark : how it writes a value in SQL; operations write ``?``. drawing : what lets nobody
    else draw or release questions until the transaction ends; nothing where there is one writer only.
    """

    cursor: Any
    mark: str = "?"
    drawing: str = ""

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Run one statement and fetch what it returns."""
        fetched: list[Row] = self.cursor.execute(sql.replace("?", self.mark), values).fetchall()
        return fetched

    def run(self, sql: str, *values: Any) -> None:
        """Run one statement."""
        self.cursor.execute(sql.replace("?", self.mark), values)

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self.cursor.executemany(sql.replace("?", self.mark), values)

    def lock_drawing(self) -> None:
        """Be the only one who draws or releases questions until the transaction ends."""
        if self.drawing:
            self.cursor.execute(self.drawing)


class Store(ABC):
    """A database. ``write`` returns only after the operation is on disk; ``threads`` run what would block."""

    url: str
    threads: ThreadPoolExecutor

    async def write(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation in a transaction and wait until it is committed."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, self.write_now, operation, *arguments)

    async def read(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, self.read_now, operation, *arguments)

    @abstractmethod
    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``write``, for callers without an event loop."""

    @abstractmethod
    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``read``, for callers without an event loop."""

    @abstractmethod
    def lead(self) -> bool:
        """Whether this process is the one that computes the live view."""

    @abstractmethod
    def forget(self) -> None:
        """Overwrite what was deleted, so that no trace of it stays in the files."""

    @abstractmethod
    def close(self) -> None:
        """Finish what is under way and let go of the database."""
