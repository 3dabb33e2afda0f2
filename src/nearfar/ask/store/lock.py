"""A lock beside a database file, so that two processes never write to it."""

from __future__ import annotations

import os
from pathlib import Path

from nearfar.errors import FileError

__all__ = ["FileLock"]


class FileLock:
    """Held from creation until ``release``, or until the process ends in whatever way."""

    def __init__(self, database: Path) -> None:
        path = Path(f"{database}-lock")
        try:
            self._handle: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise FileError(f"{database}: cannot be written, {reason}; use another folder") from error
        try:
            _lock(self._handle)
        except OSError as error:
            os.close(self._handle)
            raise FileError(
                f"{database}: another process is serving this study; stop it first, or use PostgreSQL for several"
            ) from error

    def release(self) -> None:
        """Let others in."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
