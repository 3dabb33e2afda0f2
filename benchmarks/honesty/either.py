"""One of the families of worlds: that of the geometry where one is named, else the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.honesty import worlds, worlds_fourth, worlds_held_out, worlds_third
from nearfar.triplets import Triplets

__all__ = ["Either", "make_either"]


class Either(NamedTuple):
    """A world, how many people its population has, and how a collection is asked in it, of anybody and of given people."""

    world: Any
    pool: int
    asked: Callable[..., Triplets]
    asked_of: Callable[..., Triplets]


def make_either(rng: np.random.Generator, *, n: int, noise: str, geometry: str = "", d: int = 2) -> Either:
    """``d`` : dimensions, in the first family; a geometry has its own."""
    if geometry in worlds_third.GEOMETRIES:
        third = worlds_third.make_third(rng, n=n, geometry=geometry, noise=noise)
        return Either(third, worlds_third.POOL, worlds_third.asked_third, worlds_third.asked_of_third)
    if geometry in worlds_fourth.GEOMETRIES:
        fourth = worlds_fourth.make_fourth(rng, n=n, geometry=geometry, noise=noise)
        return Either(fourth, worlds_fourth.POOL, worlds_fourth.asked_fourth, worlds_fourth.asked_of_fourth)
    if geometry:
        world = worlds_held_out.make_held_out(rng, n=n, geometry=geometry, noise=noise)
        return Either(
            world, worlds_held_out.POOL, worlds_held_out.asked_held_out, worlds_held_out.asked_of_held_out
        )
    return Either(worlds.make_world(rng, n=n, d=d, noise=noise), worlds.POOL, worlds.asked, worlds.asked_of)
