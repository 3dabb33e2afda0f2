"""How long a cluster is waited for, before it is an error."""

from __future__ import annotations

import math
import os

from nearfar.errors import InputError

__all__ = ["CONNECT", "NO_WORKER", "REPLY", "WORKER", "limit"]

VARIABLE = "NEARFAR_DASK_TIMEOUT"
CONNECT = 10.0  # seconds for a scheduler to accept a connection
WORKER = 10.0  # seconds for a scheduler that was just connected to have a worker
REPLY = 30.0  # seconds for a scheduler to reply while work is under way
NO_WORKER = 60.0  # seconds that work waits without a sign of life of any worker


def limit(default: float) -> float:
    """Seconds to wait: the environment variable ``NEARFAR_DASK_TIMEOUT``, for all waits alike, else ``default``.

    >>> limit(REPLY)
    30.0
    """
    given = os.environ.get(VARIABLE, "").strip()
    try:
        seconds = float(given or default)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{VARIABLE} must be a number of seconds > 0, got {given!r}")
    return seconds
