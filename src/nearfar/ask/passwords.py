"""Secrets: the researcher's password, cookies and tokens, none of them stored in the clear."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
COST = {"n": 2**14, "r": 8, "p": 1, "dklen": 32}


def new_password() -> str:
    """A password of 16 letters in groups of four: about 79 bits."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


def new_secret() -> str:
    """256 random bits as text."""
    return secrets.token_urlsafe(32)


def hash_password(password: str) -> str:
    """``scrypt$salt$hash``."""
    salt = secrets.token_bytes(16)
    made = hashlib.scrypt(password.encode(), salt=salt, **COST)
    return f"scrypt${base64.b64encode(salt).decode()}${base64.b64encode(made).decode()}"


def is_password(password: str, stored: str) -> bool:
    """Whether a password is the one that was stored, compared in constant time.

    >>> is_password("secret", hash_password("secret")), is_password("Secret", hash_password("secret"))
    (True, False)
    """
    _, salt, expected = stored.split("$")
    made = hashlib.scrypt(password.encode(), salt=base64.b64decode(salt), **COST)
    return hmac.compare_digest(made, base64.b64decode(expected))


def new_link(secret: str) -> str:
    """The end of a link for one person: a random number, signed.

    >>> link = new_link("secret")
    >>> is_link("secret", link), is_link("another", link), is_link("secret", "0" + link[1:-1] + "0")
    (True, False, False)
    """
    number = secrets.token_hex(8)
    return number + _signature(secret, number)


def is_link(secret: str, link: str) -> bool:
    """Whether a link was made with this secret."""
    return hmac.compare_digest(_signature(secret, link[:16]), link[16:])


def _signature(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()[:32]


def hash_secret(secret: str) -> str:
    """What is stored of a cookie or a token; they are random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()
