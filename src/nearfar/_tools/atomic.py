"""Writing a file, or a folder, whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from nearfar.errors import FileError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what writing raises, without a name


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``target``: renamed to it on success, removed on failure or interrupt.

    It may become a file or a folder of files. What was written is on the disk before it gets its name, so that not even
    a power cut leaves half of it. The temporary name ends like the target's, so that writers which choose a format by
    extension still do. A device or pipe is written to directly.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "note.txt") as path:
    ...     _ = path.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['note.txt']
    """
    given, final = Path(target), check_target(target)
    direct = final.exists() and not final.is_file()
    temporary = final if direct else final.with_name(f".{secrets.token_hex(4)}.tmp.{final.name}")
    try:
        yield temporary
        if not direct:
            for path in (*temporary.rglob("*"), temporary):
                _sync(path)
            with suppress(OSError):  # a file that is replaced keeps its permissions
                temporary.chmod(final.stat().st_mode & 0o777)
            os.replace(temporary, final)
            _sync(final.parent)
    except Exception as error:
        file, number = getattr(error, "filename", None), _number(error)
        named = isinstance(file, (str, bytes, os.PathLike)) and Path(os.fsdecode(file)) == temporary
        if not named and (file is not None or number not in NO_ROOM):
            raise
        reason = os.strerror(number) if number else str(error)
        raise _cannot_write(given, reason.lower(), "choose another path") from error
    finally:
        if not direct:
            shutil.rmtree(temporary, ignore_errors=True)
            with suppress(OSError):
                temporary.unlink()


def check_target(target: str | os.PathLike[str]) -> Path:
    """Where a file will be written; an error where it cannot, to be had before the work."""
    given = Path(target)
    final = Path(os.path.realpath(given))  # through a link, so that the link stays one; a loop is replaced
    if final.is_dir():
        raise _cannot_write(given, "it is a directory", "give the name of a file")
    if not final.parent.is_dir():
        raise _cannot_write(given, f"there is no directory {str(given.parent)!r}", "make it first")
    return final


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{folder}: cannot be made, {reason}; name another folder") from error


def _number(error: Exception) -> int | None:
    """The number of a system's fault; polars has it in its words only, and may call it a fault of computing."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    number = re.search(r"\(os error (\d+)\)", str(error))
    return int(number[1]) if number and os.name != "nt" else None


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    folder = path.is_dir()
    # Windows opens no folders, and files not for reading alone; some network disks do not sync folders
    with suppress(OSError) if folder else nullcontext():
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_write(path: Path, reason: str, remedy: str) -> FileError:
    return FileError(f"{path}: cannot be written, {reason}; {remedy}")
