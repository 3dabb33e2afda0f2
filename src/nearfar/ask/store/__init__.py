"""Where answers are kept: SQLite in one file, or PostgreSQL for several processes. Operations are written once."""

from __future__ import annotations

from nearfar.ask.store.transaction import Store, Transaction

__all__ = ["Store", "Transaction", "is_postgres", "open_store"]


def is_postgres(url: str) -> bool:
    """Whether a database is named by the address of a PostgreSQL server."""
    return url.startswith(("postgresql://", "postgres://"))


def open_store(url: str) -> Store:
    """Open, and make where needed, the database at a path or an address ``postgresql://...``."""
    if is_postgres(url):
        from nearfar.ask.store.postgres import PostgresStore

        return PostgresStore(url)
    from nearfar.ask.store.sqlite import SqliteStore

    return SqliteStore(url)
