"""Tests of several models at once: the largest t statistic against what chance alone makes of the largest.

Models are judged on the same answers, so their accuracies hang together. The distribution of the largest
standardised deviation comes from a multivariate t with the covariance that was measured, clustered by people and
trios: nothing is fitted again, and the more models were tried, the more a lead must be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.evaluate.uncertainty import Covariance, Groups, covariance_of_means

__all__ = ["AboveGuessing", "EqualSet", "above_guessing", "equal_to_best", "not_beaten_by"]

DRAWS = 4000


@dataclass(frozen=True, eq=False)
class EqualSet:
    """The models that cannot be told apart from the best.

    Parameters
    ----------
    members : (k,) whether a model is one of them.
    behind : (k,) how far its accuracy lies below the best one.
    low, high : (k,) limits of that difference that hold for all models together; NaN where they are not known.
    level : with this probability the truly best model is in the set.
    """

    members: NDArray[np.bool_]
    behind: Floats
    low: Floats
    high: Floats
    level: float


def equal_to_best(
    credits: NDArray[Any], groups: Groups, *, folds: int = 1, level: float = 0.95, seed: int = 0
) -> EqualSet:
    """The model confidence set of Hansen, Lunde and Nason (2011), by the largest difference of two models.

    While the largest standardised difference within the set exceeds what chance makes of the largest, the model that
    is most behind is taken out. What is known about too few groups keeps every model in.

    Parameters
    ----------
    credits : (k, m) 1 where a model predicts an answer, 0 where not, 0.5 for a tie.
    groups : which answers hang together.
    folds : in how many folds they were held out, as for ``covariance_of_means``.
    level : of the set, 0.95: all of several equal models stay in it in 95 of 100 collections.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> good = rng.random((2, 2000)) < 0.8
    >>> poor = rng.random((1, 2000)) < 0.7
    >>> equal_to_best(np.concatenate([good, poor]), Groups(None, np.arange(2000))).members
    array([ True,  True, False])
    """
    found = covariance_of_means(credits, groups, folds)
    k = len(found.means)
    best = int(np.argmax(found.means))
    behind = found.means[best] - found.means
    if k == 1 or found.df <= 0 or not np.isfinite(found.matrix).all():
        unknown = np.full(k, np.nan)
        return EqualSet(np.ones(k, dtype=bool), behind, unknown, unknown, level)
    errors = _difference_errors(found.matrix)
    draws = _draws(found, seed)
    pairs = _standardised(draws[:, :, None] - draws[:, None, :], errors)
    t = _standardised(found.means[:, None] - found.means[None, :], errors)
    critical = _critical(np.abs(pairs), np.arange(k), level)
    low, high = behind - critical * errors[best], behind + critical * errors[best]
    left = np.arange(k)
    while len(left) > 1:
        among = t[np.ix_(left, left)]
        if among.max() <= _critical(np.abs(pairs), left, level):
            break
        left = np.delete(left, int(np.argmax(among.max(axis=0))))
    members = np.zeros(k, dtype=bool)
    members[left] = True
    return EqualSet(members, behind, low, high, level)


def not_beaten_by(
    credits: NDArray[Any],
    groups: Groups,
    *,
    by_more_than: float = 0.0,
    folds: int = 1,
    level: float = 0.95,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """(k,) whether no LATER row beats a row, by more than a margin, tested for all pairs at once.

    Rows are in order of complexity; the first that is not beaten is the simplest that will do.

    >>> rng = np.random.default_rng(0)
    >>> credits = np.stack([rng.random(2000) < p for p in (0.6, 0.8, 0.8)])
    >>> not_beaten_by(credits, Groups(None, np.arange(2000)))
    array([False,  True,  True])
    """
    found = covariance_of_means(credits, groups, folds)
    k = len(found.means)
    if k == 1 or found.df <= 0 or not np.isfinite(found.matrix).all():
        return np.ones(k, dtype=bool)
    errors = _difference_errors(found.matrix)
    later = np.triu(np.ones((k, k), dtype=bool), 1)  # [simple, complex]
    t = _standardised(found.means[None, :] - found.means[:, None] - by_more_than, errors)
    draws = _draws(found, seed)
    pairs = _standardised(draws[:, None, :] - draws[:, :, None], errors)
    critical = float(np.quantile(np.where(later, pairs, -np.inf).max(axis=(1, 2)), level))
    return np.asarray(~((t > critical) & later).any(axis=1))


# ---------------------------------------------------------------- above guessing


@dataclass(frozen=True)
class AboveGuessing:
    """Whether any of the models predicts more than guessing: ``p`` is corrected for how many there are."""

    p: float
    level: float = 0.05

    def __bool__(self) -> bool:
        return self.p <= self.level


def above_guessing(
    credits: NDArray[Any], groups: Groups, *, folds: int = 1, level: float = 0.05, seed: int = 0
) -> AboveGuessing:
    """Test whether the best of k models is above one half, by the largest t of all of them.

    Parameters
    ----------
    credits : (k, m) 1 where a model predicts an answer, 0 where not, 0.5 for a tie.
    groups : which answers hang together.
    folds : in how many folds they were held out, as for ``covariance_of_means``.

    Examples
    --------
    >>> coins = np.random.default_rng(0).random((8, 500)) < 0.5
    >>> bool(above_guessing(coins, Groups(None, np.arange(500)), folds=5))
    False
    """
    return AboveGuessing(_p_above_half(covariance_of_means(credits, groups, folds), seed), level)


def _p_above_half(found: Covariance, seed: int) -> float:
    errors = np.sqrt(np.maximum(found.matrix.diagonal(), 0.0))
    if found.df <= 0 or not np.isfinite(errors).all():
        return 1.0
    known = errors > 0
    if not known.any():
        return 1.0
    largest = ((found.means - 0.5) / np.where(known, errors, 1.0))[known].max()
    draws = _standardised(_draws(found, seed), errors)[:, known].max(axis=1)
    return float((1 + np.sum(draws >= largest)) / (1 + len(draws)))


# ---------------------------------------------------------------- shared


def _draws(found: Covariance, seed: int) -> Floats:
    """(DRAWS, k) deviations of the means, had other people and trios been drawn: a multivariate t."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(found.matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = rng.standard_normal((DRAWS, len(values))) @ root.T
    return np.asarray(normal * np.sqrt(found.df / rng.chisquare(found.df, size=DRAWS))[:, None])


def _difference_errors(matrix: Floats) -> Floats:
    variances = matrix.diagonal()
    return np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * matrix, 0.0))


def _standardised(values: Floats, errors: Floats) -> Floats:
    """``values / errors``; 0 where two models never differ."""
    never = errors <= 1e-12
    return np.where(never, 0.0, values / np.where(never, 1.0, errors))


def _critical(pairs: Floats, among: NDArray[np.intp], level: float) -> float:
    """What the largest difference within some of the models exceeds with probability 1 - level."""
    return float(np.quantile(pairs[:, among[:, None], among[None, :]].max(axis=(1, 2)), level))
