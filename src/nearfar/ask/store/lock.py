"""A lock beside a database file, so that two processes never write to it."""

from __future__ import annotations

import os
from pathlib import Path

from nearfar.errors import FileError

__all__ = ["lock_beside"]


def lock_beside(database: Path) -> int:
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
        raise FileError(
            f"{database}: another process is serving this study; stop it first, or use PostgreSQL for several"
        ) from error
    return handle
