"""Text files of names."""

from __future__ import annotations

from pathlib import Path

from nearfar.errors import FileError

__all__ = ["read_lines"]


def read_lines(path: Path, what: str) -> list[str]:
    """The lines of a text file that are not blank, each one ``what``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        system = getattr(error, "strerror", None) or ""
        reason = system.lower() or "it is not UTF-8 text (save it again as UTF-8)"
        raise FileError(
            f"{path}: cannot be read, {reason}; expected a text file with one {what} per line",
        ) from error
    return [line.strip() for line in text.splitlines() if line.strip()]
