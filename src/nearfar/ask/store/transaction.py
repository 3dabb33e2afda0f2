"""What an operation sees of a database: SQL with ``?`` for values, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["Operation", "Row", "Store", "Transaction"]

Row = tuple[Any, ...]
Result = TypeVar("Result")
Operation = Callable[..., Result]


class Transaction(Protocol):
    """A transaction that is under way; whoever runs the operation commits it."""

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Run one statement and fetch what it returns."""

    def run(self, sql: str, *values: Any) -> None:
        """Run one statement."""

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""

    def lock_drawing(self) -> None:
        """Be the only one who draws or releases questions until the transaction ends."""


class Store(Protocol):
    """A database. ``write`` returns only after the operation is on disk."""

    url: str

    async def write(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation in a transaction and wait until it is committed."""

    async def read(self, operation: Operation[Result], *arguments: Any) -> Result:
        """Run an operation that changes nothing."""

    def write_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``write``, for callers without an event loop."""

    def read_now(self, operation: Operation[Result], *arguments: Any) -> Result:
        """The same as ``read``, for callers without an event loop."""

    def lead(self) -> bool:
        """Whether this process is the one that computes the live view."""

    def forget(self) -> None:
        """Overwrite what was deleted, so that no trace of it stays in the files."""

    def close(self) -> None:
        """Finish what is under way and let go of the database."""
