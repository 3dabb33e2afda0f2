"""Numbers and names as people read them, and text files of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from nearfar.errors import FileError

KINDS = ("avif", "bmp", "gif", "jfif", "jpeg", "jpg", "png", "ppm", "svg", "tif", "tiff", "webp")
PICTURES = tuple(f".{kind}" for kind in KINDS)
MINUS, HARD_SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"


def number(value: float) -> str:
    """A whole number with commas.

    >>> number(250320)
    '250,320'
    """
    return f"{round(value):,}"


def percent(value: float, digits: int = 1) -> str:
    """A share in percent, with a space that does not break.

    >>> percent(0.8034).split(), percent(0.5, 0).split()
    (['80.3', '%'], ['50', '%'])
    """
    return f"{100 * value:.{digits}f}{HARD_SPACE}%"


def points(value: float) -> str:
    """A difference of shares in percentage points, with its sign.

    >>> points(0.0123), points(-0.002)
    ('+1.2', '−0.2')
    """
    text = f"{100 * value:+.1f}"
    return text.replace("-", MINUS) if text != "-0.0" else "+0.0"


def plural(size: int, one: str, many: str = "") -> str:
    """The word that goes with a number.

    >>> plural(1, "object"), plural(2, "object"), plural(2, "this", "these")
    ('object', 'objects', 'these')
    """
    return one if size == 1 else many or f"{one}s"


def count(size: int, one: str, many: str = "") -> str:
    """A number and its word.

    >>> count(1200, "answer")
    '1,200 answers'
    """
    return f"{number(size)} {plural(size, one, many)}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a row, the rest as a number.

    >>> listed(["a"]), listed(["a", "b"]), listed(list("abcd"), most=2)
    ('a', 'a and b', 'a, b and 2 others')
    """
    if len(names) <= 1:
        return "".join(names)
    if len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    rest = len(names) - most
    return f"{', '.join(names[:most])} and {rest} {plural(rest, 'other')}"


def display_names(names: Sequence[str]) -> list[str]:
    """Names as people read them: of a picture's path the file's name alone, where that distinguishes the objects.

    >>> display_names(["images/apple.jpg", "images/pear.jpg", "plum"])
    ['apple', 'pear', 'plum']
    >>> display_names(["a/1.png", "b/1.png"])
    ['a/1.png', 'b/1.png']
    """
    short = [
        PurePosixPath(name).stem if PurePosixPath(name).suffix.lower() in PICTURES else name for name in names
    ]
    seen = Counter(short)
    return [each if seen[each] == 1 else name for each, name in zip(short, names, strict=True)]


def read_lines(path: Path, what: str) -> list[str]:
    """The lines of a text file that are not blank, each one ``what``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        system = getattr(error, "strerror", None) or "it is not UTF-8 text (save it again as UTF-8)"
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else system
        expected = f"expected a text file with one {what} per line"
        raise FileError(f"{path}: cannot be read, {reason}; {expected}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
