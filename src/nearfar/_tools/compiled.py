"""Compiled loops: numba's ``njit``, whose cache on disk may be absent, full or damaged.

numba keeps compiled code beside the source, else in the user's cache folder, else where ``NUMBA_CACHE_DIR`` says. Where
none of them can be written (a read-only install in a container, no home, a full disk) or a file of the cache is cut
short, numba itself ends in an error; here the loops are compiled again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from numba import njit
from numba.core.caching import FunctionCache

from nearfar.errors import NearfarWarning

Base: Any = FunctionCache  # untyped
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def compiled(**options: Any) -> Decorator:
    """A decorator that compiles a loop on its first call, releases the GIL in it, and keeps the code where it can.

    ``options`` are those of ``numba.njit``.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        made: Any = njit(nogil=True, **options)(function)
        # without a home numba would make a folder called ~ here
        has_home = os.environ.get("NUMBA_CACHE_DIR") or os.path.expanduser("~") != "~"
        try:
            if has_home or not _is_read_only(function):
                made._cache = _Cache(function)
            else:
                _warn("there is no home folder")
        except (RuntimeError, OSError):  # numba found no folder that it can write to
            _warn("no folder for them can be written")
        return cast("Callable[..., Any]", made)

    return decorate


class _Cache(Base):  # type: ignore[misc]
    """numba's cache of one function, whose faults cost time and nothing else."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code; None, so that it is made anew, where its files cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling half a file may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if that can be done."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn((error.strerror or str(error)).lower())
        except Exception:  # a damaged index that could not be written anew above
            _warn("a file of the cache is damaged")


def _is_read_only(function: Callable[..., Any]) -> bool:
    folder = os.path.join(os.path.dirname(function.__code__.co_filename), "__pycache__")
    return not os.access(folder if os.path.isdir(folder) else os.path.dirname(folder), os.W_OK)


_warned: list[str] = []


def _warn(reason: str) -> None:
    """Say once in a process why every run compiles again."""
    if not _warned:
        _warned.append(reason)
        warnings.warn(
            f"compiled loops cannot be kept on disk ({reason}), so that every run compiles them again and takes longer; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            NearfarWarning,
            stacklevel=3,
        )
