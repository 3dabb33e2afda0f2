"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nearfar.errors import FileError

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``target``: renamed to it on success, removed on failure or interrupt.

    The temporary name ends like the target's, so that writers which choose a format by extension still do.
    A device or pipe is written to directly.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "note.txt") as path:
    ...     _ = path.write_text("whole")
    >>> [file.name for file in folder.iterdir()]
    ['note.txt']
    """
    given = Path(target)
    final = given.resolve()  # through a link, so that the link stays one
    if final.is_dir():
        raise _cannot_write(given, "it is a directory", "give the name of a file")
    if not final.parent.is_dir():
        raise _cannot_write(given, f"there is no directory {str(given.parent)!r}", "make it first")
    if final.exists() and not final.is_file():
        yield final
        return
    temporary = final.with_name(f".{secrets.token_hex(4)}.tmp.{final.name}")
    try:
        yield temporary
        _keep_mode(final, temporary)
        os.replace(temporary, final)
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)) != temporary:
            raise
        raise _cannot_write(given, (error.strerror or str(error)).lower(), "choose another place") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _keep_mode(final: Path, temporary: Path) -> None:
    """A file that is replaced keeps its permissions."""
    with suppress(OSError):
        temporary.chmod(final.stat().st_mode & 0o777)


def _cannot_write(path: Path, reason: str, remedy: str) -> FileError:
    return FileError(
        f"{path}: cannot be written, {reason}; {remedy}",
    )
