"""Checks of what callers give, shared by all rooms: counts, what fixes random numbers, what is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError, MissingExtra

Seed = int | np.random.Generator | None


def brief(value: Any) -> str:
    """A value as a message shows it: one that is short as it is, a long one by its type.

    >>> brief("k3"), brief(np.eye(3))
    ("'k3'", 'a value of type ndarray')
    """
    text = repr(value)
    if len(text) <= 60 and "\n" not in text:
        return text
    return f"a value of type {type(value).__name__}"


def check_count(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """``value`` as an integer from ``least`` to ``most``.

    >>> check_count(3, "n_clusters")
    3
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < least or (most is not None and int(value) > most):
        wanted = f">= {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise InputError(f"{name} must be an integer {wanted}, got {brief(value)}")
    return int(value)


def need(module: str, package: str, extra: str) -> Any:
    """An optional module, or one sentence on how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra) from error


def check_choice(value: object, name: str, known: Sequence[str]) -> None:
    """An error unless ``value`` is one of the ``known`` words.

    >>> check_choice("single", "method", ("complete", "single"))
    """
    if value not in known:
        raise InputError(f"{name}={value!r} is not known; expected {', '.join(known)}")


def generator(seed: Any, name: str = "seed") -> np.random.Generator:
    """A Generator from None, an integer, a Generator, or one of NumPy's older RandomState.

    >>> generator(-1)
    Traceback (most recent call last):
    nearfar.errors.InputError: seed must be None, an integer >= 0 or a numpy Generator, got -1
    """
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(int(seed.randint(2**31 - 1)))
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        expected = "None, an integer >= 0 or a numpy Generator"
        raise InputError(f"{name} must be {expected}, got {brief(seed)}") from error


def seed_number(seed: Any) -> int:
    """One integer from a seed, for work that draws several times; a Generator moves on by it."""
    if isinstance(seed, Integral) and int(seed) >= 0:
        return int(seed)
    return int(generator(seed).integers(2**31))


def check_rows(values: ArrayLike, n: int, name: str, *, finite: bool = True) -> NDArray[Any]:
    """A 2-d array of numbers with one row per object and no NaN (nor infinity, where ``finite``)."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        array = array.astype(np.float64)
    if array.ndim != 2 or len(array) != n:
        got = f"got an array of shape {array.shape}"
        raise InputError(f"{name}: expected one row for each of the {n:,} objects, {got}")
    bad = (~np.isfinite(array) if finite else np.isnan(array)).any(axis=1)
    if bad.any():
        where, remedy = f"{name}, row {int(np.argmax(bad))}", "leave such objects out of the questions"
        raise InputError(f"{where}: a value is NaN or infinite; {remedy}")
    return array
