"""GNMDS, CKL and t-STE as in the Matlab programs behind most published figures: the losses of the library, another search.

The programs came with van der Maaten and Weinberger's paper of 2012. They start near the origin and know no pull to the centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar import embedding
from nearfar.embedding.loop import Loop, Points
from nearfar.embedding.optimise import Optimum

__all__ = ["CKL", "GNMDS", "TSTE", "descend"]

PATIENCE = 5  # failures in a row
TOLERANCE = 1e-7


def descend(
    loop: Loop, start: Points, free: NDArray[np.intp], *, rate: float, least_steps: int = 0, max_iter: int, tol: float = TOLERANCE
) -> Optimum:  # fmt: skip
    """Minimise the sum of losses over the rows ``free`` of the points.

    1. Move all points against the gradient, by a step of ``rate * n / m`` for n objects and m answers.
    2. If the loss fell by more than ``tol`` since the step before, multiply the rate by 1.01, else halve it.
       A step that made things worse is not taken back.
    3. Stop after five such failures in a row, or after ``max_iter`` steps; return the best points seen.

    ``rate`` is the first one; ``least_steps`` are made however many of them fail. Both are published for each loss.
    From points near the origin, where few objects (landmarks) are in most answers, it may never leave its start.
    """
    points = start.copy()
    best, lowest = points.copy(), np.inf
    before, improvement, failures, steps = np.inf, 0.0, 0, 0
    scale = len(free) / float(loop.data.weight.sum())
    while steps < max_iter and (failures < PATIENCE or steps < least_steps):
        value, gradient = loop(points)
        if not np.isfinite(value) or not np.isfinite(gradient).all():
            failures = PATIENCE  # no later step could be finite again
            break
        if value < lowest:
            best, lowest = points.copy(), value
        points[free] -= rate * scale * gradient[free]
        if before - value > tol:
            failures, rate = 0, rate * 1.01
            improvement = (before - value) / max(abs(value), 1.0) if np.isfinite(before) else 0.0
        else:
            failures, rate = failures + 1, rate / 2
        before = value
        steps += 1
    return Optimum(best, float(lowest), steps, failures >= PATIENCE, improvement, tol)


class _Descending(embedding.Embedding):
    """Start and search of the programs, in front of a loss of the library."""

    rate = 1.0
    least_steps = 0

    def _starts(self, loop: Loop, informed: NDArray[np.intp], pull: Any) -> Iterator[Points]:
        rng = np.random.default_rng(self.random_state)
        yield 1e-4 * rng.normal(size=(loop.data.n_objects, self.n_components))

    def _optimise(
        self, loop: Loop, start: Points, free: NDArray[np.intp], pull: Any, prior: Any = None
    ) -> Optimum:
        if pull is not None:
            raise ValueError("the programs know no pull: set regularization=0")
        return descend(
            loop, start, free, rate=self.rate, least_steps=self.least_steps, max_iter=self.max_iter
        )


class GNMDS(_Descending, embedding.GNMDS):
    least_steps = 50


class CKL(_Descending, embedding.CKL):
    rate = 1e-5


class TSTE(_Descending, embedding.TSTE):
    rate = 2.0
