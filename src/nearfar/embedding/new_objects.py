"""New objects among fitted ones: their points move, all others stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar.embedding.loop import Merged, Points, merge
from nearfar.triplets import Triplets, mentioned, positions


def match(
    answers: Triplets, objects: tuple[str, ...], fitted: Points, informed: NDArray[np.bool_]
) -> tuple[Merged, Points, NDArray[np.intp], NDArray[np.intp]]:
    """Match objects by name and keep the answers that can place a new one.

    Returns these answers, merged; (n, d) fitted points of known objects, a first guess for those to be placed, zero
    for the rest; the indices of the new objects that the answers concern; those of the other new ones.

    An answer about fitted objects alone has nothing to move; one that names a fitted object which itself never got
    an answer says nothing about where the new one is.
    """
    known = positions(answers.objects, objects)
    points = np.zeros((answers.n_objects, fitted.shape[1]))
    points[known >= 0] = fitted[known[known >= 0]]
    new = known < 0
    blank = ~new & ~informed[known]
    answers = answers[new[answers.array].any(axis=1) & ~blank[answers.array].any(axis=1)]
    named = mentioned(answers)
    data = merge(answers)
    _guess(data, new, points)
    return data, points, np.flatnonzero(new & named), np.flatnonzero(new & ~named)


def _guess(data: Merged, new: NDArray[np.bool_], points: Points) -> None:
    """In and out: the points of new objects become the mean of the fitted objects they were said to be near to."""
    total = np.zeros(len(points))
    sums = np.zeros_like(points)
    for one, other in ((data.anchor, data.near), (data.near, data.anchor)):
        rows = new[one] & ~new[other]
        weight = data.weight[rows]
        total += np.bincount(one[rows], weight, len(points))
        for c in range(points.shape[1]):
            sums[:, c] += np.bincount(one[rows], weight * points[other[rows], c], len(points))
    hinted = new & (total > 0)
    points[hinted] = sums[hinted] / total[hinted, None]
