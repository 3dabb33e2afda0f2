"""Text of files on its way to a terminal: nothing in it may command the terminal.

A name in a file of answers may hold escape sequences that rename the window, paint over what was printed or worse.
"""

from __future__ import annotations

import re
import sys

LAYOUT = "\n\t\u00a0\u2009\u202f"  # lines, columns, and spaces at which a line does not break


def printable(text: str, *, keep: str = LAYOUT) -> str:
    r"""Text in which every character that is not for reading stands as its escape.

    >>> printable("red\x1b[31m", keep="")
    'red\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in keep else ascii(sign)[1:-1] for sign in text)


def without_password(text: str) -> str:
    """An address, or a sentence with one in it, that may be printed.

    >>> without_password("postgresql://ann:secret@host/study"), without_password("host=h password='a b' user=ann")
    ('postgresql://ann:...@host/study', 'host=h password=... user=ann')
    """
    text = re.sub(r"(?<=:/)(/?[^:/@\s]*):.*@", r"\1:...@", text)
    return re.sub(r"(pass\w*\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)", r"\1...", text, flags=re.IGNORECASE)


def write_out(data: bytes | str) -> None:
    """Write to standard output: as it is to a file or a pipe, harmless to a terminal."""
    out = sys.stdout
    if out.isatty() or not hasattr(out, "buffer"):
        text = data if isinstance(data, str) else data.decode(errors="backslashreplace")
        out.write(printable(text) if out.isatty() else text)
        return
    out.flush()  # what follows is UTF-8 anywhere
    out.buffer.write(data.encode(errors="backslashreplace") if isinstance(data, str) else data)
    out.buffer.flush()
