"""Checks of what callers give, shared by all rooms: counts, and what fixes random numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from nearfar.errors import InputError

__all__ = ["check_count", "generator", "seed_number"]


def check_count(value: Any, name: str, *, least: int = 1) -> int:
    """``value`` as an integer that is at least ``least``.

    >>> check_count(3, "n_clusters")
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def generator(random_state: Any) -> np.random.Generator:
    """A Generator from None, an integer, a Generator, or one of NumPy's older RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    return np.random.default_rng(random_state)


def seed_number(seed: Any) -> int:
    """One integer from a seed, for work that draws several times; a Generator moves on by it."""
    if isinstance(seed, Integral):
        return int(seed)
    return int(generator(seed).integers(2**31))
