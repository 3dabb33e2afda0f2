"""How far objects lie apart on the maps of two groups, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.evaluate.alignment import align, along_axes
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.resamples import coordinates
from nearfar.space.models import Model
from nearfar.triplets import Triplets

__all__ = ["Move", "length_interval", "moves_between"]


class Move(NamedTuple):
    """How far an object lies apart on two maps, as a share of the common map's radius.

    distance : with what noise alone would add taken off; low, high: its 95 % interval.
    sure : whether it moves, at the 5 % level with all objects looked at together: it moves farther, in its own standard
        errors, than the largest error of any object in 95 of 100 resamples.
    """

    name: str
    distance: float
    low: float
    high: float
    sure: bool


def moves_between(
    answers: Triplets, group: NDArray[np.int64], model: Model, n_resamples: int, seed: int
) -> tuple[Floats, tuple[Move, ...]]:
    """(2, n, 2) maps of the groups, turned onto the map of everybody; and the moves, the farthest first.

    People are drawn again within each group, ``n_resamples`` times, for the variance of each move and for the largest error among all.
    """
    common = along_axes(coordinates(fit_timed(model, answers).space))
    maps = _maps(answers, group, model, common)
    rng = np.random.default_rng(seed)
    resampled = np.full((n_resamples, *common.shape), np.nan)
    for again in resampled:
        rows = _people_again(answers, group, rng)
        first, second = _maps(answers[rows], group[rows], model, common)
        again[:] = second - first
    apart = maps[1] - maps[0]
    variance = _variance(resampled)
    length = np.sqrt(np.sum(apart**2, axis=1))
    low, high = length_interval(length, variance, 0.05, n_resamples - 1)
    shrunk = np.sqrt(np.maximum(length**2 - 2 * variance, 0.0))
    size: Floats = np.asarray(length / np.sqrt(variance))
    sure = size > _most_by_chance(resampled - apart, variance)
    moves = [
        Move(
            answers.objects[i],
            float(shrunk[i]),
            float(low[i]),
            float(high[i]),
            bool(sure.item(i) and low[i] > 0),
        )
        for i in np.flatnonzero(np.isfinite(size)).tolist()
    ]
    return maps, tuple(sorted(moves, key=lambda move: (-move.low, -move.distance)))


def _variance(drawn: Floats) -> Floats:
    """(n,) variance of a coordinate of the moves (resamples, n, 2); NaN where fewer than two resamples know the object."""
    known: NDArray[np.bool_] = np.asarray(np.isfinite(drawn).all(axis=2))
    count = known.sum(axis=0)
    kept = np.where(known[..., None], drawn, 0.0)
    mean = kept.sum(axis=0) / np.maximum(count, 1)[:, None]
    squares = np.where(known[..., None], (drawn - mean) ** 2, 0.0).sum(axis=(0, 2)) / 2
    return np.where((count > 1) & (squares > 0), squares / np.maximum(count - 1, 1), np.nan)


def _most_by_chance(off: Floats, variance: Floats) -> float:
    """What the largest of all moves, in its own standard errors, stays below in 95 of 100 resamples.

    ``off`` : (resamples, n, 2) moves of the resamples less those of all answers.
    """
    sizes = np.sqrt(np.sum(off**2, axis=2) / variance)
    known = np.isfinite(sizes)
    if not known.any():
        return np.inf
    most = np.where(known, sizes, 0.0).max(axis=1)
    rank = int(np.ceil(0.95 * (len(most) + 1)))
    return float(np.sort(most)[rank - 1]) if rank <= len(most) else np.inf


def _maps(answers: Triplets, group: NDArray[np.int64], model: Model, common: Floats) -> Floats:
    return np.stack([align(coordinates(fit_timed(model, answers[group == g]).space), common) for g in (0, 1)])


def _people_again(answers: Triplets, group: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows of people drawn again, as many of each group as there are."""
    assert answers.participant is not None
    person = answers.participant.codes
    weight = np.zeros(len(answers.participant.names), dtype=np.int64)
    for g in (0, 1):
        people = np.unique(person[group == g])
        weight[people] += np.bincount(rng.integers(len(people), size=len(people)), minlength=len(people))
    return np.repeat(np.arange(len(answers)), weight[person])


def length_interval(length: Floats, variance: Floats, alpha: float, df: int) -> tuple[Floats, Floats]:
    """Interval for the length of a vector in the plane whose two coordinates are measured with this variance.

    ``length^2 / variance`` is chi-square with two degrees of freedom and the non-centrality (true length)^2 /
    variance, which is turned round. With few resamples the variance itself is not sure: then the interval is wider
    as Student's t is wider than the normal distribution.
    """
    from scipy.stats import ncx2, norm, t

    wider = float((t.ppf(1 - alpha / 2, max(df, 1)) / norm.ppf(1 - alpha / 2)) ** 2)
    spread = np.where(variance > 0, variance * wider, np.nan)
    x = length**2 / spread
    bounds = []
    for level in (
        1 - alpha / 2,
        alpha / 2,
    ):  # the largest centre that x is above of, and the smallest it is below of
        low, high = np.zeros_like(x), np.where(np.isfinite(x), (np.sqrt(np.nan_to_num(x)) + 40.0) ** 2, 0.0)
        for _ in range(60):
            middle = (low + high) / 2
            above = ncx2.cdf(x, 2, middle) > level
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        bounds.append(np.sqrt((low + high) / 2 * spread))
    lower = np.where(ncx2.cdf(x, 2, 1e-12) > 1 - alpha / 2, bounds[0], 0.0)
    return lower, bounds[1]
