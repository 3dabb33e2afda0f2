"""Names for participants that give nobody away and stay the same: from a secret key and the person's own name."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from nearfar._tools.atomic import atomic_path
from nearfar.errors import FileError

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are read as others
SHORT, LONG = 4, 10


def pseudonyms(names: Iterable[str], key: str) -> dict[str, str]:
    """Participant -> pseudonym: the same for a name and a key, whoever else is there.

    Two people whose short pseudonyms are the same get long ones.

    >>> pseudonyms(["ann", "bob"], "a key")
    {'ann': 'P-H8HE', 'bob': 'P-GBR7'}
    """
    listed = list(dict.fromkeys(names))
    short = {name: _code(name, key, SHORT) for name in listed}
    seen = Counter(short.values())
    return {name: code if seen[code] == 1 else _code(name, key, LONG) for name, code in short.items()}


def real_names(listed: Sequence[str], participants: Sequence[str], key: str | None) -> list[str]:
    """Names of participants from a list of names and of pseudonyms; what is neither stays as it is."""
    known = set(participants)
    behind = {code: name for name, code in pseudonyms(participants, key).items()} if key is not None else {}
    return [name if name in known else behind.get(name, name) for name in listed]


def _code(name: str, key: str, length: int) -> str:
    digest = hmac.new(key.encode(), name.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    number = int.from_bytes(digest, "big")
    return "P-" + "".join(LETTERS[(number >> (5 * digit)) & 31] for digit in range(length))


def key_beside(page: str | os.PathLike[str]) -> str:
    """The key beside a report (``report.html`` -> ``report.key``), or a new one for ``keep_key``.

    >>> len(key_beside("no-such-report.html"))  # there is none, so a new one
    32
    """
    path = Path(page).with_suffix(".key")
    return read_key(path) if path.exists() else secrets.token_hex(16)


def keep_key(page: str | os.PathLike[str], key: str) -> None:
    """Write the key beside a report, for its owner's eyes only, unless there is one."""
    path = Path(page).with_suffix(".key")
    if path.exists():
        return
    with atomic_path(path) as temporary:
        temporary.write_text(f"{key}\n", encoding="utf-8")
        temporary.chmod(0o600)


def read_key(path: str | os.PathLike[str]) -> str:
    """The key in a file."""
    expected = "expected the key of pseudonyms, one line of text"
    try:
        key = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not text").lower()
        raise FileError(f"{path}: cannot be read, {reason}; {expected}") from error
    if not key:
        raise FileError(f"{path}: is empty; {expected}")
    return key
