"""The data of the experiments, loaded once, through nearfar's own loaders."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from experiments._experiment import Absent
from nearfar import datasets
from nearfar.errors import UnreachableError

__all__ = ["Data", "default_folder"]

Loaded = TypeVar("Loaded")
BESIDE = Path(__file__).parents[1].parent / "shared" / "data"


def default_folder() -> Path | None:
    """Where data is looked for when nobody says: $NEARFAR_DATA, else the folder beside the repository."""
    if os.environ.get("NEARFAR_DATA") or not BESIDE.is_dir():
        return None  # nearfar.datasets looks at the variable itself, then at the user's cache
    return BESIDE


class Data:
    """Data sets on demand.

    Parameters
    ----------
    folder : as ``data_dir`` of ``nearfar.datasets.fetch_food``.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else default_folder()

    def _load(self, fetch: Callable[[Path | None], Loaded]) -> Loaded:
        try:
            return fetch(self.folder)
        except UnreachableError as error:
            raise Absent(str(error)) from error

    @cached_property
    def food(self) -> datasets.Dataset:
        """100 dishes."""
        return self._load(datasets.fetch_food)

    @cached_property
    def car(self) -> datasets.Dataset:
        """60 cars."""
        return self._load(datasets.fetch_car)

    @cached_property
    def nature(self) -> datasets.Dataset:
        """120 scenes."""
        return self._load(datasets.fetch_nature)

    @cached_property
    def musicians(self) -> datasets.Dataset:
        """412 artists."""
        return self._load(datasets.fetch_musicians)

    @cached_property
    def things(self) -> datasets.Dataset:
        """1,854 things."""
        return self._load(datasets.fetch_things)

    @cached_property
    def usps(self) -> datasets.Digits:
        """9,298 digits."""
        return self._load(datasets.fetch_usps)

    @cached_property
    def mnist(self) -> datasets.Digits:
        """70,000 digits."""
        return self._load(datasets.fetch_mnist)
