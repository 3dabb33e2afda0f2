"""How long a cluster is waited for, before it is an error."""

from __future__ import annotations

import math
import os

from nearfar.errors import InputError

__all__ = ["reply_limit", "worker_limit"]


def reply_limit(*, working: bool = True) -> float:
    """Seconds that a scheduler has to reply: ``NEARFAR_DASK_REPLY_TIMEOUT``, else 30, or 10 when it is first met.

    >>> reply_limit(), reply_limit(working=False)
    (30.0, 10.0)
    """
    return _seconds("NEARFAR_DASK_REPLY_TIMEOUT", 30.0 if working else 10.0)


def worker_limit(*, working: bool = True) -> float:
    """Seconds without a sign of life of any worker: ``NEARFAR_DASK_WORKER_TIMEOUT``, else 60, or 10 at the start.

    >>> worker_limit(), worker_limit(working=False)
    (60.0, 10.0)
    """
    return _seconds("NEARFAR_DASK_WORKER_TIMEOUT", 60.0 if working else 10.0)


def _seconds(variable: str, default: float) -> float:
    given = os.environ.get(variable, "").strip()
    try:
        seconds = float(given or default)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{variable} must be a number of seconds > 0, got {given!r}")
    return seconds
