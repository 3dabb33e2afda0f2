"""How far objects lie from where their vectors put them, measured on objects that are left out of the answers.

An object a is left out, the model is fitted to the other answers, and its vector puts it at p. Its own answers were not used. If it lies
at p + e instead, answer i about it has the expected residual h_i u_i e, where u_i is the gradient of its margin (distance to far minus
distance to near) and h_i the slope of the probability in the margin. So for two different statements i and j, on axis l,

    E[r_i u_il r_j u_jl] = h_i h_j u_il^2 u_jl^2 Var(e_l),

because their noise is independent, and Var(e_l) is a ratio of two sums over pairs. It holds what the vector does not tell as well as the
uncertainty of what it tells. The fitted parts of the objects themselves are no measure of it: with few answers they are shrunk to zero.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from nearfar._tools.arrays import Floats
from nearfar.embedding.loop import Points
from nearfar.errors import NearfarWarning
from nearfar.triplets import Triplets

FOLDS = 5  # a fifth of the objects is left out at a time


def left_open(model: Any, answers: Triplets, weight: Floats | None = None) -> float:
    """Variance of a coordinate around the position by the vector, mean over the axes, in units of the map's mean squared coordinate.

    On no axis is it less than its standard error. 1, nothing is known, where answers do not tell.
    """
    weight = np.ones(len(answers)) if weight is None else weight
    fold = np.random.default_rng(0).permutation(answers.n_objects) % FOLDS
    found = [_held_out(model, answers, weight, (fold == k) & model.prior.known) for k in range(FOLDS)]
    rows, margin, slope, who = (np.concatenate(part) for part in zip(*found, strict=True))
    weight, n = weight[rows], answers.n_objects
    steep = steepness(margin, weight)
    missed = expit(-steep * margin)  # 1 - the probability of what was answered
    change = steep * missed * (1 - missed)
    _, pair = np.unique(who * (len(answers) + 1) + answers.statement_ids[rows], return_inverse=True)

    def pairs(values: Floats) -> Floats:
        """(n,) sums over ordered pairs of different statements about each object."""
        of_statement = np.bincount(pair, values)
        owner = np.zeros(len(of_statement), dtype=np.intp)
        owner[pair] = who
        return np.asarray(np.bincount(owner, of_statement, n) ** 2 - np.bincount(owner, of_statement**2, n))

    axes = []
    for along in slope.T:
        up, down = pairs(weight * missed * along), pairs(weight * change * along**2)
        if not down.sum() > 0:
            return 1.0
        value = up.sum() / down.sum()
        error = np.sqrt(np.sum((up - value * down) ** 2)) / down.sum()
        axes.append(max(value, error))
    return float(min(np.mean(axes), 1.0))


def _held_out(
    model: Any, answers: Triplets, weight: Floats, out: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Floats, Points, NDArray[np.intp]]:
    """Of answers that name one left-out object: rows, margins, gradients (m, d) in its position, and the object."""
    named = out[answers.array]
    train, rows = np.flatnonzero(~named.any(axis=1)), np.flatnonzero(named.sum(axis=1) == 1)
    if not len(train):
        rows = rows[:0]
    points = np.zeros_like(model.embedding_)
    if len(rows):
        again = replace(model, init=model.embedding_, n_init=1, tol=1e-3)
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            again.fit(answers[train], sample_weight=weight[train])
        points = np.where(out[:, None], again._points_of(again.prior.basis), again.embedding_)
        points = points / np.sqrt(np.mean(points[~out & again.informed_] ** 2))
    named, trios = named[rows], answers.array[rows]
    apart = points[trios[:, :1]] - points[trios[:, 1:]]  # from near and far to the anchor
    length = np.linalg.norm(apart, axis=2)
    to_near, to_far = np.moveaxis(apart / np.maximum(length, 1e-12)[..., None], 1, 0)
    slope = np.where(named[:, :1], to_far - to_near, np.where(named[:, 1:2], to_near, -to_far))
    return rows, length[:, 1] - length[:, 0], slope, trios[named].astype(np.intp)


def steepness(margin: Floats, weight: Floats | float = 1.0) -> float:
    """The likeliest slope of a logistic in the margins, between 0 and 100."""

    def gradient(slope: float) -> float:
        return float(np.sum(weight * margin * expit(-slope * margin)))

    if gradient(0.0) <= 0:
        return 0.0
    return float(brentq(gradient, 0.0, 100.0)) if gradient(100.0) < 0 else 100.0
