"""Where answers are kept: SQLite in one file, or PostgreSQL for several processes. Operations are written once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

from nearfar.ask.store.transaction import Operation
from nearfar.ask.store.transaction import Store as Store
from nearfar.ask.store.transaction import Transaction as Transaction

Result = TypeVar("Result")


def is_postgres(url: str) -> bool:
    """Whether a database is named by the address of a server, or by words such as host=... dbname=...

    >>> is_postgres("postgresql://host/study"), is_postgres("sslmode=require host=h"), is_postgres("study.db")
    (True, True, False)
    """
    words = r"^\s*\w+://|(^|\s)(host|hostaddr|port|dbname|user|password|service)\s*="
    return re.search(words, url, re.IGNORECASE) is not None


def open_store(url: str) -> Store:
    """Open, and make where needed, the database at a path or an address ``postgresql://...``."""
    if is_postgres(url):
        from nearfar.ask.store.postgres import PostgresStore

        return PostgresStore(url)
    from nearfar.ask.store.sqlite import SqliteStore

    return SqliteStore(url)


def read_store(url: str, operation: Operation[Result], *arguments: Any) -> Result:
    """Read from a database that another process may be serving."""
    if is_postgres(url):
        from nearfar.ask.store.postgres import read_server

        return read_server(url, operation, *arguments)
    from nearfar.ask.store.sqlite import read_file

    return read_file(Path(url), operation, *arguments)
